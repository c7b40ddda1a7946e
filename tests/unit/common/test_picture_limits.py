"""What a photo costs is known before it is decoded: each limit exactly, one more is refused."""

import struct
from collections.abc import Callable

import pytest
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

from common.files import picture_limits
from common.files.picture_limits import (
    MAX_PIXELS,
    MOST_CHUNKS,
    MOST_EXIF,
    MOST_METADATA,
    MOST_OTHER_CHUNKS,
    MOST_PACKED_CHUNKS,
    MOST_SCANS,
    MOST_SEGMENTS,
    MOST_WEBP_CHUNKS,
    PictureLimitError,
    check_exif,
    check_file,
    check_memory,
    check_size,
)

PNG = b"\x89PNG\r\n\x1a\n"


def refused(content: bytes) -> str:
    with pytest.raises(PictureLimitError) as caught:
        check_file(content)
    return str(caught.value)


def test_the_limits_are_those_that_the_documents_name() -> None:
    assert (MAX_PIXELS, picture_limits.MAX_BYTES) == (100_000_000, 100 * 2**20)
    assert picture_limits.MAX_MEMORY == 190 * 2**20
    assert (MOST_SEGMENTS, MOST_SCANS, MOST_WEBP_CHUNKS) == (5000, 30, 1000)
    assert (MOST_CHUNKS, MOST_OTHER_CHUNKS, MOST_PACKED_CHUNKS) == (50_000, 2000, 16)
    assert (MOST_EXIF, MOST_METADATA) == (2**20, 16 * 2**20)


def test_sizes() -> None:
    check_size((10_000, 10_000), MAX_PIXELS)
    check_size((1, 1), 1)
    for size in ((0, 5), (5, 0), (10_000, 10_001)):
        with pytest.raises(PictureLimitError):
            check_size(size, MAX_PIXELS)
    check_memory(7, (1, 1), 7)
    with pytest.raises(PictureLimitError, match="decoding it would take 3 MB"):
        check_memory(3 * 2**20, (1, 1), 2**20)


# EXIF


def exif(kind: int, many: int, *, entries: int = 1, order: str = "<", size: int = 0) -> bytes:
    """Make a table of equal entries, filled up to a size."""
    head = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(f"{order}IH", 8, entries)
    table = head + entries * struct.pack(f"{order}HHI4x", 0x0100, kind, many)
    return b"Exif\0\0" + table.ljust(size, b"\0")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(
    ("kind", "unit"),
    [
        *((1, 1), (2, 1), (3, 2), (4, 4), (5, 8), (6, 1), (7, 1), (8, 2), (9, 4), (10, 8)),
        *((11, 4), (12, 8), (13, 4), (16, 8), (99, 8)),
    ],
)
def test_exif_entries_name_no_more_than_twice_the_table_and_64_kb(
    kind: int, unit: int, order: str
) -> None:
    size = 2**17
    # One entry counts as the whole table at most, so it takes three and a part.
    allowed = 2 * size + 2**16
    check_exif(exif(kind, allowed // 4 // unit, entries=4, order=order, size=size))
    with pytest.raises(PictureLimitError, match="over and over"):
        check_exif(exif(kind, allowed // 4 // unit + 1, entries=4, order=order, size=size))
    check_exif(exif(kind, 2**30, entries=2, order=order, size=size))


def test_exif_that_is_none_ends_too_soon_or_is_of_another_kind() -> None:
    for harmless in (b"", b"Exif\0\0", b"Exif\0\0II*\0", b"Exif\0\0II*\0\x08\0\0\0\xff\xff", b"XX"):
        check_exif(harmless)
    for strange in (b"II+\0", b"MM\0+"):
        with pytest.raises(PictureLimitError, match="no camera writes"):
            check_exif(b"Exif\0\0" + strange)


LOUD = exif(1, 2**20, entries=9, size=200)  # harmless: it is small
BAD = exif(1, 2**17, entries=4, size=2**17)  # it names 512 KB and is of 128 KB


# JPEG


def jpeg(*segments: tuple[int, bytes], scans: int = 1, between: bytes = b"") -> bytes:
    parts = [b"\xff\xd8"]
    for marker, data in segments:
        parts.append(bytes([0xFF, marker]) + struct.pack(">H", len(data) + 2) + data + between)
    if len(segments) == 0:
        parts.append(b"\xff\xe0\0\x02")
    return b"".join(parts) + b"\xff\xda\0\x02pixels" * scans + b"\xff\xd9"


def test_jpeg_scans() -> None:
    assert check_file(jpeg(scans=MOST_SCANS)) is JpegImageFile
    assert "more than 30 passes" in refused(jpeg(scans=MOST_SCANS + 1))


def test_jpeg_segments() -> None:
    part = (0xE0, b"")
    assert check_file(jpeg(*[part] * (MOST_SEGMENTS - 1))) is JpegImageFile
    assert "more than 5,000 parts" in refused(jpeg(*[part] * MOST_SEGMENTS))


def test_jpeg_metadata() -> None:
    # The length that a segment states counts itself.
    full = (0xE2, b"x" * (2**15 - 2))
    number = MOST_METADATA // 2**15
    assert check_file(jpeg(*[full] * number)) is JpegImageFile
    assert "more than 16 MB of data beside" in refused(jpeg(*[full] * number, (0xE2, b"")))


def test_jpeg_exif_is_put_together_of_its_segments() -> None:
    head, half = b"Exif\0\0", 2**15
    first = (0xE1, head + b"\0" * half)
    number = (MOST_EXIF - 6) // half
    rest = (0xE1, head + b"\0" * (MOST_EXIF - 6 - number * half))
    assert check_file(jpeg(*[first] * number, rest)) is JpegImageFile
    more = (0xE1, head + b"\0" * (MOST_EXIF - 5 - number * half))
    assert "more than 1 MB of EXIF" in refused(jpeg(*[first] * number, more))


def test_jpeg_exif_is_looked_at_wherever_it_stands() -> None:
    parts = [BAD[6 + at : 6 + at + 60_000] for at in range(0, len(BAD) - 6, 60_000)]
    segments = [(0xE1, b"Exif\0\0" + part) for part in parts]
    assert "over and over" in refused(jpeg((0xE0, b"JFIF"), *segments))
    # Fill bytes and markers without content may stand between segments.
    for between in (b"\xff", b"\xff\xff", b"\xff\x01", b"\xff\xd0", b"\xff\xd8", b"\xff\0"):
        assert "over and over" in refused(jpeg((0xE0, b"JFIF"), *segments, between=between))
    # Neither another application's segment nor one without the head is EXIF.
    assert check_file(jpeg(*[(0xE2, data) for _, data in segments])) is JpegImageFile
    assert check_file(jpeg(*[(0xE1, part) for part in parts])) is JpegImageFile
    # What comes after the first pixels is no metadata.
    assert check_file(jpeg(scans=1) + jpeg(*segments)[2:]) is JpegImageFile


def test_jpeg_that_breaks_off() -> None:
    whole = jpeg((0xE0, b"JFIF"), (0xE1, LOUD))
    for length in range(3, len(whole)):
        assert check_file(whole[:length]) is JpegImageFile


# PNG


def png(
    *kinds: bytes, data: Callable[[bytes], bytes] = lambda kind: b"", end: bool = True
) -> bytes:
    all_kinds = (*kinds, b"IEND") if end else kinds
    return PNG + b"".join(
        struct.pack(">I", len(data(kind))) + kind + data(kind) + b"\0\0\0\0" for kind in all_kinds
    )


def test_png_chunks() -> None:
    assert check_file(png(*[b"IDAT"] * (MOST_CHUNKS - 1))) is PngImageFile
    assert "more parts than a photo" in refused(png(*[b"IDAT"] * MOST_CHUNKS))
    assert check_file(png(*[b"tEXt"] * (MOST_OTHER_CHUNKS - 1))) is PngImageFile
    assert "more parts than a photo" in refused(png(*[b"tEXt"] * MOST_OTHER_CHUNKS))


@pytest.mark.parametrize("kind", [b"zTXt", b"iTXt", b"iCCP"])
def test_png_packed_chunks(kind: bytes) -> None:
    assert check_file(png(*[kind] * MOST_PACKED_CHUNKS)) is PngImageFile
    assert "more parts than a photo" in refused(png(*[kind] * (MOST_PACKED_CHUNKS + 1)))


def test_png_exif() -> None:
    bad = png(b"IHDR", b"eXIf", data=lambda kind: BAD[6:] if kind == b"eXIf" else b"12345")
    assert "over and over" in refused(bad)
    # After the end nothing is looked at.
    assert check_file(png() + bad[8:]) is PngImageFile
    assert check_file(bad[: 8 + 17 + 7]) is PngImageFile


# WebP


def webp(*chunks: tuple[bytes, bytes], first: bytes | None = None) -> bytes:
    head = first or webp_vp8x(20, 10)
    body = b"".join(
        kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
        for kind, data in chunks
    )
    return b"RIFF" + struct.pack("<I", 4 + len(head + body)) + b"WEBP" + head + body


def webp_vp8x(width: int, height: int) -> bytes:
    sizes = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"VP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + sizes


def webp_vp8(width: int, height: int) -> bytes:
    return (
        b"VP8 " + struct.pack("<I", 10) + b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", width, height)
    )


def webp_vp8l(width: int, height: int) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return b"VP8L" + struct.pack("<I", 5) + b"\x2f" + bits.to_bytes(4, "little") + b"\0"


def test_webp_chunks() -> None:
    part = (b"ANMF", b"")
    assert check_file(webp(*[part] * (MOST_WEBP_CHUNKS - 1))) is WebPImageFile
    assert "more parts than a photo" in refused(webp(*[part] * MOST_WEBP_CHUNKS))


def test_webp_exif_after_chunks_of_odd_length() -> None:
    assert "over and over" in refused(webp((b"ICCP", b"odd"), (b"EXIF", BAD)))
    assert "over and over" in refused(webp((b"ICCP", b"even"), (b"EXIF", BAD)))


@pytest.mark.parametrize("head", [webp_vp8x, webp_vp8, webp_vp8l])
def test_webp_sizes(head: Callable[[int, int], bytes]) -> None:
    assert check_file(webp(first=head(20, 10))) is WebPImageFile
    with pytest.raises(PictureLimitError, match="it is 20 × 10, which is more than 199 pixels"):
        check_file(webp(first=head(20, 10)), max_pixels=199)
    assert check_file(webp(first=head(20, 10)), max_pixels=200) is WebPImageFile
    for length in range(12, len(webp(first=head(20, 10)).rstrip(b"\0")) - 6):
        assert "it has no size" in refused(webp(first=head(20, 10))[:length])


def test_webp_memory() -> None:
    content = webp(first=webp_vp8x(20, 10))
    needed = 16 * 200 + 4 * len(content)
    assert check_file(content, max_memory=needed) is WebPImageFile
    with pytest.raises(PictureLimitError, match="decoding it would take"):
        check_file(content, max_memory=needed - 1)


def test_what_is_no_photo() -> None:
    for content in (b"", b"GIF89a", b"RIFF\0\0\0\0WAVE", b"\xff\xd8", PNG[:7]):
        assert "no JPEG, PNG or WebP" in refused(content)
