"""kill -9 in the middle of a simulation, again and again: nothing lost, nothing doubled."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg2
import pytest

from tests.processes import ROOT, environment

KILLS = 20
DEMO = ROOT / "annotation" / "demo"


class Site:
    """Chainbox on a PostgreSQL database of its own, used through its commands."""

    def __init__(self, url: str, var: Path) -> None:
        self.url = url
        self.environment = environment(DATABASE_URL=url, CHAINBOX_VAR=str(var))

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "manage.py", *words]

    def run(self, *words: str) -> str:
        done = subprocess.run(
            self.command(*words), env=self.environment, cwd=ROOT, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(*words),
            env=self.environment,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def facts(self) -> list[tuple[str, int, str]]:
        """Every fact as (image, number, body), with workers by their names."""
        return self._select(
            "SELECT i.name, f.number, replace(f.body, concat('\"worker\":', w.id), w.name)"
            " FROM annotation_fact f JOIN annotation_image i ON i.id = f.image_id"
            " JOIN annotation_worker w ON w.id = f.worker_id ORDER BY i.name, f.number"
        )

    def count(self) -> int:
        return int(self._select("SELECT count(*) FROM annotation_fact")[0][0])

    def _select(self, statement: str) -> list[tuple[str, int, str]]:
        connection = psycopg2.connect(self.url)
        try:
            with connection.cursor() as cursor:
                cursor.execute(statement)
                return list(cursor.fetchall())
        finally:
            connection.close()


@pytest.fixture
def sites(postgres_url: str, tmp_path: Path) -> Iterator[list[Site]]:
    """Two sites with the demo corpus, nobody having worked on it yet."""
    names = [f"kill_{uuid.uuid4().hex}" for _ in range(2)]
    made = []
    server = psycopg2.connect(postgres_url)
    server.autocommit = True
    try:
        with server.cursor() as cursor:
            for name in names:
                cursor.execute(f'CREATE DATABASE "{name}"')
                url = urlunsplit(urlsplit(postgres_url)._replace(path=f"/{name}"))
                site = Site(url, tmp_path / name)
                site.run("migrate", "--verbosity", "0")
                site.run("corpus_import", str(DEMO), "--campaign", "demo", "--gold")
                made.append(site)
            yield made
            for name in names:
                cursor.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
    finally:
        server.close()


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.postgres
def test_killed_at_random_points_the_simulation_ends_as_if_it_had_not_been(
    sites: list[Site],
) -> None:
    undisturbed, killed = sites
    simulate = ("crowd_simulate", "--campaign", "demo", "--seed", "7")
    undisturbed.run(*simulate)
    wanted = undisturbed.facts()
    points = sorted(random.Random().sample(range(1, len(wanted)), KILLS))
    for point in points:
        process = killed.start(*simulate)
        deadline = time.monotonic() + 60
        while killed.count() < point and process.poll() is None:
            assert time.monotonic() < deadline
        os.kill(process.pid, signal.SIGKILL)
        # Status 0: it had come to its end before the signal did, which only the last points can.
        assert process.wait() in (-signal.SIGKILL, 0)
        killed.run("state_check")
    killed.run(*simulate)
    killed.run("state_check")
    assert killed.facts() == wanted
