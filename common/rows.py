"""Rows of a database, one at a time."""

from typing import Any, TypeVar

from django.db.models import QuerySet

Row = TypeVar("Row")


def only_row(rows: QuerySet[Any, Row]) -> Row | None:
    """Return the row of a query that can find one at most; None if it finds none.

    Unlike `first()` it asks for no order. An order costs: Django compares every column that it
    selects with every column that it sorts by, which for a wide row takes longer than the query.
    """
    return next(iter(rows[:1]), None)
