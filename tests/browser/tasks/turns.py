"""One at a time, on SQLite in memory: there a reader and a writer at once get an error, not a turn.

What the live server serves takes turns with what a test looks up meanwhile. On PostgreSQL, and on
SQLite's files, the database itself lets them wait.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.db import connection

TURN = RLock()


@contextmanager
def turns_taken() -> Iterator[None]:
    if connection.vendor != "sqlite":
        yield
        return
    serve: Callable[..., Any] = WSGIHandler.__call__

    def serve_alone(self: WSGIHandler, *args: Any) -> Any:
        with TURN:
            return serve(self, *args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WSGIHandler, "__call__", serve_alone)
        yield
