"""Other accounts on the machine cannot read the files that the site writes."""

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

from config.private_files import file_private, folder_private
from tests.processes import ROOT, environment


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def manage(*arguments: str, **settings: str) -> None:
    """Run a command as a process whose umask hides nothing."""
    subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=environment(**settings),
        cwd=ROOT,
        check=True,
        umask=0o000,
        capture_output=True,
    )


def test_folder_and_database_are_made_for_their_owner_alone(tmp_path: Path) -> None:
    var = tmp_path / "var"
    manage("migrate", "--verbosity=0", CHAINBOX_VAR=str(var))
    assert mode(var) == 0o700
    databases = list(var.glob("chainbox.sqlite3*"))
    assert databases
    assert {mode(file) for file in databases} == {0o600}


def test_a_database_elsewhere_is_private_too(tmp_path: Path) -> None:
    file = tmp_path / "elsewhere.sqlite3"
    url = f"sqlite:///{file}"
    manage("migrate", "--verbosity=0", CHAINBOX_VAR=str(tmp_path / "var"), DATABASE_URL=url)
    assert mode(file) == 0o600


def test_what_was_readable_is_closed_to_others(tmp_path: Path) -> None:
    var = tmp_path / "var"
    var.mkdir()
    var.chmod(0o755)
    file = var / "chainbox.sqlite3"
    file.touch()
    file.chmod(0o644)
    manage("check", CHAINBOX_VAR=str(var))
    assert (mode(var), mode(file)) == (0o750, 0o640)


def test_files_beside_the_database_take_after_it(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        file = tmp_path / "chainbox.sqlite3"
        file_private(file)
        connection = sqlite3.connect(file)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE rows (number INTEGER)")
        connection.commit()
        assert {mode(one) for one in tmp_path.iterdir()} == {0o600}
        assert len(list(tmp_path.iterdir())) == 3
        connection.close()
    finally:
        os.umask(before)


def test_a_file_that_cannot_be_made_is_left_to_whoever_opens_it(tmp_path: Path) -> None:
    file_private(tmp_path / "nowhere" / "chainbox.sqlite3")
    assert not (tmp_path / "nowhere").exists()
    folder_private(tmp_path / "some" / "where")
    assert mode(tmp_path / "some" / "where") == 0o700
