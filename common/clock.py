"""Clocks: the database's, which all processes share, and how far those of machines may be apart.

Leases, deadlines and payments go by the database's clock. What is signed or sent goes by the clock
of the machine that does it, and another machine reads it: it must not end early because one clock
is ten minutes slow and the other ten minutes fast.
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
            # SQLite compares times as text, and a whole second is written without its fraction:
            # it would be earlier than the same time written by the database itself.
            return now.replace(microsecond=now.microsecond or 1, tzinfo=UTC)
        cursor.execute("SELECT clock_timestamp()")
        now = cursor.fetchone()[0]
    assert isinstance(now, datetime)
    return now
