"""The database's clock: the one that all processes share."""

from datetime import UTC, datetime

from django.db import connection


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
