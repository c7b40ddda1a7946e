"""Checks that the captions, names, sizes and splits of every format must pass."""

import re
from collections.abc import Iterable, Iterator
from typing import TypeVar

import msgspec

from annotation.pipeline.captions import BRACKETS, Caption, tokenise
from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem
from annotation.pipeline.corpus.pictures import picture_stem
from annotation.pipeline.release.folder import SPLITS, ReleaseError
from annotation.pipeline.release.model import check_image_id, shorten

LARGEST_CAPTION = 2000  # tokens
LONGEST_CAPTION = 40_000  # characters
MOST_CAPTIONS = 100
LONGEST_NAME = 200
LARGEST_SIDE = 1_000_000
# If the first thousand entries are all or nearly all bad, it is not a file of this format.
BAD_ENTRIES = 1000
BAD_SHARE = 100

T = TypeVar("T")

# Tabs and line ends count as white space. No caption needs the other control characters, and
# databases and XML files cannot store them.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")
_NO_BRACKETS = str.maketrans(BRACKETS)


class CorpusError(ValueError):
    """The corpus cannot be read at all; the message names the file and says why."""


class BadItemError(ValueError):
    """This row or item cannot be imported; the message says why, and the caller adds where."""


def mostly_good(items: Iterable[T | Problem]) -> Iterator[T | Problem]:
    """Pass the items on; stop with CorpusError if nearly all of them are bad."""
    good = bad = 0
    first: Problem | None = None
    for item in items:
        if isinstance(item, Problem):
            first = first or item
            bad += 1
        else:
            good += 1
        yield item
        if first is not None and bad >= BAD_ENTRIES and bad > BAD_SHARE * good:
            share = "nearly all" if good else "all"
            raise CorpusError(
                f"{first}\nThe first {bad:,} entries are {share} bad, so the rest was not read. "
                "Is this the right file and the right format?"
            )


class Head(msgspec.Struct, frozen=True):
    """What a corpus gives for an image besides its captions."""

    name: str
    filename: str
    split: str = ""
    width: int = 0
    height: int = 0


def check_filename(filename: object) -> str:
    """Return the file name if it and its stem are safe as names of files."""
    if not isinstance(filename, str) or not filename:
        raise BadItemError("the file name is missing")
    if len(filename) > LONGEST_NAME:
        raise BadItemError(
            f"the file name {shorten(filename)} has {len(filename)} characters; "
            f"at most {LONGEST_NAME} are allowed"
        )
    try:
        check_image_id(filename)
        check_image_id(picture_stem(filename))
    except ReleaseError:
        raise BadItemError(
            f"{shorten(filename)} is not a safe file name: it must start with a letter or digit "
            "and contain only letters, digits, dots, hyphens and underscores"
        ) from None
    return filename


def claim_name(filename: object, place: str, places: dict[str, str]) -> tuple[str, str]:
    """Return the image's name and file name; `places` keeps where each name came first."""
    checked = check_filename(filename)
    name = picture_stem(checked)
    first = places.setdefault(name, place)
    if first != place:
        raise BadItemError(f"image {name} is listed already, at {first}")
    return name, checked


def check_split(split: object) -> str:
    if split is None or split == "":
        return ""
    if split == "restval":  # the rest of COCO's val, commonly used for training
        return "train"
    if not isinstance(split, str) or split not in SPLITS:
        raise BadItemError(f"{shorten(str(split))} is not a split; use one of: {', '.join(SPLITS)}")
    return split


def check_size(width: object, height: object) -> tuple[int, int]:
    """Return width and height, or 0 × 0 if neither is given."""
    if width is None and height is None:
        return 0, 0
    return _side("width", width), _side("height", height)


def caption_tokens(text: object, *, tokenised: bool = False) -> tuple[str, ...]:
    """Return the caption's tokens; a `tokenised` one is split at white space only."""
    if not isinstance(text, str):
        raise BadItemError("the caption text is missing")
    if len(text) > LONGEST_CAPTION:
        raise BadItemError(
            f"the caption has {len(text):,} characters; at most {LONGEST_CAPTION:,} are allowed"
        )
    check_control(text)
    tokens = tuple(text.translate(_NO_BRACKETS).split()) if tokenised else tokenise(text)
    check_tokens(tokens)
    return tokens


def check_control(text: str) -> None:
    if found := _CONTROL.search(text):
        raise BadItemError(f"the caption contains the control character U+{ord(found[0]):04X}")


def check_tokens(tokens: tuple[str, ...]) -> None:
    if not tokens:
        raise BadItemError("the caption is empty")
    if len(tokens) > LARGEST_CAPTION:
        raise BadItemError(
            f"the caption has {len(tokens):,} tokens; at most {LARGEST_CAPTION:,} are allowed"
        )


def too_many_captions(name: str, count: int) -> str:
    return f"image {name} has {count:,} captions; at most {MOST_CAPTIONS} are allowed"


def number_captions(captions: Iterable[tuple[str, ...]]) -> tuple[Caption, ...]:
    return tuple(Caption(number, tokens) for number, tokens in enumerate(captions, start=1))


def image_or_problems(
    file: str, place: str, head: Head, texts: list[tuple[str, object]]
) -> Iterator[CorpusImage | Problem]:
    """Yield the problems of the captions in `texts` with their places, then the image."""
    if len(texts) > MOST_CAPTIONS:
        yield Problem(file, place, too_many_captions(head.name, len(texts)))
        return
    captions = []
    for caption_place, text in texts:
        try:
            captions.append(caption_tokens(text))
        except BadItemError as error:
            yield Problem(file, caption_place, str(error))
    if not captions:
        usable = "usable " if texts else ""
        yield Problem(file, place, f"image {head.name} has no {usable}caption")
        return
    yield CorpusImage(
        name=head.name,
        filename=head.filename,
        captions=number_captions(captions),
        split=head.split,
        width=head.width,
        height=head.height,
    )


def _side(what: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= LARGEST_SIDE:
        given = "missing" if value is None else shorten(str(value))
        raise BadItemError(
            f"the {what} is {given}; give both width and height as whole numbers from 1, or neither"
        )
    return value
