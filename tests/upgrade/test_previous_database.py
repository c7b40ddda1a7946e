"""Databases of earlier versions migrate, and every state is what its facts fold to."""

import gzip
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.processes import ROOT, environment
from tests.upgrade import DATABASE, OLDER_RULES

pytestmark = [pytest.mark.slow, pytest.mark.once]

ALL_HOLD = "30 images: every stored state is what its facts fold to."


def manage(*words: str, var: Path, status: int = 0) -> str:
    values = environment(CHAINBOX_VAR=str(var), DATABASE_URL=f"sqlite:///{var / 'db.sqlite3'}")
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=values,
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stdout + done.stderr
    return done.stdout + done.stderr


def load(dump: Path, var: Path) -> None:
    with closing(sqlite3.connect(var / "db.sqlite3")) as database:
        database.executescript(gzip.decompress(dump.read_bytes()).decode())


def states(var: Path) -> list[tuple[int, str]]:
    with closing(sqlite3.connect(var / "db.sqlite3")) as database:
        return database.execute(
            "SELECT image_id, body FROM annotation_storedstate ORDER BY image_id"
        ).fetchall()


def test_states_of_the_previous_version_hold(tmp_path: Path) -> None:
    load(DATABASE, tmp_path)
    before = states(tmp_path)

    manage("migrate", "--verbosity=0", var=tmp_path)

    assert ALL_HOLD in manage("state_check", var=tmp_path)
    assert states(tmp_path) == before


def test_states_folded_under_older_rules_are_named_and_rebuilt(tmp_path: Path) -> None:
    load(OLDER_RULES, tmp_path)
    manage("migrate", "--verbosity=0", var=tmp_path)

    report = manage("state_check", var=tmp_path, status=1)
    assert "6 of 30 images differ from their facts." in report
    assert "image mariachi (campaign 1): the stored state is not what the facts fold to" in report

    manage("state_check", "--rebuild", var=tmp_path, status=1)
    assert ALL_HOLD in manage("state_check", var=tmp_path)
