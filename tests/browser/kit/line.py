"""A connection between the browser and the live server that a test can cut."""

import select
import socket
import socketserver
from contextlib import suppress
from threading import Thread
from types import TracebackType
from typing import Self


class _Call(socketserver.BaseRequestHandler):
    server: "Line"

    def handle(self) -> None:
        calls = self.server.calls
        calls.add(self.request)
        try:
            with suppress(OSError):
                if not self.server.is_cut:
                    self._connect()
        finally:
            calls.discard(self.request)

    def _connect(self) -> None:
        with socket.create_connection(self.server.to) as other:
            _talk(self.request, other)


def _talk(one: socket.socket, other: socket.socket) -> None:
    ends = {one: other, other: one}
    while True:
        for end in select.select(list(ends), [], [])[0]:
            said = end.recv(65536)
            if not said:
                return
            ends[end].sendall(said)


class Line(socketserver.ThreadingTCPServer):
    """Listens on a port of its own at localhost."""

    allow_reuse_address = True
    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, own_port: int = 0) -> None:
        super().__init__(("localhost", own_port), _Call)
        self.to = ("localhost", port)
        self.is_cut = False
        self.calls: set[socket.socket] = set()
        self._thread = Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05})

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def cut(self) -> None:
        """End what is being said, and let nobody begin."""
        self.is_cut = True
        for end in list(self.calls):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self.is_cut = False

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.cut()
        self.shutdown()
        self._thread.join()
        self.server_close()
