"""Machines whose clocks are wrong, for tests. The database keeps its own, correct clock."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

import time_machine

SLOW, FAST = -600, 600


@contextmanager
def machine(clock: int, later: float = 0) -> Iterator[None]:
    """Act, `later` seconds from now, as a machine whose clock is wrong by `clock` seconds."""
    with time_machine.travel(time.time() + clock + later, tick=True):
        yield
