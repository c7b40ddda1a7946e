"""Shared by all tests: which of them use the database, and settings that suit tests."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection
from django.test import TransactionTestCase
from django.test.utils import override_settings
from hypothesis import settings as hypothesis_settings
from playwright.sync_api import Browser, sync_playwright
from pytest_django import DjangoDbBlocker

from annotation.models import append_only
from tests.browsers import ARGUMENTS, find_chromium

# A busy machine is no failure.
hypothesis_settings.register_profile("chainbox", deadline=None)
hypothesis_settings.load_profile("chainbox")

DATABASE_FIXTURES = {"db", "transactional_db", "django_db_serialized_rollback", "live_server"}


@pytest.hookimpl(wrapper=True)  # before -m chooses, and after all are in their random order
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    """Mark every test that uses the database, and let long ones begin first."""
    mark_database(items)
    result = yield
    items[:] = long_ones_first(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT") or 1))
    return result


def long_ones_first(items: list[pytest.Item], processes: int) -> list[pytest.Item]:
    """Deal the long tests out to the starts of the shares that the processes begin with.

    Always in the same way: so it is always the same ones that share the machine.
    """
    long = [item for item in items if item.get_closest_marker("long")]
    long.sort(key=lambda item: item.nodeid)
    others = [item for item in items if not item.get_closest_marker("long")]
    ordered: list[pytest.Item] = []
    for number in range(processes):
        share = long[number::processes]
        end = len(items) * (number + 1) // processes - len(ordered) - len(share)
        ordered += share + others[:end]
        others = others[end:]
    return ordered


def mark_database(items: list[pytest.Item]) -> None:
    """Mark every test that uses the database, so that they can be run on PostgreSQL too."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if item.get_closest_marker("django_db") or fixtures & DATABASE_FIXTURES:
            item.add_marker("database")
        if item.get_closest_marker("postgres"):
            item.add_marker("database")
            if connection.vendor != "postgresql":
                item.add_marker(pytest.mark.skip(reason="needs PostgreSQL: see `make test`"))


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Use a file where SQLite is used, as everywhere else.

    Threads share a database in memory by locking tables, for which nobody waits: a request that
    is still being answered when a test ends would fail the next one.
    """
    if connection.vendor == "sqlite":
        file = tmp_path_factory.mktemp("database") / "test.sqlite3"
        connection.settings_dict["TEST"]["NAME"] = str(file)
        options = connection.settings_dict["OPTIONS"]
        # What a power cut would do to it does not matter here, and waiting for the disk does.
        options["init_command"] += "PRAGMA synchronous=OFF;"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Close the remaining connections to PostgreSQL at the end.

    A browser's request may still be open when its test ends. A database in use cannot be dropped,
    and that would fail whichever test is the last.
    """
    yield
    if connection.vendor == "postgresql":
        with django_db_blocker.unblock(), connection.cursor() as cursor:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )


@pytest.fixture(scope="session", autouse=True)
def _settings_for_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    media: Path = tmp_path_factory.mktemp("media")
    with override_settings(
        MEDIA_ROOT=media,
        # The real hasher takes a third of a second for each account made, on purpose.
        PASSWORD_HASHERS=["django.contrib.auth.hashers.MD5PasswordHasher"],
        CACHES={"default": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"}},
    ):
        yield


@pytest.fixture(scope="session", autouse=True)
def _tests_may_empty_the_database() -> Iterator[None]:
    """Tests that commit are followed by emptying every table, which append-only ones refuse."""
    empty = TransactionTestCase._fixture_teardown  # type: ignore[attr-defined]  # not in the stubs

    def without_triggers(self: TransactionTestCase) -> None:
        with connection.schema_editor() as editor:
            append_only.release(editor)
        empty(self)
        with connection.schema_editor() as editor:
            append_only.protect(editor)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", without_triggers)
        yield


@pytest.fixture
def _empty_cache() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def _service(variable: str) -> str:
    url = os.environ.get(variable, "")
    if not url:
        pytest.skip(f"{variable} is not set: see `make test`")
    return url


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A real Chromium, headless; `make test` installs one where it can."""
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium: see tests/browsers.py")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright waits in an event loop of its own thread, which Django takes for async code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        chromium = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture
def redis_url() -> str:
    """A real Redis; `make test` provides one."""
    return _service("TEST_REDIS_URL")


@pytest.fixture
def postgres_url() -> str:
    """A real PostgreSQL, for tests that start processes of their own on it."""
    return _service("TEST_POSTGRES_URL")
