"""Connections of the web server: requests and replies are buffered, and late ones are closed.

Waitress reads a whole request before a thread handles it, and keeps a reply until the client has
read it. So a slow client costs a file handle and some memory, but no thread. This module adds what
Waitress lacks: a deadline for a request to arrive and for a reply to be read (its own time-out
restarts with every byte), and no body in the reply to HEAD.
"""

import logging
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, cast

from waitress.channel import HTTPChannel
from waitress.parser import HTTPRequestParser, ParsingError
from waitress.server import TcpWSGIServer
from waitress.task import WSGITask

logger = logging.getLogger("common.web.access")

Application = Callable[[Any, Any], Iterable[bytes]]


class Limits(NamedTuple):
    """How long a client may take, in seconds, and how much it may send and open."""

    request_seconds: float
    reply_seconds: float
    idle_seconds: float
    header_bytes: int
    body_bytes: int
    connections: int


class Parser(HTTPRequestParser):
    """Refuses a request whose end a proxy in front of us might see elsewhere."""

    def parse_header(self, header_plus: bytes) -> None:
        """Read the headers; they may state a body's length in one way only."""
        super().parse_header(header_plus)
        names = [line.partition(b":")[0].strip().lower() for line in header_plus.split(b"\r\n")[1:]]
        coded = names.count(b"transfer-encoding")
        if coded and (coded > 1 or b"content-length" in names or self.version != "1.1"):
            raise ParsingError("The length of the body is stated in two ways")
        if names.count(b"content-length") > 1 or names.count(b"host") > 1:
            raise ParsingError("A header that may occur once occurs twice")


class Task(WSGITask):
    """Answers one request and notes it in the log."""

    request: Any

    def service(self) -> None:
        """Answer; log the path without its query, which may hold tickets and signatures."""
        try:
            super().service()
        finally:
            path = self.request.request_uri.partition("?")[0]
            logger.info(
                "%s %s %a %s %s bytes %.0f ms",
                self.channel.addr[0],
                self.request.command,
                path,
                self.status[:3],
                self.content_length if self.content_length is not None else "?",
                (time.time() - self.start_time) * 1000,
            )


class Channel(HTTPChannel):
    """One client's connection, which knows since when it has kept us waiting."""

    parser_class = Parser
    task_class = Task

    def __init__(self, *given: Any, **named: Any) -> None:
        # Before the parent's, which registers the connection with the loop.
        self.request_began = self.reply_began = self.written = 0.0
        super().__init__(*given, **named)

    def received(self, data: bytes) -> bool:
        """Take in some bytes; a request's time starts with its first byte."""
        before = self.request
        taken: bool = super().received(data)
        if self.request is not before:
            self.request_began = time.time()
        return taken

    def service(self) -> None:
        """Answer one request; the reply's time starts here."""
        self.reply_began = time.time()
        super().service()

    def write_soon(self, data: Any) -> int:
        """Take a part of the reply from the application."""
        self.written = time.time()
        length: int = super().write_soon(data)
        return length

    def is_late(self, now: float, limits: Limits) -> bool:
        """Tell whether the client has used up its time."""
        if self.total_outbufs_len:
            taken = max(self.written, self.last_activity)
            return (
                now - taken > limits.idle_seconds or now - self.reply_began > limits.reply_seconds
            )
        if self.requests:
            return False  # The client is waiting for us.
        if self.request is not None:
            return now - self.request_began > limits.request_seconds
        return now - self.last_activity > limits.idle_seconds

    @property
    def is_busy(self) -> bool:
        """Tell whether a reply is being made or sent."""
        return bool(self.requests or self.total_outbufs_len)


class Listener(TcpWSGIServer):
    """Accepts connections at one address."""

    channel_class = Channel

    @property
    def channels(self) -> list[Channel]:
        """Return the open connections."""
        return list(cast("dict[int, Channel]", self.active_channels).values())

    def maintenance(self, now: float) -> None:
        """Do nothing: `close_late` closes for good, without waiting for the client to read."""

    def close_late(self, limits: Limits) -> None:
        """Close every connection whose client has used up its time."""
        now = time.time()
        for channel in self.channels:
            if channel.is_late(now, limits):
                channel.handle_close()

    def close_idle(self) -> None:
        """Close every connection on which no reply is under way."""
        for channel in self.channels:
            if not channel.is_busy:
                channel.handle_close()


def without_body_for_head(application: Application) -> Application:
    """Return the application with empty replies to HEAD, since Waitress does not empty them."""

    def answer(environ: Any, start_response: Any) -> Iterable[bytes]:
        reply = application(environ, start_response)
        if environ["REQUEST_METHOD"] != "HEAD":
            return reply
        close: Callable[[], None] | None = getattr(reply, "close", None)
        if close is not None:
            close()
        return []

    return answer
