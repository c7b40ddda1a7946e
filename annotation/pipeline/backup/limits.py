"""How large the parts of a backup may be, checked before they are read.

A ZIP of half a megabyte can unpack to hundreds, and its table of contents, its manifest and its
rows each take many times their bytes in memory.
"""

import re
import struct
from pathlib import Path
from typing import IO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

# Photos and tables together. Each takes more than a kilobyte of memory while a backup is read.
MOST_MEMBERS = 130_000
LARGEST_ENTRY = 300  # bytes in the table of contents, and in the manifest
MANIFEST_BYTES = 8 * 2**20
MANIFEST_QUOTES = 100_000
ENTRY_QUOTES = 12
# Tables shrink to about a tenth, photos not at all.
MOST_UNFOLDED = 200
FREE_BYTES = 64 * 2**20
LONGEST_ROW = 16 * 2**20
# Bytes of rows that are read at once.
BATCH_BYTES = 4 * 2**20
_PLAIN_ROW = 2**18
_MOST_VALUES = 100_000

_END = struct.Struct("<4s4H2LH")
_END64_PLACE = struct.Struct("<4sLQL")
_END64 = struct.Struct("<4sQ2H2L4Q")
_ENTRY = struct.Struct("<4s24x3H12x")
_STRING = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)


class BackupLimitError(ValueError):
    """A part of a backup is too large; the message names it."""


def check_contents(path: Path) -> None:
    """Refuse a ZIP whose table of contents is too large to read; ignore other files."""
    with path.open("rb") as file:
        found = _directory(file)
        if found is None:
            return
        start, size = found
        if size > LARGEST_ENTRY * MOST_MEMBERS:
            raise _too_many()
        file.seek(start)
        members = 0
        while file.tell() < start + size:
            entry = file.read(_ENTRY.size)
            if len(entry) < _ENTRY.size or entry[:4] != b"PK\1\2":
                return
            members += 1
            if members > MOST_MEMBERS:
                raise _too_many()
            file.seek(sum(_ENTRY.unpack(entry)[1:]), 1)


def check_unfolding(archive: ZipFile, size: int) -> None:
    """Refuse a ZIP of `size` bytes that would unpack to far more, or that uses bytes twice."""
    members = archive.infolist()
    for member in members:
        if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise BackupLimitError(
                f"{member.filename} uses a compression method that backups never use"
            )
    if sum(member.compress_size for member in members) > size:
        raise BackupLimitError("its files overlap")
    unfolded = sum(member.file_size for member in members)
    if unfolded > MOST_UNFOLDED * size + FREE_BYTES:
        raise BackupLimitError(
            f"it would unpack to {unfolded // 2**20:,} MB, more than {MOST_UNFOLDED} times its size"
        )


def check_manifest_size(member: ZipInfo, members: int) -> None:
    if member.file_size > MANIFEST_BYTES + LARGEST_ENTRY * members:
        raise BackupLimitError(
            f"{member.filename} has {member.file_size:,} bytes, too many for {members:,} files"
        )


def check_manifest(content: bytes, members: int) -> None:
    """Refuse a manifest with far more texts than the ZIP has members: each costs memory."""
    if content.count(b'"') > MANIFEST_QUOTES + ENTRY_QUOTES * members:
        raise BackupLimitError(f"the manifest has far too many entries for {members:,} files")


def check_row(line: bytes) -> None:
    """Refuse a row that is too long or has too many values."""
    if len(line) > LONGEST_ROW:
        raise BackupLimitError(f"a row is longer than {LONGEST_ROW // 2**20} MB")
    if len(line) > _PLAIN_ROW:
        bare = _STRING.sub(b"", line)
        if sum(map(bare.count, (b",", b"[", b"{"))) > _MOST_VALUES:
            raise BackupLimitError(f"a row has more than {_MOST_VALUES:,} values")


def _directory(file: IO[bytes]) -> tuple[int, int] | None:
    """Return where the table of contents begins and its size, as Python's zipfile finds it."""
    end = file.seek(0, 2)
    start = max(0, end - _END.size - 0xFFFF)
    file.seek(start)
    tail = file.read()
    at = len(tail) - _END.size
    if at < 0:
        return None
    if tail[at : at + 4] != b"PK\5\6" or tail[-2:] != b"\0\0":
        at = tail.rfind(b"PK\5\6")
    if at < 0 or at + _END.size > len(tail):
        return None
    size: int = _END.unpack_from(tail, at)[5]
    place = start + at
    before = place - _END64_PLACE.size - _END64.size
    if before >= 0:
        file.seek(before)
        record = file.read(_END64.size)
        if file.read(4) == b"PK\6\7" and record[:4] == b"PK\6\6":
            size, place = _END64.unpack(record)[8], before
    return max(0, place - size), size


def _too_many() -> BackupLimitError:
    return BackupLimitError(f"it has more than {MOST_MEMBERS:,} files")
