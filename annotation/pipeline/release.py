"""The release format that existing readers accept: `Sentences/` and `Annotations/`.

The types here are the hand-over between annotation and everything that uses a finished dataset.
"""

import msgspec

from annotation.pipeline.geometry import Rect


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
# of the public dataset were edited by hand, and a release built from them says so.
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


class ReleasedImage(msgspec.Struct, frozen=True):
    """All that a release says of one image; `image` is its id, the files' stem."""

    image: str
    filename: str
    width: int
    height: int
    depth: int
    sentences: tuple[Sentence, ...]
    boxes: tuple[ReleasedBox, ...]
    unboxed: tuple[UnboxedChain, ...]
