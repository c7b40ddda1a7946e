"""Photos that are small as files and large in memory, or odd in every part but the pixels."""

import random
import struct
import zlib
from collections.abc import Callable
from io import BytesIO
from pathlib import Path

from PIL import Image

from tests.hostile.cases import Case, file_of
from tests.hostile.database import prepare_campaign as prepare
from tests.hostile.experiments import photo
from tests.hostile.readers import corpus_with_photos, picture

__all__ = ["CASES", "prepare"]

Content = Callable[[], bytes]


def encoded(format: str, size: tuple[int, int], mode: str = "RGB", **options: object) -> bytes:
    file = BytesIO()
    Image.new(mode, size).save(file, format, **options)
    return file.getvalue()


def animated(format: str, frames: int) -> bytes:
    file = BytesIO()
    pictures = [Image.new("RGB", (16, 16), (n % 256, n // 256, 0)) for n in range(frames)]
    pictures[0].save(file, format, save_all=True, append_images=pictures[1:], duration=10)
    return file.getvalue()


# JPEG


def segments(*parts: bytes, marker: int = 0xE1) -> bytes:
    """A sound JPEG with these parts of metadata at its beginning."""
    added = b"".join(struct.pack(">BBH", 0xFF, marker, len(part) + 2) + part for part in parts)
    return b"\xff\xd8" + added + encoded("JPEG", (32, 20))[2:]


def exif(entries: int, size: int, order: str = "<") -> bytes:
    """A table of entries each of which names the same `size` bytes."""
    head = b"II*\0" if order == "<" else b"MM\0*"
    rows = b"".join(struct.pack(f"{order}HHII", 1000 + n, 7, size, 8) for n in range(entries))
    return (
        b"Exif\0\0"
        + head
        + struct.pack(f"{order}IH", 8, entries)
        + rows
        + bytes(max(0, size - 12 * entries))
    )


def many_scans(size: tuple[int, int], count: int) -> bytes:
    """A progressive JPEG whose last pass over the pixels comes again and again."""
    content = encoded("JPEG", size, progressive=True)
    last = content.rindex(b"\xff\xda")
    return content[:last] + content[last:-2] * count + content[-2:]


def said_size(content: bytes, width: int, height: int) -> bytes:
    """The same JPEG, said to be of another size."""
    at = next(content.index(mark) for mark in (b"\xff\xc0", b"\xff\xc2") if mark in content)
    return content[: at + 5] + struct.pack(">HH", height, width) + content[at + 9 :]


# PNG


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    parts = [b"\x89PNG\r\n\x1a\n"]
    for kind, data in chunks:
        checksum = zlib.crc32(kind + data)
        parts.append(struct.pack(">I4s", len(data), kind) + data + struct.pack(">I", checksum))
    return b"".join(parts)


def png_with(
    *chunks: tuple[bytes, bytes], size: tuple[int, int] = (8, 8), bits: int = 8, colour: int = 2
) -> bytes:
    header = struct.pack(">IIBBBBB", *size, bits, colour, 0, 0, 0)
    channels = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    row = 1 + (size[0] * channels * bits + 7) // 8
    packer = zlib.compressobj(1)
    pixels = b"".join(packer.compress(bytes(row)) for _ in range(size[1])) + packer.flush()
    return png((b"IHDR", header), *chunks, (b"IDAT", pixels), (b"IEND", b""))


def packed_text(kind: bytes, size: int) -> tuple[bytes, bytes]:
    head = b"key\0\0" if kind != b"iTXt" else b"key\0\1\0\0\0"
    return kind, head + zlib.compress(bytes(size))


# WebP


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"WEBP"
    for kind, data in chunks:
        body += kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def webp_of(width: int, height: int, *chunks: tuple[bytes, bytes], flags: int = 0) -> bytes:
    sides = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    return webp((b"VP8X", bytes([flags, 0, 0, 0]) + sides), *chunks)


def webp_pixels(size: tuple[int, int] = (8, 8)) -> tuple[bytes, bytes]:
    content = encoded("WEBP", size, lossless=True)
    at = content.index(b"VP8L")
    (length,) = struct.unpack_from("<I", content, at + 4)
    return b"VP8L", content[at + 8 : at + 8 + length]


def case(
    name: str, content: Content, *says: str, read: Callable[[Path], str | None] = picture
) -> Case:
    return Case(name, file_of("photo.jpg", content), read, ("photo.jpg", *says) if says else ())


def beside_captions(content: Content) -> Callable[[Path], Path]:
    """A corpus of one image, and its photo beside it."""

    def make(folder: Path) -> Path:
        file_of("1.jpg", content)(folder)
        return file_of("corpus.csv", lambda: "image,caption\n1.jpg,A dog .\n")(folder)

    return make


JPEG = [
    case(
        "JPEG said to have 4,294 megapixels",
        lambda: said_size(encoded("JPEG", (8, 8)), 65535, 65535),
        "pixels",
    ),
    case("JPEG said to have 90 megapixels", lambda: said_size(encoded("JPEG", (8, 8)), 9500, 9400)),
    case(
        "progressive JPEG of 90 megapixels",
        lambda: said_size(encoded("JPEG", (64, 64), progressive=True), 9500, 9400),
        "MB",
    ),
    case(
        "progressive JPEG of 60 megapixels, all colours whole",
        lambda: encoded("JPEG", (8000, 7500), progressive=True, subsampling=0),
        "MB",
    ),
    case("flat JPEG of 99 megapixels", lambda: encoded("JPEG", (9950, 9950))),
    case("CMYK JPEG of 90 megapixels", lambda: encoded("JPEG", (9500, 9400), "CMYK")),
    case("JPEG in 2,000 passes", lambda: many_scans((4000, 4000), 2000), "passes"),
    case("JPEG in 29 passes over 50 megapixels", lambda: many_scans((7000, 7000), 20)),
    case(
        "JPEG with EXIF that names 60 KB 5,000 times",
        lambda: segments(exif(5000, 65_000 - 16)[:65_000]),
        "EXIF",
    ),
    case(
        "JPEG with big-endian EXIF that does the same",
        lambda: segments(exif(5000, 64_000, ">")[:65_000]),
        "EXIF",
    ),
    case("JPEG with EXIF in 200 parts", lambda: segments(*[exif(1, 60_000)] * 200), "EXIF"),
    case("JPEG with 30 MB of metadata", lambda: segments(*[b"x" * 65_000] * 480), "MB"),
    case("JPEG with a million empty parts", lambda: segments(*[b""] * 1_000_000), "parts"),
    case(
        "JPEG with ten million bytes of padding",
        lambda: b"\xff\xd8" + b"\xff" * 10_000_000 + encoded("JPEG", (8, 8))[2:],
        "parts",
    ),
    case(
        "JPEG with escaped zeros before its pixels",
        lambda: b"\xff\xd8" + b"\xff\0" * 5_000_000 + encoded("JPEG", (8, 8))[2:],
        "parts",
    ),
    case(
        "JPEG with 200 parts of a colour profile",
        lambda: segments(
            *[b"ICC_PROFILE\0" + bytes([n, 200]) + b"x" * 60_000 for n in range(1, 201)],
            marker=0xE2,
        ),
    ),
    case("half a JPEG", lambda: encoded("JPEG", (3000, 3000))[:20_000], "truncated"),
]

PNG = [
    case(
        "PNG said to have four billion pixels",
        lambda: png(
            (b"IHDR", struct.pack(">IIBBBBB", 65535, 65535, 8, 2, 0, 0, 0)), (b"IDAT", b"")
        ),
        "pixels",
    ),
    case("flat PNG of 90 megapixels", lambda: png_with(size=(9500, 9400)), "MB"),
    case(
        "flat PNG of 60 megapixels, 16 bits of four colours",
        lambda: png_with(size=(8000, 7500), bits=16, colour=6),
        "MB",
    ),
    case("flat grey PNG of 99 megapixels", lambda: png_with(size=(9950, 9950), colour=0)),
    case(
        "PNG of one row of 49 megapixels in one bit",
        lambda: png_with(size=(49_000_000, 1), bits=1, colour=0),
    ),
    case(
        "PNG with text that unfolds to 100 MB",
        lambda: png_with(packed_text(b"zTXt", 100_000_000)),
        "damaged",
    ),
    case(
        "PNG with 60 texts of a megabyte",
        lambda: png_with(*[packed_text(b"zTXt", 1_000_000)] * 60),
        "parts",
    ),
    case(
        "PNG with 60 international texts",
        lambda: png_with(*[packed_text(b"iTXt", 1_000_000)] * 60),
        "parts",
    ),
    case(
        "PNG with a colour profile of 100 MB",
        lambda: png_with((b"iCCP", b"p\0\0" + zlib.compress(bytes(100_000_000)))),
    ),
    case(
        "PNG with a million empty texts",
        lambda: png_with(*[(b"tEXt", b"k\0")] * 1_000_000),
        "parts",
    ),
    case(
        "PNG with 500,000 empty parts of pixels",
        lambda: png_with(*[(b"IDAT", b"")] * 500_000),
        "parts",
    ),
    case(
        "PNG with EXIF that names 600 KB 5,000 times",
        lambda: png_with((b"eXIf", exif(5000, 600_000)[6:])),
        "EXIF",
    ),
    case(
        "PNG with pixels for millions of rows more",
        lambda: png(
            (b"IHDR", struct.pack(">IIBBBBB", 8, 8, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(bytes(200_000_000))),
            (b"IEND", b""),
        ),
    ),
    case("animated PNG of 1,500 frames", lambda: animated("PNG", 1500), "photo.jpg"),
]

WEBP = [
    case(
        "WebP of 100 megapixels in few bytes",
        lambda: encoded("WEBP", (9999, 9999), lossless=True, method=0),
        "MB",
    ),
    case(
        "WebP of 16 megapixels",
        lambda: encoded("WEBP", (4000, 4000), lossless=True, method=0),
        "MB",
    ),
    case(
        "WebP said to be of 16,384 × 16,384", lambda: webp_of(16384, 16384, webp_pixels()), "pixels"
    ),
    case(
        "WebP said to be of 16 million × 16 million",
        lambda: webp_of(2**24, 2**24, webp_pixels()),
        "pixels",
    ),
    case("WebP of 10 megapixels", lambda: encoded("WEBP", (3300, 3000), lossless=True, method=0)),
    case("animated WebP of 1,500 frames", lambda: animated("WEBP", 1500), "photo.jpg"),
    case(
        "WebP with 100,000 parts",
        lambda: webp_of(8, 8, webp_pixels(), *[(b"junk", b"")] * 100_000),
        "parts",
    ),
    case(
        "WebP with 60 MB of metadata",
        lambda: webp_of(8, 8, webp_pixels(), (b"XMP ", bytes(60_000_000)), flags=4),
        "MB",
    ),
    case(
        "WebP with EXIF that names 600 KB 5,000 times",
        lambda: webp_of(8, 8, webp_pixels(), (b"EXIF", exif(5000, 600_000)[6:]), flags=8),
        "EXIF",
    ),
    case("WebP without anything", lambda: webp(), "damaged"),
]

OTHERS = [
    case("GIF", lambda: animated("GIF", 1000), "no JPEG"),
    case(
        "TIFF of 100 megapixels",
        lambda: encoded("TIFF", (10_000, 10_000), "1", compression="group4"),
        "no JPEG",
    ),
    case("photo of 200 MB", lambda: b"\xff\xd8\xff" + bytes(200_000_000), "larger"),
    case("noise", lambda: b"\xff\xd8\xff" + random.Random(1).randbytes(5_000_000), "photo.jpg"),
    Case(
        "WebP of 100 megapixels in a corpus",
        beside_captions(lambda: encoded("WEBP", (9999, 9999), lossless=True, method=0)),
        corpus_with_photos,
        ("1.jpg", "MB"),
    ),
    Case(
        "PNG with packed texts in a corpus",
        beside_captions(lambda: png_with(*[packed_text(b"zTXt", 1_000_000)] * 60)),
        corpus_with_photos,
        ("1.jpg", "parts"),
    ),
]

# The same for the experiments, which need all the pixels.
EXPERIMENTS = [
    case(
        "for experiments: WebP of 100 megapixels",
        lambda: encoded("WEBP", (9999, 9999), lossless=True, method=0),
        "MB",
        read=photo,
    ),
    case(
        "for experiments: JPEG of 90 megapixels",
        lambda: encoded("JPEG", (9500, 9400)),
        "MB",
        read=photo,
    ),
    case(
        "for experiments: JPEG of 45 megapixels", lambda: encoded("JPEG", (7500, 6000)), read=photo
    ),
    case(
        "for experiments: turned JPEG of 30 megapixels",
        lambda: encoded(
            "JPEG",
            (6000, 5000),
            exif=b"Exif\0\0MM\0*\0\0\0\x08\0\1\1\x12\0\3\0\0\0\1\0\6\0\0\0\0\0\0",
        ),
        "MB",
        read=photo,
    ),
    case(
        "for experiments: PNG of 30 megapixels with transparency",
        lambda: png_with(size=(6000, 5000), colour=6),
        "MB",
        read=photo,
    ),
    case(
        "for experiments: EXIF that names 60 KB 5,000 times",
        lambda: segments(exif(5000, 64_000)[:65_000]),
        "EXIF",
        read=photo,
    ),
]

CASES = [*JPEG, *PNG, *WEBP, *OTHERS, *EXPERIMENTS]
