"""The web server against slow, large and malformed requests, as a real process."""

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress

import psutil
import pytest

from marketplace.api.wire import CONTENT_TYPE, MOST_BYTES
from tests.processes import ROOT, wait_for
from tests.web.server.running_server import (
    BEGINNINGS,
    COMMAND,
    FORWARDED,
    HOST,
    Served,
    dripping,
    everything,
    served,
    site_environment,
    status,
)

pytestmark = pytest.mark.slow

BIG = 24 * 1024 * 1024
POST = f"POST /accounts/login/ HTTP/1.1\r\n{FORWARDED}"
# Two places might see the end of these requests in different places, or they are no HTTP.
MALFORMED = {
    "two lengths": POST + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab",
    "two equal lengths": POST + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nab",
    "length and chunks": POST + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks twice": POST
    + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "length with a sign": POST + "Content-Length: +2\r\n\r\nab",
    "negative length": POST + "Content-Length: -1\r\n\r\nab",
    "length in words": POST + "Content-Length: two\r\n\r\nab",
    "chunk of no number": POST + "Transfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n0\r\n\r\n",
    "chunk without end": POST + "Transfer-Encoding: chunked\r\n\r\n2\r\nabcd0\r\n\r\n",
    "chunks in HTTP/1.0": (POST + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").replace(
        "1.1", "1.0"
    ),
    "space before the colon": POST + "Content-Length : 2\r\n\r\nab",
    "bare line feed": POST + "X-A: 1\nContent-Length: 2\r\n\r\nab",
    "two hosts": POST.replace("Host:", "Host: evil.example.org\r\nHost:") + "\r\n",
    "no host": "GET /accounts/login/ HTTP/1.1\r\nX-Forwarded-Proto: https\r\n\r\n",
    "no request line": "hello\r\n\r\n",
    "folded first header": "GET / HTTP/1.1\r\n folded: yes\r\n" + FORWARDED + "\r\n",
}
AFTER = f"GET /healthz HTTP/1.1\r\nHost: {HOST}\r\nConnection: close\r\n\r\n"


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    folder = tmp_path_factory.mktemp("server")
    with site_environment(folder) as made:
        (folder / "static" / "big.bin").write_bytes(os.urandom(1024) * (BIG // 1024))
        yield made


@pytest.fixture(scope="module")
def site(values: dict[str, str]) -> Iterator[Served]:
    """A site with the limits that it has when nobody sets others."""
    with served(values) as server:
        yield server


@pytest.fixture(scope="module")
def strict(values: dict[str, str]) -> Iterator[Served]:
    """A site whose clients have two seconds for everything."""
    limits = ("REQUEST_SECONDS", "IDLE_SECONDS", "REPLY_SECONDS")
    with served(values, **{f"CHAINBOX_{name}": "2" for name in limits}) as server:
        yield server


@pytest.mark.parametrize("count", [8, 200])
@pytest.mark.parametrize("kind", BEGINNINGS)
def test_slow_requests_leave_the_site_answering(site: Served, kind: str, count: int) -> None:
    with dripping(site, kind, count) as clients:
        assert [site.is_well() for _ in range(10)] == [True] * 10
        assert site.ask("/accounts/login/")[0].status == 200
        # They were all still there.
        for client in clients:
            client.setblocking(False)
            with pytest.raises(BlockingIOError):
                client.recv(1)


def test_unread_replies_leave_the_site_answering(site: Served) -> None:
    clients = []
    for _ in range(40):
        client = socket.socket()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", site.port))
        client.sendall(f"GET /static/big.bin HTTP/1.1\r\n{FORWARDED}\r\n".encode())
        clients.append(client)
    try:
        time.sleep(1)
        assert [site.is_well() for _ in range(10)] == [True] * 10
    finally:
        for client in clients:
            client.close()


def test_idle_connections_leave_the_site_answering(site: Served) -> None:
    clients = [site.connect() for _ in range(200)]
    try:
        assert [site.is_well() for _ in range(10)] == [True] * 10
    finally:
        for client in clients:
            client.close()


@pytest.mark.parametrize("kind", BEGINNINGS)
def test_a_request_that_does_not_end_is_cut_off(strict: Served, kind: str) -> None:
    with dripping(strict, kind, 1) as (client,):
        began = time.monotonic()
        assert everything(client) == b""
        assert time.monotonic() - began < 15
    assert strict.is_well()


def test_an_idle_connection_is_closed(strict: Served) -> None:
    with strict.connect() as client:
        assert everything(client) == b""
    request = f"GET /healthz HTTP/1.1\r\nHost: {HOST}\r\n\r\n"
    # Closed after the reply, too: without that this would wait for ever.
    assert status(strict.say(request.encode())) == 200


def test_a_reply_that_nobody_reads_is_cut_off(strict: Served) -> None:
    connections = len(_connections(strict))
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", strict.port))
        client.sendall(f"GET /static/big.bin HTTP/1.1\r\n{FORWARDED}\r\n".encode())
        wait_for(lambda: len(_connections(strict)) > connections, "the connection")
        wait_for(lambda: len(_connections(strict)) <= connections, "its end", seconds=20)
        client.settimeout(20)
        assert len(everything(client)) < BIG


def test_a_reply_that_is_read_slowly_is_cut_off(strict: Served) -> None:
    connections = len(_connections(strict))
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", strict.port))
        client.sendall(f"GET /static/big.bin HTTP/1.1\r\n{FORWARDED}\r\n".encode())
        wait_for(lambda: len(_connections(strict)) > connections, "the connection")
        client.settimeout(20)
        taken, deadline = 0, time.monotonic() + 20
        while len(_connections(strict)) > connections:
            assert time.monotonic() < deadline
            with suppress(ConnectionError):
                taken += len(client.recv(20_000))
        assert taken < BIG


@pytest.mark.parametrize("case", MALFORMED)
def test_malformed_requests_are_refused_and_end_the_connection(site: Served, case: str) -> None:
    reply = site.say((MALFORMED[case] + AFTER).encode())
    assert status(reply) == 400
    # What follows on the connection might be somebody else's, smuggled in: it is not answered.
    if case != "no host":
        assert reply.count(b"HTTP/1.") == 1


def test_unknown_codings_are_refused(site: Served) -> None:
    reply = site.say((POST + "Transfer-Encoding: gzip\r\n\r\nab" + AFTER).encode())
    assert (status(reply), reply.count(b"HTTP/1.")) == (501, 1)


def test_too_large_requests_are_refused(site: Served) -> None:
    headers = f"GET /healthz HTTP/1.1\r\n{FORWARDED}X-Long: {'x' * 40_000}\r\n\r\n"
    assert status(site.say(headers.encode())) == 431
    body = POST + f"Content-Length: {4 * 1024 * 1024 + 1}\r\n\r\n"
    assert status(site.say(body.encode())) == 413


def test_chunks_that_become_too_many_are_refused(values: dict[str, str]) -> None:
    with served(values, CHAINBOX_MAX_BODY_BYTES="100000") as small:
        chunk = "10000\r\n" + "x" * 0x10000 + "\r\n"
        request = POST + "Transfer-Encoding: chunked\r\n\r\n" + chunk + chunk
        assert status(small.say(request.encode())) == 413


def test_a_large_call_of_the_api_arrives_whole(site: Served) -> None:
    body = b'{"Question": "' + b"x" * (MOST_BYTES - 20) + b'"}'
    reply = site.say(
        f"POST /marketplace/api HTTP/1.1\r\n{FORWARDED}Connection: close\r\n"
        f"Content-Type: {CONTENT_TYPE}\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        + body
    )
    # Nobody has signed it; that is for the API to say, in its own words.
    assert status(reply) == 400
    assert b"__type" in reply


def test_a_connection_serves_several_requests_and_head_has_no_body(site: Served) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=20)
    headers = {"Host": HOST, "X-Forwarded-Proto": "https"}
    lengths = {}
    sockets = set()
    for method, path in [
        *(("GET", "/healthz"), ("HEAD", "/healthz"), ("HEAD", "/accounts/login/")),
        *(("GET", "/accounts/login/"), ("HEAD", "/static/big.bin"), ("GET", "/healthz")),
    ]:
        connection.request(method, path, headers=headers)
        reply = connection.getresponse()
        said = reply.read()
        assert reply.status == 200
        lengths[method, path] = int(reply.headers["Content-Length"])
        assert len(said) == (lengths[method, path] if method == "GET" else 0)
        sockets.add(connection.sock)
    # A body after HEAD would have been taken for the next reply.
    assert lengths["HEAD", "/healthz"] == lengths["GET", "/healthz"]
    assert lengths["HEAD", "/static/big.bin"] == BIG
    assert len(sockets) == 1
    connection.close()


def test_the_log_names_paths_without_their_queries(site: Served) -> None:
    site.ask("/accounts/login/?ticket=confidential")
    wait_for(lambda: "GET '/accounts/login/' 200" in site.log.read_text(), "the line")
    assert "confidential" not in site.log.read_text()


def test_told_to_stop_it_finishes_what_it_has_begun(values: dict[str, str]) -> None:
    with served(values) as server:
        family = psutil.Process(server.process.pid).children(recursive=True)
        idle = server.connect()
        with server.connect() as client:
            client.sendall(f"GET /static/big.bin HTTP/1.1\r\n{FORWARDED}\r\n".encode())
            head = client.recv(1000)
            server.process.send_signal(signal.SIGTERM)
            time.sleep(1)
            said = head + everything(client)
        assert len(said.partition(b"\r\n\r\n")[2]) == BIG
        assert everything(idle) == b""
        idle.close()
        assert server.process.wait(timeout=15) == 0
        assert not any(one.is_running() for one in family)


def test_a_process_that_dies_is_replaced(values: dict[str, str]) -> None:
    with served(values) as server:
        parent = psutil.Process(server.process.pid)
        before = {child.pid for child in parent.children()}
        assert len(before) == 2
        for pid in before:
            os.kill(pid, signal.SIGKILL)
        wait_for(
            lambda: (
                len(after := {child.pid for child in parent.children()}) == 2
                and not after & before
                and server.is_well()
            ),
            "new processes",
        )


@pytest.mark.parametrize(
    ("name", "value"),
    [("CHAINBOX_REQUEST_SECONDS", "soon"), ("CHAINBOX_WEB_THREADS", "0"), ("PORT", "0")],
)
def test_a_wrong_setting_is_named(values: dict[str, str], name: str, value: str) -> None:
    done = subprocess.run(
        COMMAND,
        env={**values, name: value},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert done.stderr.startswith(f"{name} must be")


def _connections(server: Served) -> list[object]:
    family = psutil.Process(server.process.pid).children(recursive=True)
    return [
        one
        for process in family
        for one in process.net_connections()
        if one.status == psutil.CONN_ESTABLISHED and one.laddr.port == server.port
    ]
