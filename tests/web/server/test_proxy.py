"""The compose file's proxy with its real configuration: nginx, two replicas, a name server."""

import http.client
import json
import os
import shutil
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ROOT, wait_for
from tests.services import free_port
from tests.web.server.running_server import everything, status

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("nginx"), reason="there is no nginx on this machine"),
]

# Both replicas have the same port, as in the compose file.
REPLICAS = ("127.0.0.1", "127.0.0.2")


class Replica(ThreadingHTTPServer):
    """Answers with the request that it got, and counts requests."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int]) -> None:
        self.asked = 0
        super().__init__(address, Echo)


class Echo(BaseHTTPRequestHandler):
    """Reports what has come in."""

    server: Replica

    def do_GET(self) -> None:
        self.server.asked += 1
        length = int(self.headers.get("Content-Length") or 0)
        said = json.dumps(
            {
                "replica": self.server.server_address[0],
                "path": self.path,
                "headers": {name.lower(): value for name, value in self.headers.items()},
                "forwarded": self.headers.get_all("X-Forwarded-For"),
                "length": len(self.rfile.read(length)),
            }
        ).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        pass


class Names(socketserver.BaseRequestHandler):
    """A name server that says of every name: both replicas."""

    def handle(self) -> None:
        question, reply_to = self.request
        # One question comes in; the answer repeats it, then points back to its name (0xC00C).
        head = question[:2] + b"\x81\x80\x00\x01" + len(REPLICAS).to_bytes(2, "big") + b"\0\0\0\0"
        asked = question[12 : question.index(b"\0", 12) + 5]
        records = b"".join(
            b"\xc0\x0c\0\x01\0\x01\0\0\0\x05\0\x04" + socket.inet_aton(one) for one in REPLICAS
        )
        reply_to.sendto(head + asked + records, self.client_address)


class Proxy:
    """A running nginx before two replicas."""

    def __init__(self, port: int, replicas: list[Replica]) -> None:
        self.port = port
        self.replicas = replicas

    def ask(self, path: str = "/", body: bytes = b"", **headers: str) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        names = {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request("POST" if body else "GET", path, body=body or None, headers=names)
            reply = connection.getresponse()
            said = reply.read()
            return reply.status, json.loads(said) if reply.status == 200 else {}
        finally:
            connection.close()

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=20)

    @property
    def passed_on(self) -> int:
        return sum(replica.asked for replica in self.replicas)


@contextmanager
def threaded(server: socketserver.BaseServer) -> Iterator[None]:
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def running(folder: Path, **changes: str) -> Iterator[Proxy]:
    """Yield nginx with the shipped configuration; only addresses and folders are this test's."""
    web, names, port = free_port(), free_port(), free_port()
    text = (ROOT / "config" / "nginx.conf").read_text()
    replaced = {
        "resolver 127.0.0.11": f"resolver 127.0.0.1:{names}",
        "set $web web:8000": f"set $web web:{web}",
        "listen 8080": f"listen 127.0.0.1:{port}",
        "/dev/stdout": f"{folder}/access.log",
        " /tmp/nginx": f" {folder}/nginx",
        **changes,
    }
    for before, after in replaced.items():
        assert before in text
        text = text.replace(before, after)
    # As root nginx would give its work to an account that cannot enter this folder.
    user = "user root;\n" if os.geteuid() == 0 else ""
    configuration = folder / "nginx.conf"
    configuration.write_text(user + text)
    command = ["nginx", "-p", str(folder), "-c", str(configuration)]
    subprocess.run([*command, "-t", "-q"], check=True)
    with ExitStack() as stack:
        replicas = [Replica((address, web)) for address in REPLICAS]
        for server in [*replicas, socketserver.UDPServer(("127.0.0.1", names), Names)]:
            stack.enter_context(threaded(server))
        process = subprocess.Popen([*command, "-g", "daemon off;"])
        proxy = Proxy(port, replicas)

        def answers() -> bool:
            try:
                return proxy.ask("/proxy-alive")[0] == 204
            except OSError:
                return False

        try:
            wait_for(answers, "nginx")
            yield proxy
        finally:
            process.terminate()
            process.wait(timeout=20)


@pytest.fixture(scope="module")
def proxy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Proxy]:
    with running(tmp_path_factory.mktemp("proxy")) as made:
        yield made


def test_requests_go_to_every_replica(proxy: Proxy) -> None:
    assert {proxy.ask()[1]["replica"] for _ in range(20)} == set(REPLICAS)


def test_a_replica_that_is_gone_is_not_missed(tmp_path: Path) -> None:
    with running(tmp_path) as proxy:
        gone = proxy.replicas[0]
        gone.shutdown()
        gone.server_close()
        assert {proxy.ask()[1]["replica"] for _ in range(20)} == {REPLICAS[1]}


def test_the_client_is_who_the_proxy_in_front_says(proxy: Proxy) -> None:
    said = proxy.ask(X_Forwarded_For="192.0.2.66, 203.0.113.9", X_Forwarded_Proto="https")[1]
    # The first was sent by the client itself, and may be invented.
    assert said["forwarded"] == ["203.0.113.9"]
    assert said["headers"]["x-forwarded-proto"] == "https"


def test_without_a_proxy_in_front_nothing_is_made_up(proxy: Proxy) -> None:
    said = proxy.ask(Host="chainbox.example.org:8000", X_Forwarded_Proto="https, http")[1]
    assert said["forwarded"] == ["127.0.0.1"]
    assert said["headers"]["x-forwarded-proto"] == "http"
    assert said["headers"]["host"] == "chainbox.example.org:8000"


def test_addresses_and_bodies_arrive_as_they_were_sent(proxy: Proxy) -> None:
    state, said = proxy.ask("/hits/1/links/?a=%2F&b=%20c", body=b"x" * 2_000_000)
    assert (state, said["path"], said["length"]) == (200, "/hits/1/links/?a=%2F&b=%20c", 2_000_000)


def test_too_large_bodies_are_refused(proxy: Proxy) -> None:
    before = proxy.passed_on
    assert proxy.ask(body=b"x" * (4 * 1024 * 1024 + 1))[0] == 413
    with proxy.connect() as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX-Long: " + b"x" * 40_000 + b"\r\n\r\n")
        assert status(everything(client)) == 400
    assert proxy.passed_on == before


def test_a_request_is_passed_on_only_when_it_has_arrived(proxy: Proxy) -> None:
    before = proxy.passed_on
    begun = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 1000\r\n\r\n"
    with proxy.connect() as client:
        client.sendall(begun + b"x" * 999)
        assert proxy.ask()[0] == 200
        assert proxy.passed_on == before + 1
        client.sendall(b"x")
        assert status(everything(client)) == 200
    assert proxy.passed_on == before + 2


def test_slow_requests_are_cut_off(tmp_path: Path) -> None:
    with running(
        tmp_path,
        **{"header_timeout 15s": "header_timeout 1s", "body_timeout 15s": "body_timeout 1s"},
    ) as proxy:
        for begun in (
            b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ",
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        ):
            with proxy.connect() as client:
                client.sendall(begun)
                assert status(everything(client)) in (0, 408)
        assert proxy.passed_on == 0


def test_one_address_may_open_so_many_connections(proxy: Proxy) -> None:
    clients = []
    for _ in range(100):
        client = proxy.connect()
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\n"
            b"X-Forwarded-For: 203.0.113.7\r\nContent-Length: 9\r\n\r\n"
        )
        clients.append(client)
    try:
        wait_for(lambda: proxy.ask(X_Forwarded_For="203.0.113.7")[0] == 429, "the limit")
        assert proxy.ask(X_Forwarded_For="203.0.113.8")[0] == 200
    finally:
        for client in clients:
            client.close()


def test_the_log_names_paths_without_their_queries(tmp_path: Path) -> None:
    with running(tmp_path) as proxy:
        proxy.ask("/photos/1/?signature=confidential")
        log = tmp_path / "access.log"
        wait_for(lambda: '"GET /photos/1/" 200' in log.read_text(), "the line")
        assert "confidential" not in log.read_text()
