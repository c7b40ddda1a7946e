"""A newcomer who has not migrated the database is told to do so, and sees no traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.processes import ROOT, environment


@pytest.mark.parametrize(
    "words",
    [
        ["corpus_import", "captions.csv", "--campaign", "zoo"],
        ["crowd_simulate", "--campaign", "zoo"],
        ["state_check"],
        ["demo_load"],
        ["marketplace_requester", "lab"],
    ],
    ids=lambda words: words[0],
)
def test_commands_say_to_migrate(tmp_path: Path, words: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment(CHAINBOX_VAR=str(tmp_path)),
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "run `python manage.py migrate` first" in done.stderr
    assert "Traceback" not in done.stderr
