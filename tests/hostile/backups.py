"""Backups that unfold to far more than they are, or contradict themselves."""

import struct
import zlib
from collections.abc import Callable
from hashlib import sha256
from io import BytesIO
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile

from tests.hostile.cases import Case, file_of
from tests.hostile.database import prepare_campaign as prepare
from tests.hostile.readers import backup

__all__ = ["CASES", "prepare"]

HEAD = '"format": 1, "chainbox": "0", "written_at": "2026-01-01T00:00:00Z", "migrations": {}'


def archive(*members: tuple[str, bytes], how: int = ZIP_DEFLATED) -> bytes:
    file = BytesIO()
    with ZipFile(file, "w", how) as made:
        for name, content in members:
            made.writestr(name, content)
    return file.getvalue()


def manifest(tables: str = "", photos: str = "", more: str = "", head: str = HEAD) -> bytes:
    return f'{{{head}, "tables": [{tables}], "photos": [{photos}]{more}}}'.encode()


def with_manifest(content: bytes, *members: tuple[str, bytes], how: int = ZIP_DEFLATED) -> bytes:
    return archive(("manifest.json", content), *members, how=how)


def table(name: str, rows: bytes, columns: str = '"id"') -> bytes:
    """A backup of one table, whose checksum is right."""
    told = f'{{"name": "{name}", "columns": [{columns}], "rows": 1, "sha256": '
    described = f'{told}"{sha256(rows).hexdigest()}"}}'
    return with_manifest(manifest(described), (f"tables/{name}.jsonl", rows))


def photo(name: str) -> str:
    return f'{{"name": "{name}", "size": 1, "sha256": ""}}'


def many_members(count: int) -> bytes:
    """A table of contents of many entries, all for the same bytes."""
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"a"
    entry = struct.pack("<4s6H3L5H2L", b"PK\1\2", 20, 20, 0, 0, 0, 0, 0, 0, 0, 1, *[0] * 6) + b"a"
    size = len(entry) * count
    end = struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, size, len(local), 0
    )
    return local + entry * count + end


def overlapping(count: int, size: int, said: int | None = None) -> bytes:
    """Entries that all point at the same packed bytes."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = packer.compress(bytes(size)) + packer.flush()
    size = said or size
    local = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 8, 0, 0, 0, len(packed), size, 13, 0)
    body = local + b"manifest.json" + packed
    entries = b""
    for number in range(count):
        name = b"manifest.json" if number == 0 else f"tables/t{number}.jsonl".encode()
        entries += (
            struct.pack(
                "<4s6H3L5H2L",
                *(b"PK\1\2", 20, 20, 0, 8, 0, 0, 0, len(packed), size, len(name), *[0] * 6),
            )
            + name
        )
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count, count, len(entries), len(body), 0)
    return body + entries + end


def case(name: str, content: Callable[[], bytes], *says: str) -> Case:
    return Case(name, file_of("backup.zip", content), backup, ("backup.zip", *says))


CASES = [
    case("manifest of 600 MB in 0.6 MB", lambda: with_manifest(b" " * 600_000_000)),
    case("manifest of 60 MB of spaces", lambda: with_manifest(b" " * 60_000_000), "manifest"),
    case(
        "manifest with 1.6 million names",
        lambda: with_manifest(
            manifest(more=', "missing": [' + ",".join(['"aa"'] * 1_600_000) + "]")
        ),
        "manifest",
    ),
    case(
        "manifest with 200,000 photos",
        lambda: with_manifest(manifest(photos=",".join([photo("a")] * 200_000))),
        "manifest",
    ),
    case(
        "manifest of nested arrays",
        lambda: with_manifest(manifest(more=', "x": ' + "[" * 3_000_000)),
        "manifest",
    ),
    case(
        "manifest of nested objects",
        lambda: with_manifest(manifest(more=', "x": ' + '{"a":' * 8_000)),
        "manifest",
    ),
    case(
        "manifest with a format of 5,000 digits",
        lambda: with_manifest(b'{"format": ' + b"1" * 5000 + b"}"),
        "manifest",
    ),
    case(
        "manifest with 5,000 digits of rows",
        lambda: with_manifest(
            manifest('{"name": "a", "columns": [], "sha256": "", "rows": ' + "1" * 5000 + "}")
        ),
        "manifest",
    ),
    case(
        "manifest that is a list",
        lambda: with_manifest(b"[" + b"[]," * 2_000_000 + b"[]]"),
        "manifest",
    ),
    case("manifest twice", lambda: with_manifest(manifest(), ("manifest.json", manifest()))),
    case(
        "photo that leads out of the storage",
        lambda: with_manifest(
            manifest(photos=photo("../../etc/passwd")), ("photos/../../etc/passwd", b"x")
        ),
        "is not a valid name",
    ),
    case(
        "photo with an absolute name",
        lambda: with_manifest(manifest(photos=photo("/etc/passwd")), ("photos//etc/passwd", b"x")),
        "is not a valid name",
    ),
    case(
        "photo named twice",
        lambda: with_manifest(manifest(photos=f"{photo('a')},{photo('a')}"), ("photos/a", b"x")),
        "photos/a",
    ),
    case("2 million entries", lambda: many_members(2_000_000), "130,000 files"),
    case("200,000 entries", lambda: many_members(200_000), "130,000 files"),
    case(
        "60,000 members that the manifest does not name",
        lambda: with_manifest(manifest(), *((f"photos/{n}", b"") for n in range(60_000))),
    ),
    case("1,000 members of the same 100 MB", lambda: overlapping(1000, 100_000_000)),
    case("a member of 4 GB", lambda: overlapping(1, 1_000_000, 4_000_000_000), "unpack"),
    case("table of 500 MB of zeros", lambda: table("t", bytes(500_000_000)), "unpack"),
    case("row of 60 MB", lambda: table("t", b'["' + b"a" * 60_000_000 + b'"]\n'), "row"),
    case(
        "row of two million empty objects",
        lambda: table("t", b"[" + b"{}," * 2_000_000 + b"{}]\n"),
        "values",
    ),
    case(
        "row of five million numbers",
        lambda: table("t", b"[" + b"0," * 5_000_000 + b"0]\n"),
        "values",
    ),
    case(
        "packed with bzip2", lambda: with_manifest(bytes(100_000_000), how=ZIP_BZIP2), "compression"
    ),
    case(
        "packed with LZMA", lambda: with_manifest(bytes(100_000_000), how=ZIP_LZMA), "compression"
    ),
    case(
        "checksum that does not fit",
        lambda: with_manifest(manifest(photos=photo("a")), ("photos/a", b"x")),
        "photos/a",
    ),
    case(
        "cut off in the middle",
        lambda: with_manifest(manifest(), ("photos/a", bytes(1_000_000)))[:600],
    ),
    case("only the end of a ZIP", lambda: b"PK\5\6" + b"\xff" * 18),
    case("comment of 64 KB of ends", lambda: archive(("a", b"")) + b"PK\5\6" * 16_000),
    case("no ZIP at all", lambda: b"x" * 5_000_000),
]
