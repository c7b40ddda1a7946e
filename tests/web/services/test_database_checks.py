"""A busy connection to PostgreSQL is not checked before every request."""

import threading
import time
from collections.abc import Callable, Iterator

import psycopg2
import pytest
from django.core.signals import request_finished, request_started
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from config.services import database_checks
from config.services.database_checks import spare_health_checks

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _spared() -> Iterator[None]:
    spare_health_checks()
    yield
    request_started.disconnect(dispatch_uid="config.services.database_checks")
    request_finished.disconnect(dispatch_uid="config.services.database_checks")


def in_a_thread(work: Callable[[], None]) -> None:
    """Do it with a connection of its own, as a thread of the web server has one."""
    errors: list[BaseException] = []

    def run() -> None:
        connection.settings_dict = {
            **connection.settings_dict,
            "CONN_MAX_AGE": 60,
            "CONN_HEALTH_CHECKS": True,
        }
        try:
            work()
        except BaseException as error:
            errors.append(error)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]


def request() -> bool:
    """Do what a request does; tell whether the connection was to be checked first."""
    request_started.send(sender=BaseDatabaseWrapper, environ={})
    is_checked = not getattr(connection, "health_check_done")  # noqa: B009  # not in the stubs
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    finally:
        request_finished.send(sender=BaseDatabaseWrapper)
    return is_checked


def cut_off() -> None:
    """End this thread's connection from the other side, as a restart does."""
    at = connection.get_connection_params()
    at.pop("cursor_factory")
    pid = connection.connection.info.backend_pid
    with psycopg2.connect(**at) as other, other.cursor() as cursor:
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    other.close()


def test_only_a_connection_that_has_been_idle_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    def work() -> None:
        request()
        assert not request()
        monkeypatch.setattr(database_checks, "SURELY_ALIVE_SECONDS", 0.1)
        time.sleep(0.2)
        assert request()

    in_a_thread(work)


def test_an_idle_connection_that_has_died_is_not_noticed_by_anybody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def work() -> None:
        request()
        cut_off()
        monkeypatch.setattr(database_checks, "SURELY_ALIVE_SECONDS", 0.1)
        time.sleep(0.2)
        request()

    in_a_thread(work)


def test_a_busy_connection_that_has_died_costs_one_request() -> None:
    def work() -> None:
        request()
        cut_off()
        with pytest.raises(OperationalError):
            request()
        request()

    in_a_thread(work)
