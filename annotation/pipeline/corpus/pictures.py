"""Photos: whether a file really is one, its size, and where an image's photo is."""

import hashlib
from io import BytesIO
from pathlib import Path

import msgspec
from PIL import Image
from PIL.ImageFile import ImageFile
from PIL.JpegImagePlugin import JpegImageFile
from PIL.PngImagePlugin import PngImageFile

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

SUFFIXES = (".jpg", ".jpeg", ".png", ".webp")
# Not accepted, but known, so that `photo.gif` and `photo` still mean the same photo.
_OTHER_SUFFIXES = (".gif", ".bmp", ".tif", ".tiff")
_GREY_MODES = ("1", "L", "LA", "La", "I", "F")
_PNG_END = b"IEND\xaeB`\x82"
_ORIENTATION = 0x0112
_TURNED = (5, 6, 7, 8)
# JPEGs are decoded to this fraction of their width and height.
_SCALE = 8


class PictureError(ValueError):
    """A photo is missing or cannot be used; the message names the file and the reason."""


class Picture(msgspec.Struct, frozen=True):
    """A photo that was decoded to the end. `format` is JPEG, PNG or WEBP, `depth` 1 or 3.

    Width and height are those that a browser shows. They are swapped if the EXIF orientation turns
    the photo on its side, because workers see it turned and draw boxes in the pixels they see.
    """

    path: Path
    format: str
    width: int
    height: int
    depth: int
    sha256: str
    size_bytes: int


def read_picture(
    path: Path,
    *,
    max_pixels: int = MAX_PIXELS,
    max_bytes: int = MAX_BYTES,
    max_memory: int = MAX_MEMORY,
) -> Picture:
    """Read and decode a photo; raise PictureError unless it is a whole JPEG, PNG or WebP.

    The content decides the format, not the name. Size and memory are checked before any
    pixel is decoded. Several threads may read at once.
    """
    content = _read(path, max_bytes)
    try:
        reader = check_file(content, max_pixels=max_pixels, max_memory=max_memory)
        width, height, depth, turned = _decode(reader, content, max_pixels, max_memory)
    except (PictureLimitError, _DamagedError) as error:
        raise PictureError(f"{path}: {error}") from error
    if turned:
        width, height = height, width
    return Picture(
        path=path,
        format=str(reader.format),
        width=width,
        height=height,
        depth=depth,
        sha256=hashlib.sha256(content).hexdigest(),
        size_bytes=len(content),
    )


class _DamagedError(ValueError):
    pass


def _decode(
    reader: type[ImageFile], content: bytes, max_pixels: int, max_memory: int
) -> tuple[int, int, int, bool]:
    """Return width, height, depth, and whether the photo is turned on its side."""
    try:
        with reader(BytesIO(content)) as image:
            width, height = image.size
            check_size(image.size, max_pixels)
            check_memory(decoding_memory(image, content, scale=_SCALE), image.size, max_memory)
            if getattr(image, "is_animated", False):
                raise PictureLimitError("it is animated; use a still picture")
            if isinstance(image, JpegImageFile):
                # This still reads the whole file; it only produces fewer pixels.
                image.draft(None, (1, 1))
            image.load()
            if isinstance(image, PngImageFile):
                # Decoding stops at the last pixel, so the end may still be missing.
                if _PNG_END not in content:
                    raise _DamagedError("the PNG file is truncated or damaged: it has no end")
                with reader(BytesIO(content)) as again:
                    again.verify()
            depth = 1 if image.mode.partition(";")[0] in _GREY_MODES else 3
            return width, height, depth, _is_turned(image)
    except (PictureLimitError, _DamagedError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise _DamagedError("it has too many pixels to be decoded safely") from error
    except MemoryError as error:
        raise _DamagedError("there is not enough memory to decode it") from error
    except Exception as error:  # Pillow may raise anything for a damaged file
        raise _DamagedError(f"the {reader.format} file is truncated or damaged: {error}") from error


def find_picture(directory: Path, filename: str) -> Path:
    """Return the file of this name in the directory, or of its stem with another usual ending.

    A name that would lead out of the directory is refused. Links inside the directory are
    followed, because the owner of the directory put them there.
    """
    if filename in ("", ".", "..") or any(sign in filename for sign in "/\\\0"):
        raise PictureError(f"{filename!r} is not the name of a file in {directory}")
    stem = picture_stem(filename)
    endings = [*SUFFIXES, *(suffix.upper() for suffix in SUFFIXES)]
    try:
        if not directory.is_dir():
            raise PictureError(f"{directory}: there is no such folder")
        for candidate in (filename, *(stem + ending for ending in endings)):
            if (directory / candidate).is_file():
                return directory / candidate
    except OSError as error:
        raise PictureError(f"{directory / filename}: {error.strerror}") from error
    raise PictureError(
        f"{directory / filename}: there is no such photo, and none called {stem} that ends in "
        f"{', '.join(SUFFIXES)}"
    )


def picture_stem(filename: str) -> str:
    """Return the file name without a picture's ending: the image's name.

    Any other dot is part of the name.

    >>> picture_stem("36979.jpg"), picture_stem("harbour.v2")
    ('36979', 'harbour.v2')
    """
    stem, dot, ending = filename.rpartition(".")
    is_ending = f"{dot}{ending}".casefold() in (*SUFFIXES, *_OTHER_SUFFIXES)
    return stem if stem and is_ending else filename


def _read(path: Path, max_bytes: int) -> bytes:
    try:
        if not path.exists():
            raise PictureError(f"{path}: there is no such file")
        if not path.is_file():
            raise PictureError(f"{path}: this is not a file")
        with path.open("rb") as file:
            content = file.read(max_bytes + 1)
    except OSError as error:
        raise PictureError(f"{path}: cannot be read: {error.strerror}") from error
    if not content:
        raise PictureError(f"{path}: the file is empty")
    if len(content) > max_bytes:
        raise PictureError(f"{path}: the file is larger than {max_bytes:,} bytes")
    return content


def _is_turned(image: ImageFile) -> bool:
    """Tell whether the EXIF orientation swaps the sides. Browsers ignore other metadata."""
    exif = Image.Exif()
    try:
        exif.load(image.info.get("exif", b""))
        return exif.get(_ORIENTATION) in _TURNED
    except Exception:  # browsers show a good photo with damaged metadata unturned
        return False
