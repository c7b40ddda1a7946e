"""The site's web server as a separate process, and clients that talk to it byte by byte."""

import http.client
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.processes import ROOT, environment, wait_for
from tests.services import free_port

HOST = "chainbox.example.org"
# As from a proxy that ends TLS; otherwise production mode would only redirect.
FORWARDED = f"Host: {HOST}\r\nX-Forwarded-Proto: https\r\n"
HEADERS = f"GET /accounts/login/ HTTP/1.1\r\n{FORWARDED}X-Slow: ".encode()
BODY = (
    f"POST /accounts/login/ HTTP/1.1\r\n{FORWARDED}"
    # Without a cookie the form is refused before anybody reads it.
    f"Cookie: csrftoken={'abcdefgh' * 4}\r\n"
    "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 100000\r\n\r\nusername="
).encode()
BEGINNINGS = {"headers": HEADERS, "body": BODY}
COMMAND = [sys.executable, "-m", "config.server"]


class Served:
    """A running web server."""

    def __init__(self, process: subprocess.Popen[bytes], port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self.log = log

    def connect(self, seconds: float = 20) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=seconds)

    def say(self, request: bytes, seconds: float = 20) -> bytes:
        """Send these bytes on a connection of their own; return all that comes back."""
        with self.connect(seconds) as connection:
            connection.sendall(request)
            return everything(connection)

    def ask(
        self, path: str, method: str = "GET", body: bytes = b"", seconds: float = 20
    ) -> tuple[http.client.HTTPResponse, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=seconds)
        headers = {"Host": HOST, "X-Forwarded-Proto": "https"}
        try:
            connection.request(method, path, body=body or None, headers=headers)
            reply = connection.getresponse()
            return reply, reply.read()
        finally:
            connection.close()

    def is_well(self, seconds: float = 10) -> bool:
        """Ask the health check, as a monitor of the site does."""
        with suppress(OSError, http.client.HTTPException):
            return self.ask("/healthz", seconds=seconds)[0].status == 200
        return False


def everything(connection: socket.socket) -> bytes:
    """Read until the other side has closed."""
    parts = []
    with suppress(ConnectionError):
        while part := connection.recv(65536):
            parts.append(part)
    return b"".join(parts)


def status(reply: bytes) -> int:
    """Return the status of the first reply; 0 if there is none."""
    return int(reply.split(b" ", 2)[1]) if reply.startswith(b"HTTP/1.") else 0


@contextmanager
def site_environment(folder: Path, **settings: str) -> Iterator[dict[str, str]]:
    """Yield the environment of a site in production mode, with its tables and its files."""
    values = environment(
        CHAINBOX_MODE="production",
        CHAINBOX_VAR=str(folder),
        CHAINBOX_BEHIND_PROXY="yes",
        CHAINBOX_TRUSTED_PROXIES="1",
        CHAINBOX_LOG_LEVEL="INFO",
        SECRET_KEY="abcdefghij" * 5,
        ALLOWED_HOSTS=HOST,
        DATABASE_URL=f"sqlite:///{folder}/box.sqlite3",
        HOST="127.0.0.1",
        # As many threads in all as the site had when eight connections could stop it.
        CHAINBOX_WEB_PROCESSES="2",
        CHAINBOX_WEB_THREADS="4",
        **settings,
    )
    for command in (["migrate"], ["collectstatic", "--noinput"]):
        subprocess.run(
            [sys.executable, "manage.py", *command, "--verbosity=0"],
            env=values,
            cwd=ROOT,
            check=True,
        )
    yield values


@contextmanager
def served(values: dict[str, str], **settings: str) -> Iterator[Served]:
    """Yield the site of this environment on a port of its own, answering."""
    port = free_port()
    log = Path(values["CHAINBOX_VAR"]) / f"server-{port}.log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            COMMAND,
            env={**values, **settings, "PORT": str(port)},
            cwd=ROOT,
            stdout=output,
            stderr=output,
        )
    server = Served(process, port, log)
    try:
        wait_for(lambda: process.poll() is not None or server.is_well(), "the health check")
        assert process.poll() is None, log.read_text()
        yield server
    finally:
        process.terminate()
        process.wait(timeout=30)


@contextmanager
def dripping(server: Served, kind: str, count: int) -> Iterator[list[socket.socket]]:
    """Keep this many connections busy, each with one more byte now and then."""
    stop = threading.Event()
    clients = []
    for _ in range(count):
        client = server.connect()
        client.sendall(BEGINNINGS[kind])
        clients.append(client)

    def drip() -> None:
        while not stop.wait(0.3):
            for client in clients:
                with suppress(OSError):
                    client.send(b"x")

    thread = threading.Thread(target=drip)
    thread.start()
    try:
        # All have arrived by then, and hold what they can hold.
        time.sleep(1)
        yield clients
    finally:
        stop.set()
        thread.join()
        for client in clients:
            client.close()
