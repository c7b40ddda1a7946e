"""Single database rows."""

from typing import Any, TypeVar

from django.db.models import QuerySet

Row = TypeVar("Row")


def only_row(rows: QuerySet[Any, Row]) -> Row | None:
    """Return the row of a query that can find one at most; None if it finds none.

    Unlike `first()` it does not sort. To add an order, Django compares every selected column with
    every column it sorts by, which for a wide row takes longer than the query itself.
    """
    return next(iter(rows[:1]), None)
