"""Progress of commands: nothing for two seconds, then a line that is replaced or repeated."""

import time
from collections.abc import Callable, Iterable, Iterator
from typing import TextIO, TypeVar

Item = TypeVar("Item")

QUIET_SECONDS = 2.0
# On a terminal the line is replaced often; a log gets a line now and then.
TERMINAL_SECONDS = 0.2
LOG_SECONDS = 10.0


class Progress:
    """Writes the progress to `stream` once the work takes more than two seconds."""

    def __init__(
        self,
        stream: TextIO,
        *,
        what: str,
        total: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.stream = stream
        self.what = what
        self.total = total
        self.clock = clock
        self.terminal = stream.isatty()
        self.due = clock() + QUIET_SECONDS
        self.shown = False
        self.done = 0

    def step(self, count: int = 1) -> None:
        """Count finished items; write a line if one is due."""
        self.done += count
        now = self.clock()
        if now < self.due:
            return
        total = "" if self.total is None else f" of {self.total:,}"
        line = f"{self.done:,}{total} {self.what}"
        self.stream.write(f"\r{line}" if self.terminal else f"{line}\n")
        self.stream.flush()
        self.due = now + (TERMINAL_SECONDS if self.terminal else LOG_SECONDS)
        self.shown = True

    def finish(self) -> None:
        """Clear a terminal's line, so that the result stands alone."""
        if self.terminal and self.shown:
            self.stream.write("\r\x1b[K")
            self.stream.flush()


def with_progress(
    items: Iterable[Item],
    *,
    what: str,
    stream: TextIO,
    total: int | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Item]:
    """Yield `items` and count them."""
    progress = Progress(stream, what=what, total=total, clock=clock)
    try:
        for item in items:
            yield item
            progress.step()
    finally:
        progress.finish()
