"""The database's clock: the one that all processes share."""

from datetime import UTC, datetime

from django.db import connection


def database_now() -> datetime:
    """Return the database's time, to the microsecond or, on SQLite, the millisecond."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')")
            return datetime.fromisoformat(cursor.fetchone()[0]).replace(tzinfo=UTC)
        cursor.execute("SELECT clock_timestamp()")
        now = cursor.fetchone()[0]
    assert isinstance(now, datetime)
    return now
