"""A small web server that receives notifications."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import msgspec


class Delivery(msgspec.Struct, frozen=True):
    path: str
    body: bytes
    signature: str
    content_type: str


class Webhook(ThreadingHTTPServer):
    """Answers with the given statuses, repeating the last one; keeps what it received."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.statuses = [204]
        self.deliveries: list[Delivery] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/hook?for=me"


class _Handler(BaseHTTPRequestHandler):
    server: Webhook

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.deliveries.append(
            Delivery(
                path=self.path,
                body=body,
                signature=self.headers["X-Chainbox-Signature"],
                content_type=self.headers["Content-Type"],
            )
        )
        statuses = self.server.statuses
        self.send_response(statuses.pop(0) if len(statuses) > 1 else statuses[0])
        self.send_header("Location", "/elsewhere")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def webhook_server() -> Iterator[Webhook]:
    server = Webhook()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
