"""The shapes of a release, and the one error that reading or writing it raises."""

import re
from typing import Self

import msgspec

from annotation.pipeline.geometry import Rect

# A whole number as the files write it. Eighteen digits fit into every database's integers.
NUMBER = "(?:0|[1-9][0-9]{0,17})"
LARGEST_NUMBER = 10**18 - 1

_IMAGE_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class ReleaseError(ValueError):
    """Something in a release is wrong; the message names file, line and why, as far as known."""

    def __init__(self, why: str, *, file: str | None = None, line: int | None = None) -> None:
        place = [file] if file else []
        if line is not None:
            place.append(f"line {line}")
        super().__init__(f"{', '.join(place)}: {why}" if place else why)
        self.why = why
        self.file = file
        self.line = line

    def located(self, file: str, line: int | None = None) -> Self:
        """Return the same error with the place where it was found."""
        return type(self)(self.why, file=file, line=self.line if line is None else line)


def shorten(text: str) -> str:
    """Return `text` in quotes, cut to a length that fits into a message."""
    return f"“{text[:57]}…”" if len(text) > 58 else f"“{text}”"


def check_image_id(image: str) -> str:
    """Return `image` if it can safely be the stem of a file name; raise ReleaseError otherwise."""
    if not _IMAGE_ID.fullmatch(image):
        raise ReleaseError(
            f"{shorten(image)} is not an image id: it must start with a letter or digit and "
            "contain only letters, digits, dots, hyphens and underscores"
        )
    return image


class Phrase(msgspec.Struct, frozen=True):
    """A bracketed phrase: tokens `start` up to but without `end`. Chain 0 is `notvisual`."""

    start: int
    end: int
    types: tuple[str, ...]
    chain: int


class Sentence(msgspec.Struct, frozen=True):
    """One caption with its phrases, in order of their start."""

    tokens: tuple[str, ...]
    phrases: tuple[Phrase, ...]


# The white space before each line of one <object>, where it is not the usual tabs: a few files
# of the public dataset were edited by hand, and a release built from them keeps that.
Indents = tuple[str, ...]


class ReleasedBox(msgspec.Struct, frozen=True):
    """One <object> with a rectangle; `chains` in the order of its <name>s."""

    chains: tuple[int, ...]
    rect: Rect
    indents: Indents | None = None


class UnboxedChain(msgspec.Struct, frozen=True):
    """One <object> without a rectangle. Both flags may be set: they are two facts."""

    chain: int
    scene: bool
    nobndbox: bool
    indents: Indents | None = None


class Annotation(msgspec.Struct, frozen=True):
    """The contents of one file of `Annotations/`."""

    filename: str
    width: int
    height: int
    depth: int
    boxes: tuple[ReleasedBox, ...]
    unboxed: tuple[UnboxedChain, ...]


class ReleasedImage(msgspec.Struct, frozen=True):
    """Everything in a release about one image; `image` is its id, the files' stem."""

    image: str
    filename: str
    width: int
    height: int
    depth: int
    sentences: tuple[Sentence, ...]
    boxes: tuple[ReleasedBox, ...]
    unboxed: tuple[UnboxedChain, ...]
