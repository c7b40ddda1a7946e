"""What a question shows to a worker: which captions, which words marked, which boxes."""

import msgspec

from annotation.pipeline.geometry import Rect


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A mention's words, tokens `start` up to but without `end` of a caption, in a colour.

    Colours are numbers from 1; `mention` is 0 in guides, whose phrases are nobody's mentions.
    """

    mention: int
    caption: int
    start: int
    end: int
    colour: int


class Shown(msgspec.Struct, frozen=True, omit_defaults=True):
    """Numbers and coordinates only: small enough to be kept with every question of a sitting."""

    captions: tuple[int, ...]
    # The first mark is the phrase that the question names.
    marks: tuple[Mark, ...]
    # Accepted boxes of the chain, in red; and the one that Quality asks about, in blue.
    boxes: tuple[Rect, ...] = ()
    candidate: Rect | None = None
