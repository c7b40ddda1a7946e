"""Progress of long jobs on stderr: nothing for quick jobs; on a terminal, one line that updates."""

import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO

QUIET_SECONDS = 2.0
TERMINAL_SECONDS, LOG_SECONDS = 0.5, 15.0


class Progress:
    """Counts up to `total`. `add` may be called by any thread."""

    def __init__(self, what: str, unit: str, total: int, stream: TextIO | None = None) -> None:
        self._what, self._unit, self._total = what, unit, total
        self._stream = stream or sys.stderr
        self._every = TERMINAL_SECONDS if self._stream.isatty() else LOG_SECONDS
        self._lock = threading.Lock()
        self._start = time.monotonic()
        self._next = self._start + QUIET_SECONDS
        self._done = 0
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown and self._stream.isatty():
            print(file=self._stream)

    def add(self, count: int) -> None:
        with self._lock:
            self._done += count
            now = time.monotonic()
            if now < self._next:
                return
            self._next = now + self._every
            self._show(now - self._start)

    def _show(self, seconds: float) -> None:
        self._shown = True
        rate = self._done / seconds
        left = duration((self._total - self._done) / rate) if rate else "unknown"
        line = (
            f"{self._what}: {self._done:,} of {self._total:,} {self._unit}, "
            f"{rate:,.1f} a second, {left} left"
        )
        if self._stream.isatty():
            print(f"\r{line}\x1b[K", end="", file=self._stream, flush=True)
        else:
            print(line, file=self._stream, flush=True)


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(59), duration(600), duration(7260)
    ('59 s', '10 min', '2 h 1 min')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
