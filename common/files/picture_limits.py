"""Photos from outside: the cost of decoding one, determined before anything is decoded.

A photo of a few kilobytes may claim 100 megapixels, and a small metadata table may refer to the
same bytes thousands of times. Pillow would spend memory on both, so we look for them first.
"""

import struct
from collections.abc import Iterator

from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile
from PIL.WebPImagePlugin import WebPImageFile

MAX_PIXELS = 100_000_000
MAX_BYTES = 100 * 2**20
# How much memory a photo may take while it is decoded, including its file.
MAX_MEMORY = 190 * 2**20

MOST_SEGMENTS = 5000
MOST_METADATA = 16 * 2**20
# The standard has 64 KB; Pillow joins several parts, and copies them again for each.
MOST_EXIF = 2**20
# Usual progressive JPEGs have ten. Each is a pass over all pixels, even if it has few bytes.
MOST_SCANS = 30
# Writers put 8 KB or more of pixels into a chunk, and a few chunks of everything else.
MOST_CHUNKS = 50_000
MOST_OTHER_CHUNKS = 2000
# Each may decompress to a megabyte.
MOST_PACKED_CHUNKS = 16
MOST_WEBP_CHUNKS = 1000

_ONE_BYTE_MODES = ("1", "L", "P")
_TWO_BYTE_MODES = ("I;16", "I;16B")
# The decoder keeps two canvases; Pillow copies the pixels from it as bytes, then as a picture.
_WEBP_BYTES = 16
_WEBP_COPIES = 4
_UNIT = {1: 1, 2: 1, 3: 2, 4: 4, 5: 8, 6: 1, 7: 1, 8: 2, 9: 4, 10: 8, 11: 4, 12: 8, 13: 4, 16: 8}


class PictureLimitError(ValueError):
    """A photo would cost too much, or is not one that we accept; the message says why."""


def check_file(
    content: bytes, *, max_pixels: int = MAX_PIXELS, max_memory: int = MAX_MEMORY
) -> type[ImageFile]:
    """Return Pillow's reader of a JPEG, PNG or WebP, opened but not yet decoded.

    The content decides the format, not the name. Pillow's own `open` only warns about a photo that
    is too large, by a setting that all threads share, and treats a photo with a thumbnail as a
    format of its own. Its readers, called directly, do neither.
    """
    if content.startswith(b"\xff\xd8\xff"):
        _check_jpeg(content)
        return JpegImageFile
    if content.startswith(b"\x89PNG\r\n\x1a\n"):
        _check_png(content)
        return PngImageFile
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        _check_webp(content, max_pixels, max_memory)
        return WebPImageFile
    raise PictureLimitError("this is no JPEG, PNG or WebP, whatever its name says")


def check_size(size: tuple[int, int], max_pixels: int) -> None:
    """Refuse a photo that has no pixels or too many."""
    width, height = size
    if width < 1 or height < 1:
        raise PictureLimitError(f"it is {width} × {height}: there are no pixels")
    if width * height > max_pixels:
        raise PictureLimitError(
            f"it is {width} × {height}, which is more than {max_pixels:,} pixels"
        )


def check_memory(needed: int, size: tuple[int, int], max_memory: int) -> None:
    if needed > max_memory:
        raise PictureLimitError(
            f"it is {size[0]} × {size[1]}, and decoding it would take {needed // 2**20:,} MB; a "
            f"photo may take {max_memory // 2**20:,} MB. Make it smaller, or save it as a JPEG "
            "that is not progressive"
        )


def decoding_memory(image: ImageFile, content: bytes, *, scale: int = 1) -> int:
    """Return how many bytes decoding takes at most, including the file itself.

    `scale`: a JPEG is decoded to that fraction of its width and height.
    """
    pixels = image.size[0] * image.size[1]
    if isinstance(image, WebPImageFile):
        return _webp_memory(pixels, content)
    each = 1 if image.mode in _ONE_BYTE_MODES else 2 if image.mode in _TWO_BYTE_MODES else 4
    if not isinstance(image, JpegImageFile):
        return pixels * each + len(content)
    memory = pixels * each // scale**2 + len(content)
    if "progressive" in image.info:  # all coefficients are kept until the last pass, two bytes each
        across = max((layer[1] for layer in image.layer), default=1) or 1
        down = max((layer[2] for layer in image.layer), default=1) or 1
        shares = (layer[1] * layer[2] for layer in image.layer)
        memory += 2 * pixels * sum(shares) // (across * down)
    return memory


def check_exif(exif: bytes) -> None:
    """Refuse a table whose entries refer to more bytes than it has: Pillow copies them all."""
    table = exif.removeprefix(b"Exif\0\0")
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(table[:4])
    if order is None:
        if table[:4] in (b"II+\0", b"MM\0+"):
            raise PictureLimitError("its EXIF data is of a kind that no camera writes")
        return
    named = sum(min(size, len(table)) for size in _exif_sizes(table, order))
    if named > 2 * len(table) + 2**16:
        raise PictureLimitError("its EXIF data names the same bytes over and over")


def _exif_sizes(table: bytes, order: str) -> Iterator[int]:
    try:
        (at,) = struct.unpack_from(f"{order}I", table, 4)
        (count,) = struct.unpack_from(f"{order}H", table, at)
        for number in range(count):
            kind, many = struct.unpack_from(f"{order}2xHI", table, at + 2 + 12 * number)
            yield _UNIT.get(kind, 8) * many
    except struct.error:  # it ends too soon: browsers show such a photo as it is, and so do we
        return


# JPEG


def _check_jpeg(content: bytes) -> None:
    """Look at the segments before the pixels, and count the passes over the pixels."""
    exif, at, metadata = b"", 2, 0
    for _ in range(MOST_SEGMENTS):
        marker = content[at + 1] if at + 1 < len(content) else 0xD9
        if content[at : at + 1] != b"\xff" or marker in (0xD9, 0xDA):
            break
        if marker in (0, 0xFF):  # padding
            at += 1 if marker == 0xFF else 2
            continue
        if marker == 1 or 0xD0 <= marker <= 0xD8:  # these have no content
            at += 2
            continue
        length = int.from_bytes(content[at + 2 : at + 4], "big")
        if marker == 0xE1 and content[at + 4 : at + 10] == b"Exif\0\0":
            exif += content[at + 4 + 6 * bool(exif) : at + 2 + length]
        metadata += length
        at += 2 + max(2, length)
        if len(exif) > MOST_EXIF:
            raise PictureLimitError(f"it has more than {MOST_EXIF // 2**20} MB of EXIF data")
        if metadata > MOST_METADATA:
            raise PictureLimitError(
                f"it has more than {MOST_METADATA // 2**20} MB of data beside its pixels"
            )
    else:
        raise PictureLimitError(f"it has more than {MOST_SEGMENTS:,} parts before its pixels")
    check_exif(exif)
    if content.count(b"\xff\xda", at) > MOST_SCANS:
        raise PictureLimitError(f"its pixels come in more than {MOST_SCANS} passes")


# PNG


def _check_png(content: bytes) -> None:
    at, chunks, others, packed = 8, 0, 0, 0
    while at + 8 <= len(content):
        length, kind = struct.unpack_from(">I4s", content, at)
        chunks += 1
        others += kind != b"IDAT"
        packed += kind in (b"zTXt", b"iTXt", b"iCCP")
        if kind == b"eXIf":
            check_exif(content[at + 8 : at + 8 + length])
        if chunks > MOST_CHUNKS or others > MOST_OTHER_CHUNKS or packed > MOST_PACKED_CHUNKS:
            raise PictureLimitError("it has far more parts than a photo")
        if kind == b"IEND":
            return
        at += 12 + length


# WebP


def _check_webp(content: bytes, max_pixels: int, max_memory: int) -> None:
    """Check everything first: the decoder allocates memory for all pixels when it is created."""
    size = _webp_size(content)
    if size is None:
        raise PictureLimitError("the WEBP file is truncated or damaged: it has no size")
    check_size(size, max_pixels)
    check_memory(_webp_memory(size[0] * size[1], content), size, max_memory)
    at, chunks = 12, 0
    while at + 8 <= len(content):
        kind, length = struct.unpack_from("<4sI", content, at)
        chunks += 1
        if chunks > MOST_WEBP_CHUNKS:
            raise PictureLimitError("it has far more parts than a photo")
        if kind == b"EXIF":
            check_exif(content[at + 8 : at + 8 + length])
        at += 8 + length + length % 2


def _webp_size(content: bytes) -> tuple[int, int] | None:
    kind = content[12:16]
    if kind == b"VP8X" and len(content) >= 30:
        width, height = (int.from_bytes(content[at : at + 3], "little") for at in (24, 27))
        return width + 1, height + 1
    if kind == b"VP8 " and content[23:26] == b"\x9d\x01\x2a" and len(content) >= 30:
        width, height = struct.unpack_from("<HH", content, 26)
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L" and len(content) >= 25:
        bits = int.from_bytes(content[21:25], "little")
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _webp_memory(pixels: int, content: bytes) -> int:
    return _WEBP_BYTES * pixels + _WEBP_COPIES * len(content)
