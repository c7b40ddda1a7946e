"""Clocks: the database's, which all processes share, and how far machines' clocks may differ.

Leases, deadlines and payments use the database's clock. Signatures and messages carry the time of
the machine that made them, and another machine reads it. They must not expire early because one
clock is ten minutes slow and the other ten minutes fast.
"""

from datetime import UTC, datetime

from django.db import connection

CLOCK_TOLERANCE_SECONDS = 20 * 60


def database_now() -> datetime:
    """Return the database's time, to the microsecond or, on SQLite, the millisecond."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')")
            now = datetime.fromisoformat(cursor.fetchone()[0])
            # SQLite compares times as text and writes a whole second without its fraction. Such a
            # time would be earlier than the same time written by the database itself.
            return now.replace(microsecond=now.microsecond or 1, tzinfo=UTC)
        cursor.execute("SELECT clock_timestamp()")
        now = cursor.fetchone()[0]
    assert isinstance(now, datetime)
    return now
