import hashlib
import struct
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from annotation.pipeline.corpus.pictures import (
    Picture,
    PictureError,
    find_picture,
    picture_stem,
    read_picture,
)

FORMATS = ("JPEG", "PNG", "WEBP")


def encode(
    format: str, *, mode: str = "RGB", size: tuple[int, int] = (32, 20), turn: int = 0
) -> bytes:
    # The same noise each time: of some a JPEG that lacks its last bytes is none the worse.
    noise = Random(0).randbytes(size[0] * size[1])
    image = Image.frombytes("L", size, noise).convert(mode)
    exif = Image.Exif()
    if turn:
        exif[0x0112] = turn
    file = BytesIO()
    image.save(file, format, exif=exif)
    return file.getvalue()


def encode_animation(format: str) -> bytes:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    file = BytesIO()
    frames[0].save(file, format, save_all=True, append_images=frames[1:], duration=100)
    return file.getvalue()


def png_chunks(*chunks: tuple[bytes, bytes]) -> bytes:
    parts = [b"\x89PNG\r\n\x1a\n"]
    for kind, data in chunks:
        checksum = zlib.crc32(kind + data)
        parts.append(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", checksum))
    return b"".join(parts)


def png_of_size(width: int, height: int) -> bytes:
    """A small file that says it is large, with hardly any pixels in it."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return png_chunks((b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 1000)), (b"IEND", b""))


def webp_of_size(width: int, height: int) -> bytes:
    sides = struct.pack("<I", width - 1)[:3] + struct.pack("<I", height - 1)[:3]
    extended = b"VP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + sides
    body = b"WEBP" + extended + encode("WEBP")[12:]
    return b"RIFF" + struct.pack("<I", len(body)) + body


def put(folder: Path, content: bytes, name: str = "photo.jpg") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(PictureError) as error:
        read_picture(path)
    assert str(error.value).startswith(f"{path}: ")
    return str(error.value).removeprefix(f"{path}: ")


@pytest.mark.parametrize("format", FORMATS)
def test_picture(tmp_path: Path, format: str) -> None:
    content = encode(format)
    path = put(tmp_path, content)  # the name says JPEG, whatever it is
    assert read_picture(path) == Picture(
        path=path,
        format=format,
        width=32,
        height=20,
        depth=3,
        sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
    )


@pytest.mark.parametrize(
    ("format", "mode", "depth"),
    [
        ("JPEG", "L", 1),
        ("JPEG", "CMYK", 3),
        ("PNG", "1", 1),
        ("PNG", "L", 1),
        ("PNG", "LA", 1),
        ("PNG", "I;16", 1),
        ("PNG", "P", 3),
        ("PNG", "RGBA", 3),
        ("WEBP", "RGBA", 3),
    ],
)
def test_depth(tmp_path: Path, format: str, mode: str, depth: int) -> None:
    assert read_picture(put(tmp_path, encode(format, mode=mode))).depth == depth


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("turn", [1, 2, 3, 4, 5, 6, 7, 8])
def test_orientation(tmp_path: Path, format: str, turn: int) -> None:
    picture = read_picture(put(tmp_path, encode(format, turn=turn)))
    assert (picture.width, picture.height) == ((32, 20) if turn < 5 else (20, 32))


@pytest.mark.filterwarnings("ignore:Corrupt EXIF data")
def test_damaged_metadata_of_a_sound_photo(tmp_path: Path) -> None:
    file = BytesIO()
    Image.new("RGB", (32, 20)).save(file, "JPEG", exif=b"Exif\0\0MM\0*nonsense")
    picture = read_picture(put(tmp_path, file.getvalue()))
    assert (picture.width, picture.height) == (32, 20)


def test_jpeg_with_a_second_picture_inside(tmp_path: Path) -> None:
    """Many phones write these; browsers show the first picture."""
    file = BytesIO()
    frames = [Image.new("RGB", size, "red") for size in ((32, 20), (8, 5))]
    frames[0].save(file, "MPO", save_all=True, append_images=frames[1:])
    picture = read_picture(put(tmp_path, file.getvalue()))
    assert (picture.format, picture.width, picture.height) == ("JPEG", 32, 20)


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("left", [0.1, 0.5, 0.9, -20, -12, -2, -1])
def test_truncated(tmp_path: Path, format: str, left: float) -> None:
    content = encode(format)
    end = int(left) if left < 0 else int(len(content) * left)
    assert "truncated or damaged" in refusal(put(tmp_path, content[:end]))


def test_truncated_progressive_jpeg(tmp_path: Path) -> None:
    file = BytesIO()
    Image.effect_noise((64, 64), 80).save(file, "JPEG", progressive=True)
    content = file.getvalue()
    assert read_picture(put(tmp_path, content)).format == "JPEG"
    assert "truncated" in refusal(put(tmp_path, content[: len(content) * 2 // 3]))


@pytest.mark.parametrize("format", ["GIF", "BMP", "TIFF", "PPM"])
def test_other_formats(tmp_path: Path, format: str) -> None:
    file = BytesIO()
    Image.new("RGB", (8, 8)).save(file, format)
    assert refusal(put(tmp_path, file.getvalue())).startswith("this is no JPEG, PNG or WebP")


def test_what_is_no_photo(tmp_path: Path) -> None:
    assert refusal(put(tmp_path, b"<svg></svg>")).startswith("this is no JPEG, PNG or WebP")
    assert refusal(put(tmp_path, b"")) == "the file is empty"
    assert refusal(tmp_path / "nowhere.jpg") == "there is no such file"
    folder = tmp_path / "folder.jpg"
    folder.mkdir()
    assert refusal(folder) == "this is not a file"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (png_of_size(50_000, 50_000), "50000 × 50000, which is more than 100,000,000 pixels"),
        (png_of_size(10_000, 10_001), "10000 × 10001, which is more than 100,000,000 pixels"),
        (png_of_size(9_999, 10_000), "decoding it would take 381 MB; a photo may take 190 MB"),
        (png_of_size(5_000, 5_000), "truncated or damaged"),
        (png_of_size(0, 10), ""),
        (webp_of_size(16_000, 16_000), "16000 × 16000, which is more than 100,000,000 pixels"),
        (webp_of_size(12_000, 12_000), "which is more than 100,000,000 pixels"),
        (webp_of_size(4_000, 3_300), "decoding it would take 201 MB"),
    ],
)
def test_decompression_bomb(tmp_path: Path, content: bytes, why: str) -> None:
    assert why in refusal(put(tmp_path, content))


def test_limits_are_inclusive(tmp_path: Path) -> None:
    content = encode("PNG")
    path = put(tmp_path, content)
    assert read_picture(path, max_pixels=640, max_bytes=len(content)).width == 32
    with pytest.raises(PictureError, match="it is 32 × 20, which is more than 639 pixels"):
        read_picture(path, max_pixels=639)
    with pytest.raises(PictureError, match=f"the file is larger than {len(content) - 1:,} bytes"):
        read_picture(path, max_bytes=len(content) - 1)


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
def test_animation(tmp_path: Path, format: str) -> None:
    assert refusal(put(tmp_path, encode_animation(format))).startswith("it is animated")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    format=st.sampled_from(FORMATS),
    changes=st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255))),
    end=st.floats(0, 1),
)
def test_damage_is_refused_or_survived(
    tmp_path: Path, format: str, changes: list[tuple[float, int]], end: float
) -> None:
    content = bytearray(encode(format))
    for where, value in changes:
        content[int(where * len(content))] = value
    path = put(tmp_path, bytes(content[: int(end * len(content)) + 1]))
    picture = None
    with suppress(PictureError):  # any other error is a failure
        picture = read_picture(path, max_pixels=10_000)
    assert picture is None or picture.width * picture.height <= 10_000


def test_threads(tmp_path: Path) -> None:
    paths = [put(tmp_path, encode(FORMATS[n % 3], size=(20 + n, 9)), f"{n}") for n in range(12)]
    with ThreadPoolExecutor(4) as pool:
        widths = [picture.width for picture in pool.map(read_picture, paths)]
    assert widths == [20 + n for n in range(12)]


# Finding photos


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    folder.mkdir()
    for name in ("1.jpg", "2.JPEG", "3.png", "4.WEBP", "odd.v2.jpg", "odd.jpg", "5.jpg", "5.png"):
        put(folder, b"", name)
    put(tmp_path, b"", "outside.jpg")
    (folder / "inner").mkdir()
    put(folder / "inner", b"", "6.jpg")
    return folder


@pytest.mark.parametrize(
    ("filename", "found"),
    [
        ("1.jpg", "1.jpg"),
        ("1", "1.jpg"),
        ("1.png", "1.jpg"),
        ("2.jpg", "2.JPEG"),
        ("3.jpg", "3.png"),
        ("4", "4.WEBP"),
        ("5.png", "5.png"),
        ("5", "5.jpg"),
        ("odd.v2", "odd.v2.jpg"),
    ],
)
def test_find_picture(photos: Path, filename: str, found: str) -> None:
    assert find_picture(photos, filename) == photos / found


@pytest.mark.parametrize(
    "filename",
    ["../outside.jpg", "..\\outside.jpg", "inner/6.jpg", "/1.jpg", "..", ".", "", "1.jpg\0"],
)
def test_a_name_never_leads_out_of_the_folder(photos: Path, filename: str) -> None:
    with pytest.raises(PictureError, match="is not the name of a file in"):
        find_picture(photos, filename)


@pytest.mark.parametrize("filename", ["7.jpg", "odd.v3", "inner", "a" * 300])
def test_photo_that_is_not_there(photos: Path, filename: str) -> None:
    with pytest.raises(PictureError, match=r"there is no such photo|name too long"):
        find_picture(photos, filename)


def test_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="there is no such folder"):
        find_picture(tmp_path / "nowhere", "1.jpg")


@pytest.mark.parametrize(
    ("filename", "stem"),
    [("1.jpg", "1"), ("1.JPG", "1"), ("a.b.webp", "a.b"), ("a.b", "a.b"), (".jpg", ".jpg")],
)
def test_picture_stem(filename: str, stem: str) -> None:
    assert picture_stem(filename) == stem
