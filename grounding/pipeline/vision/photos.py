"""Photos: the file of each image, the hash of its content, and its pixels."""

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import msgspec
from PIL import Image
from PIL.ImageFile import ImageFile

from common.files.picture_limits import (
    MAX_BYTES,
    MAX_MEMORY,
    MAX_PIXELS,
    PictureLimitError,
    check_file,
    check_memory,
    check_size,
    decoding_memory,
)
from common.files.whole import make_folder, write_bytes
from grounding.pipeline.errors import GroundingError

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
TABLE = "photos.json"
LARGEST_TABLE = 64 * 2**20
MOST_LISTED = 500_000

_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class PhotoError(GroundingError):
    """A photo cannot be used unless its file is replaced; the message says why."""


class PhotoGone(GroundingError):
    """A photo is gone or has changed during the run; another run may succeed."""


class Photo(msgspec.Struct, frozen=True, array_like=True):
    """A photo as of when it was hashed: the file's name, size, time and SHA-256."""

    name: str
    size: int
    modified: int
    sha256: str


def photo_table(root: Path) -> dict[str, Photo]:
    """Return the photos by image id, as the last extraction into this store saw them."""
    path = Path(root) / TABLE
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_TABLE + 1)
        if len(content) > LARGEST_TABLE or content.count(b"[") > MOST_LISTED:
            raise ValueError("it is too large")
        return msgspec.json.decode(content, type=dict[str, Photo])
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise PhotoError(
            f"{path}: cannot be read ({error}); delete it, and it will be written again"
        ) from error


def find_photos(
    root: Path,
    folder: Path,
    images: Iterable[str],
    *,
    threads: int = 1,
    progress: Callable[[int], None] = lambda count: None,
) -> tuple[dict[str, Photo], dict[str, str]]:
    """Return the photos of these images by id, in their order, and why the others have none.

    A photo's file is named by the image's id and one of SUFFIXES. Files are hashed only if name,
    size or time differ from the table in `root`, which is then updated.
    """
    table = photo_table(root)
    names = _names_by_stem(folder)
    found: dict[str, Photo] = {}
    problems: dict[str, str] = {}

    def look(image: str) -> tuple[str, Photo | None, str]:
        name = names.get(image)
        if name is None:
            return (
                image,
                None,
                f"there is no photo {image} with the extension {', '.join(SUFFIXES)}",
            )
        try:
            facts = os.stat(folder / name)
            known = table.get(image)
            same = (name, facts.st_size, facts.st_mtime_ns)
            if known and (known.name, known.size, known.modified) == same:
                return image, known, ""
            return image, Photo(*same, sha256(read_content(folder / name)).hexdigest()), ""
        except OSError as error:
            return image, None, f"{name}: cannot be read: {error.strerror}"
        except PhotoError as error:
            return image, None, f"{name}: {error}"

    with ThreadPoolExecutor(threads) as pool:
        for image, photo, problem in pool.map(look, images):
            if photo is None:
                problems[image] = problem
            else:
                found[image] = photo
            progress(1)
    _write_table(root, table, found)
    return found, problems


def read_content(path: Path) -> bytes:
    """Return the bytes of a photo's file; raise PhotoError if it is too large to be one."""
    with open(path, "rb") as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise PhotoError(f"the file is larger than {MAX_BYTES:,} bytes")
    return content


def read_photo(folder: Path, name: str, expected: str) -> Image.Image:
    """Return the RGB picture of the file whose SHA-256 is `expected`."""
    try:
        content = read_content(folder / name)
    except OSError as error:
        raise PhotoGone(f"{name}: cannot be read: {error.strerror}") from error
    if sha256(content).hexdigest() != expected:
        raise PhotoGone(f"{name}: the file has changed during the run; run the extraction again")
    try:
        return decode(content)
    except PhotoError as error:
        raise PhotoError(f"{name}: {error}") from error


def decode(content: bytes) -> Image.Image:
    """Return the RGB picture of a JPEG, PNG or WebP, rotated as browsers show it.

    Boxes are in the pixels that annotators saw, so the EXIF orientation applies. Size and memory
    are checked before any pixel is decoded. Several threads may decode at once.
    """
    try:
        reader = check_file(content, max_pixels=MAX_PIXELS)
        with reader(BytesIO(content)) as image:
            check_size(image.size, MAX_PIXELS)
            turn = _turn(image)
            pixels = image.size[0] * image.size[1]
            # Converting to RGB makes a copy, and rotating makes another.
            copies = (image.mode != "RGB") + (turn is not None)
            memory = decoding_memory(image, content) + 4 * pixels * copies
            check_memory(memory, image.size, MAX_MEMORY)
            image.load()
            picture = image if image.mode == "RGB" else image.convert("RGB")
    except PictureLimitError as error:
        raise PhotoError(str(error)) from error
    except Exception as error:  # Pillow may raise anything for a damaged file
        raise PhotoError(f"the file is truncated or damaged: {error}") from error
    return picture if turn is None else picture.transpose(turn)


def _turn(image: ImageFile) -> Image.Transpose | None:
    exif = Image.Exif()
    try:
        exif.load(image.info.get("exif", b""))
        return _TURNS.get(exif.get(_ORIENTATION, 1))
    except Exception:  # the metadata is damaged: browsers show the photo as it is, and so do we
        return None


def _names_by_stem(folder: Path) -> dict[str, str]:
    """Return the photo's file name for each image id; .jpg takes precedence over the others."""
    if not folder.is_dir():
        raise PhotoError(f"{folder}: the folder of photos does not exist")
    names: dict[str, str] = {}
    listing = os.listdir(folder)
    for suffix in reversed((*SUFFIXES, *(suffix.upper() for suffix in SUFFIXES))):
        for name in listing:
            if name.endswith(suffix):
                names[name.removesuffix(suffix)] = name
    return names


def _write_table(root: Path, table: Mapping[str, Photo], found: Mapping[str, Photo]) -> None:
    merged = {**table, **found}
    if merged != table:
        content = msgspec.json.encode(dict(sorted(merged.items())))
        make_folder(Path(root))
        write_bytes(Path(root) / TABLE, [content])
