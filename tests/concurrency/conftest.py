"""What tests of races share."""

from collections.abc import Iterator

import pytest
from celery import current_app
from django.db import connection

from tests.processes import wait_for


@pytest.fixture(autouse=True)
def _broker_in_memory() -> Iterator[None]:
    """Who is woken here is nobody: tests call what they want to see done."""
    before = current_app.conf.broker_url
    current_app.conf.update(broker_url="memory://localhost/")
    yield
    current_app.conf.update(broker_url=before)


@pytest.fixture
def _no_deadlock(transactional_db: None) -> Iterator[None]:
    """PostgreSQL has had no deadlock to break up, noticed by anybody or not."""
    connections, before = _counted("numbackends"), _counted("deadlocks")
    yield
    # A connection tells what it has counted when it ends.
    wait_for(lambda: _counted("numbackends") <= connections, "others' connections to end")
    assert _counted("deadlocks") == before


def _counted(what: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {what} FROM pg_stat_database WHERE datname = current_database()")
        return int(cursor.fetchone()[0])
