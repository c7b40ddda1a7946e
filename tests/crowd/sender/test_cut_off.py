"""Truncated answers, as when the marketplace is killed, do not count as answers."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from annotation.crowd.client import MTurk, boto_client
from annotation.crowd.errors import UnreachableError

BEGINNING = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.1\r\n"
WHOLE = BEGINNING + b"Content-Length: 2\r\n\r\n{}"


@contextmanager
def answering(reply: bytes) -> Iterator[MTurk]:
    """A marketplace that says the same to everything, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                request = b""
                # All of it: what is left unread would reset the connection.
                while not request.endswith(b"}"):
                    request += connection.recv(65536)
                connection.sendall(reply)

        thread = threading.Thread(target=answer)
        thread.start()
        port = server.getsockname()[1]
        yield MTurk(boto_client(f"http://127.0.0.1:{port}/", "key", "secret", tries=1))
        thread.join()


@pytest.mark.parametrize(
    "size", [len(BEGINNING) - 2, len(BEGINNING), len(WHOLE) - 2, len(WHOLE) - 1]
)
def test_an_answer_that_breaks_off_is_none(size: int) -> None:
    # Without a failure in it, the answer to NotifyWorkers says that the worker was written to.
    with answering(WHOLE[:size]) as client, pytest.raises(UnreachableError):
        client.worker_write(worker="A1", subject="Hello", text="there")


def test_a_whole_answer_is_one() -> None:
    with answering(WHOLE) as client:
        assert client.worker_write(worker="A1", subject="Hello", text="there") == ""
