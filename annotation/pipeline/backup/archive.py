"""A backup's file: a ZIP of one file of JSON lines per table, the photos, and a manifest.

The manifest is written last, so a backup without one was never finished. Names in the ZIP are
looked up and never used as paths.
"""

import hashlib
import re
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from io import BufferedReader
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import msgspec

from annotation.pipeline.backup.limits import (
    BATCH_BYTES,
    LONGEST_ROW,
    MOST_MEMBERS,
    BackupLimitError,
    check_contents,
    check_manifest,
    check_manifest_size,
    check_row,
    check_unfolding,
)
from common.files.whole import whole_file

FORMAT = 1
MANIFEST = "manifest.json"
BLOCK = 1 << 20
# Not absolute, not hidden, no "..", and nothing special to a shell or another system.
SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*(/[A-Za-z0-9][A-Za-z0-9._-]*)*")

# Sort the keys of JSON values, because PostgreSQL does not keep their order.
_encoder = msgspec.json.Encoder(order="deterministic")


class BackupError(ValueError):
    """The backup cannot be written or restored; the message says why."""


class Table(msgspec.Struct, frozen=True):
    """A table's file: a JSON array a line, in the order of `columns`.

    `last_number` is the last primary key that the database assigned; its row may be deleted.
    """

    name: str
    columns: tuple[str, ...]
    rows: int
    sha256: str
    last_number: int | None = None


class Photo(msgspec.Struct, frozen=True):
    """A photo, by its name in the file storage."""

    name: str
    size: int
    sha256: str


class Manifest(msgspec.Struct, frozen=True):
    """What a backup contains. `missing` lists photos that the file storage did not have."""

    format: int
    chainbox: str
    written_at: datetime
    migrations: dict[str, tuple[str, ...]]
    tables: tuple[Table, ...]
    photos: tuple[Photo, ...]
    missing: tuple[str, ...] = ()

    @property
    def rows(self) -> int:
        return sum(table.rows for table in self.tables)


class _Format(msgspec.Struct):
    format: int


def table_member(name: str) -> str:
    return f"tables/{name}.jsonl"


def photo_member(name: str) -> str:
    return f"photos/{name}"


def name_check(name: str) -> None:
    """Refuse a name that could lead out of the file storage."""
    if not SAFE_NAME.fullmatch(name):
        raise BackupError(f"{name!r} is not a valid name for a table or photo")


# --- Writing ---------------------------------------------------------------------------------


@contextmanager
def archive_create(path: Path, *, force: bool = False) -> Iterator[ZipFile]:
    """Write an archive under a temporary name; `path` appears only once it is complete."""
    if not path.parent.is_dir():
        raise BackupError(f"there is no folder {path.parent}")
    if path.is_dir():
        raise BackupError(f"{path} is a folder, not a file")
    # Readable by its owner only: a backup holds the accounts.
    try:
        with (
            whole_file(path, private=True, replace=force) as stream,
            ZipFile(stream, "w") as archive,
        ):
            yield archive
    except FileExistsError as error:
        if error.filename != str(path):
            raise
        raise BackupError(f"{path} already exists; use --force to overwrite it") from None


def table_write(
    archive: ZipFile, name: str, columns: Sequence[str], batches: Iterable[Sequence[Sequence[Any]]]
) -> Table:
    """Write a table's rows, a batch at a time."""
    name_check(name)
    rows, digest = 0, hashlib.sha256()
    with _member(archive, table_member(name), ZIP_DEFLATED) as out:
        for batch in batches:
            lines = _encoder.encode_lines(batch)
            out.write(lines)
            digest.update(lines)
            rows += len(batch)
    return Table(name=name, columns=tuple(columns), rows=rows, sha256=digest.hexdigest())


def photo_write(archive: ZipFile, name: str, chunks: Iterable[bytes]) -> Photo:
    """Write a photo uncompressed, because photos are compressed already."""
    name_check(name)
    if len(archive.filelist) >= MOST_MEMBERS:
        raise BackupError(f"a backup holds at most {MOST_MEMBERS:,} photos and tables")
    size, digest = 0, hashlib.sha256()
    with _member(archive, photo_member(name), ZIP_STORED) as out:
        for chunk in chunks:
            out.write(chunk)
            digest.update(chunk)
            size += len(chunk)
    return Photo(name=name, size=size, sha256=digest.hexdigest())


def manifest_write(archive: ZipFile, manifest: Manifest) -> None:
    with _member(archive, MANIFEST, ZIP_DEFLATED) as out:
        out.write(msgspec.json.format(msgspec.json.encode(manifest), indent=1))


def _member(archive: ZipFile, name: str, compression: int) -> IO[bytes]:
    # A fixed date: the same content gives the same bytes.
    info = ZipInfo(name)
    info.compress_type = compression
    return archive.open(info, "w", force_zip64=True)


# --- Reading ---------------------------------------------------------------------------------


class Backup:
    """An open backup. Call `check` before relying on the rest: it reads everything once."""

    def __init__(self, archive: ZipFile, path: Path) -> None:
        self._archive = archive
        self.path = path
        self.manifest = self._manifest_read()
        self._members_check()

    def check(self, step: Callable[[int], None]) -> None:
        """Compare every table and photo with its checksum; `step` counts rows and photos."""
        for table in self.manifest.tables:
            self._rows_check(table)
            step(table.rows)
        for photo in self.manifest.photos:
            self._digest_check(photo_member(photo.name), photo.sha256)
            step(1)

    def batches(self, table: Table, size: int) -> Iterator[list[list[Any]]]:
        """Yield a table's rows, `size` at a time."""
        rows, filled, batch = 0, 0, list[list[Any]]()
        decoder = msgspec.json.Decoder(list[Any])
        with self._damage(table.name):
            for line in self._lines(table):
                row = decoder.decode(line)
                if len(row) != len(table.columns):
                    raise BackupError(
                        f"{self.path}: a row of {table.name} has the wrong number of columns"
                    )
                batch.append(row)
                rows += 1
                filled += len(line)
                if len(batch) == size or filled > BATCH_BYTES:
                    yield batch
                    filled, batch = 0, []
        if rows != table.rows:
            raise BackupError(f"{self.path}: {table.name} has {rows} rows instead of {table.rows}")
        if batch:
            yield batch

    def photo(self, photo: Photo) -> IO[bytes]:
        """Open a photo."""
        return self._archive.open(photo_member(photo.name))

    def _manifest_read(self) -> Manifest:
        if MANIFEST not in self._archive.namelist():
            raise BackupError(f"{self.path} is not a Chainbox backup: it has no {MANIFEST}")
        with self._damage(MANIFEST):
            members = len(self._archive.filelist)
            check_manifest_size(self._archive.getinfo(MANIFEST), members)
            encoded = self._archive.read(MANIFEST)
            check_manifest(encoded, members)
            format_ = msgspec.json.decode(encoded, type=_Format).format
            if format_ != FORMAT:
                raise BackupError(
                    f"{self.path} has format {format_}; this Chainbox reads format {FORMAT}"
                )
            return msgspec.json.decode(encoded, type=Manifest)

    def _members_check(self) -> None:
        names = self._archive.namelist()
        unexpected = set(names) - {MANIFEST}
        twice = len(set(names)) < len(names)
        for name, member in self._members():
            if not SAFE_NAME.fullmatch(name):
                raise BackupError(f"{self.path}: {name!r} is not a valid name for a table or photo")
            if member not in unexpected:
                what = "is listed twice" if member in self._archive.NameToInfo else "is missing"
                raise BackupError(f"{self.path} is damaged: {member} {what}")
            unexpected.discard(member)
        if unexpected or twice:
            raise BackupError(f"{self.path} contains files that its manifest does not list")

    def _members(self) -> Iterator[tuple[str, str]]:
        for table in self.manifest.tables:
            yield table.name, table_member(table.name)
        for photo in self.manifest.photos:
            yield photo.name, photo_member(photo.name)

    def _lines(self, table: Table) -> Iterator[bytes]:
        with self._open(table_member(table.name)) as stream:
            while line := stream.readline(LONGEST_ROW + 1):
                check_row(line)
                yield line

    def _rows_check(self, table: Table) -> None:
        digest = hashlib.sha256()
        member = table_member(table.name)
        with self._damage(member):
            for line in self._lines(table):
                digest.update(line)
        if digest.hexdigest() != table.sha256:
            raise BackupError(f"{self.path} is damaged: {member} does not match its checksum")

    def _digest_check(self, member: str, expected: str) -> None:
        digest = hashlib.sha256()
        with self._damage(member), self._open(member) as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
        if digest.hexdigest() != expected:
            raise BackupError(f"{self.path} is damaged: {member} does not match its checksum")

    def _open(self, member: str) -> BufferedReader:
        # Python's stubs omit its readinto method.
        return BufferedReader(self._archive.open(member), BLOCK)  # type: ignore[arg-type]

    @contextmanager
    def _damage(self, member: str) -> Iterator[None]:
        """Turn the errors that damaged bytes cause in zipfile and the decoders into plain words."""
        try:
            yield
        except BackupError:
            raise
        except (
            *(BadZipFile, zlib.error, struct.error, EOFError, OSError, OverflowError),
            *(NotImplementedError, RuntimeError, ValueError, msgspec.MsgspecError),
        ) as error:
            raise BackupError(f"{self.path} is damaged: {member}: {error}") from error


@contextmanager
def backup_open(path: Path) -> Iterator[Backup]:
    """Open a backup and read its manifest."""
    if not path.is_file():
        raise BackupError(f"there is no file {path}")
    try:
        check_contents(path)
        archive = ZipFile(path)
        check_unfolding(archive, path.stat().st_size)
    except BackupLimitError as error:
        raise BackupError(f"{path} is not a Chainbox backup: {error}") from error
    except (BadZipFile, struct.error, OSError, ValueError, NotImplementedError) as error:
        raise BackupError(
            f"{path} is not a backup, or it is incomplete or damaged: {error}"
        ) from error
    with archive:
        yield Backup(archive, path)
