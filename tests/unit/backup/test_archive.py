"""A backup's file: what is written can be read, and what is damaged is refused in plain words."""

import stat
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from annotation.pipeline.backup.archive import (
    FORMAT,
    MANIFEST,
    Backup,
    BackupError,
    Manifest,
    archive_create,
    backup_open,
    manifest_write,
    name_check,
    photo_write,
    table_write,
)

ROWS: list[list[Any]] = [[number, f"worker {number}", {"b": 1, "a": None}] for number in range(5)]
PHOTO = b"\x89PNG" + bytes(range(256))
TABLE, IMAGE = "tables/worker.jsonl", "photos/images/1.png"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A backup of one table with five rows, an empty table and a photo."""
    file = tmp_path / "backup.zip"
    with archive_create(file) as archive:
        tables = (
            table_write(archive, "worker", ("id", "name", "more"), [ROWS[:3], ROWS[3:]]),
            table_write(archive, "empty", ("id",), []),
        )
        photos = (photo_write(archive, "images/1.png", [PHOTO[:7], PHOTO[7:]]),)
        now = datetime(2026, 1, 1, tzinfo=UTC)
        migrations: dict[str, tuple[str, ...]] = {"annotation": ("0001_initial",)}
        manifest_write(archive, Manifest(FORMAT, "1.0", now, migrations, tables, photos))
    return file


def rewrite(path: Path, change: Callable[[dict[str, bytes]], object]) -> None:
    """Write the archive anew with other members, all of them whole as ZIP goes."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    change(members)
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


def rewrite_manifest(path: Path, change: Callable[[Any], object]) -> None:
    def changed(members: dict[str, bytes]) -> None:
        manifest = msgspec.json.decode(members[MANIFEST])
        change(manifest)
        members[MANIFEST] = msgspec.json.encode(manifest)

    rewrite(path, changed)


def read(path: Path) -> Backup:
    """Open, check and read everything, as a restore does."""
    with backup_open(path) as backup:
        backup.check(lambda count: None)
        for table in backup.manifest.tables:
            for _ in backup.batches(table, 2):
                pass
        return backup


def refused(path: Path, why: str) -> None:
    with pytest.raises(BackupError, match=why):
        read(path)


def test_what_is_written_is_read(path: Path) -> None:
    steps: list[int] = []
    with backup_open(path) as backup:
        backup.check(steps.append)
        assert steps == [5, 0, 1], "rows of tables, then one for each photo"
        worker, empty = backup.manifest.tables
        assert list(backup.batches(worker, 2)) == [ROWS[:2], ROWS[2:4], ROWS[4:]]
        assert list(backup.batches(worker, 5)) == [ROWS]
        assert list(backup.batches(empty, 2)) == []
        (photo,) = backup.manifest.photos
        assert backup.photo(photo).read() == PHOTO
        assert (photo.size, backup.manifest.rows) == (len(PHOTO), 5)


def test_the_same_content_gives_the_same_bytes(path: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.zip"
    with archive_create(other) as archive, zipfile.ZipFile(path) as first:
        mixed = [[*row[:2], dict(reversed(row[2].items()))] for row in ROWS]
        table_write(archive, "worker", ("id", "name", "more"), [mixed])
        assert first.read(TABLE) == b"".join(
            b'[%d,"worker %d",{"a":null,"b":1}]\n' % (n, n) for n in range(5)
        )
    with zipfile.ZipFile(other) as again, zipfile.ZipFile(path) as first:
        assert again.read(TABLE) == first.read(TABLE)
        assert again.getinfo(TABLE).date_time == first.getinfo(TABLE).date_time


def test_only_its_owner_may_read_it(path: Path) -> None:
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_what_is_there_is_overwritten_only_by_force(path: Path) -> None:
    with pytest.raises(BackupError, match="already exists"), archive_create(path):
        pass
    with archive_create(path, force=True) as archive:
        archive.writestr("x", b"")
    with zipfile.ZipFile(path) as archive:
        assert archive.namelist() == ["x"]
    with pytest.raises(BackupError, match="is a folder"), archive_create(path.parent, force=True):
        pass
    with pytest.raises(BackupError, match="no folder"), archive_create(path / "no" / "b.zip"):
        pass


def test_nothing_is_left_of_a_backup_that_fails(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), archive_create(tmp_path / "b.zip"):
        raise RuntimeError
    assert not list(tmp_path.iterdir())


def test_a_file_that_appears_meanwhile_is_kept(tmp_path: Path) -> None:
    file = tmp_path / "b.zip"
    with pytest.raises(BackupError, match="already exists"), archive_create(file):
        file.write_text("another's")
    assert file.read_text() == "another's"


def test_no_file_and_no_zip_are_no_backups(path: Path) -> None:
    refused(path.with_name("none.zip"), "there is no file")
    path.write_bytes(path.read_bytes()[:-40])
    refused(path, "is not a backup, or it is incomplete or damaged")


def test_an_archive_without_manifest_is_no_backup(path: Path) -> None:
    rewrite(path, lambda members: members.pop(MANIFEST))
    refused(path, f"is not a Chainbox backup: it has no {MANIFEST}")


@pytest.mark.parametrize("number", [FORMAT - 1, FORMAT + 1])
def test_another_format_is_named_before_anything_else_is_read(path: Path, number: int) -> None:
    rewrite(path, lambda m: m.update({MANIFEST: b'{"format": %d}' % number}))
    refused(path, f"has format {number}; this Chainbox reads format {FORMAT}$")


def test_a_damaged_manifest_is_refused(path: Path) -> None:
    rewrite(path, lambda members: members.update({MANIFEST: b'{"format": 1}'}))
    refused(path, f"is damaged: {MANIFEST}")


@pytest.mark.parametrize("member", [TABLE, IMAGE])
def test_a_missing_member_is_named(path: Path, member: str) -> None:
    rewrite(path, lambda members: members.pop(member))
    refused(path, f"is damaged: {member} is missing$")


def test_files_that_the_manifest_does_not_name_are_refused(path: Path) -> None:
    rewrite(path, lambda members: members.update({"tables/more.jsonl": b""}))
    refused(path, "contains files that its manifest does not list")


@pytest.mark.parametrize("member", [TABLE, IMAGE])
def test_another_content_than_was_written_is_refused(path: Path, member: str) -> None:
    rewrite(path, lambda members: members.update({member: members[member] + b"\n"}))
    refused(path, f"is damaged: {member} does not match its checksum$")


@pytest.mark.parametrize("rows", [4, 6])
def test_more_or_fewer_rows_than_the_manifest_says_are_refused(path: Path, rows: int) -> None:
    rewrite_manifest(path, lambda manifest: manifest["tables"][0].update(rows=rows))
    refused(path, f"worker has 5 rows instead of {rows}$")


@pytest.mark.parametrize("columns", [["id", "name"], ["id", "name", "more", "most"]])
def test_rows_with_other_columns_are_refused(path: Path, columns: list[str]) -> None:
    rewrite_manifest(path, lambda manifest: manifest["tables"][0].update(columns=columns))
    refused(path, "a row of worker has the wrong number of columns$")


@pytest.mark.parametrize("name", ["../a", "/a", "a/../b", "a\\b", ".a", "a/.b", "a//b", "", "a b"])
def test_names_that_lead_elsewhere_are_refused(path: Path, name: str) -> None:
    with pytest.raises(BackupError, match="is not a valid name for a table or photo"):
        name_check(name)
    with zipfile.ZipFile(path.with_name("other.zip"), "w") as archive:
        for write in (
            lambda: table_write(archive, name, (), []),
            lambda: photo_write(archive, name, []),
        ):
            with pytest.raises(BackupError, match="is not a valid name for a table or photo"):
                write()
    rewrite_manifest(path, lambda manifest: manifest["photos"][-1].update(name=name))
    refused(path, "is not a valid name for a table or photo")
    rewrite_manifest(path, lambda manifest: manifest.update(photos=[]))
    rewrite_manifest(path, lambda manifest: manifest["tables"][-1].update(name=name))
    refused(path, "is not a valid name for a table or photo")
