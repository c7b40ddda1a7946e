"""Telling how far a long job is, to whoever shows it: a terminal or a page."""

from collections.abc import Callable

# Told what is being done, how much of it is done, and of how much.
Report = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """Tell nobody."""
