"""Progress of long jobs, reported to a terminal or a page."""

from collections.abc import Callable

# Called with the current step, how much of it is done, and the total.
Report = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """Report nothing."""
