"""The services that `make test` starts: they are real, and gone afterwards."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psycopg2
import pytest
import redis

from tests.processes import ROOT, environment, wait_for


def through_services(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `command` the way `make test` runs the tests."""
    return subprocess.run(
        [sys.executable, "-m", "tests.services", "--", *command],
        env=environment(**variables),
        cwd=ROOT,
        capture_output=True,
        text=True,
    )


def test_both_answer(postgres_url: str, redis_url: str) -> None:
    connection = psycopg2.connect(postgres_url)
    try:
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_version_num")
            row = cursor.fetchone()
    finally:
        connection.close()
    assert row is not None
    assert int(row[0]) >= 140000, "Django 5.2 needs PostgreSQL 14"
    with redis.Redis.from_url(redis_url) as server:
        assert server.ping()


def test_named_ones_are_used_and_the_status_is_passed_on() -> None:
    result = through_services(
        sys.executable,
        "-c",
        "import os; e = os.environ; "
        "print(e['TEST_POSTGRES_URL'], e['TEST_REDIS_URL'], 'DATABASE_URL' in e); exit(7)",
        DATABASE_URL="postgresql://me@db.example.org/box",
        REDIS_URL="redis://cache.example.org/2",
    )
    assert result.stdout.split() == [
        "postgresql://me@db.example.org/box",
        "redis://cache.example.org/2",
        "False",
    ]
    assert result.returncode == 7


@pytest.mark.slow
def test_they_are_stopped_when_the_run_is_terminated(tmp_path: Path) -> None:
    note = tmp_path / "socket-folder"
    code = (
        "import os, pathlib, sys, time; "
        "pathlib.Path(sys.argv[1]).write_text(os.environ['TEST_POSTGRES_URL'].split('=')[1]); "
        "time.sleep(600)"
    )
    run = subprocess.Popen(
        [sys.executable, "-m", "tests.services", "--", sys.executable, "-c", code, str(note)],
        env=environment(),
        cwd=ROOT,
    )
    try:
        wait_for(lambda: note.exists() and note.read_text() != "", "the services")
        data = Path(note.read_text())
        server = int((data / "postmaster.pid").read_text().splitlines()[0])
        os.kill(server, 0)
    finally:
        run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=60) == 128 + signal.SIGTERM
    with pytest.raises(ProcessLookupError):
        os.kill(server, 0)
    assert not data.exists()


@pytest.mark.postgres
@pytest.mark.django_db
def test_the_postgresql_run_is_on_postgresql() -> None:
    from django.db import connection

    assert connection.vendor == "postgresql"
