"""What a question shows to a worker: which captions, which words marked, which boxes."""

from collections.abc import Sequence
from typing import assert_never

import msgspec

from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.questions import Question, Stage
from annotation.pipeline.protocol.state import (
    ImageState,
    accepted_boxes,
    chain_of,
    find_box,
    find_chain,
    find_mention,
    mentions_of,
    representative,
)


class NothingToShowError(ValueError):
    """The question is about something that the image does not have."""


class Mark(msgspec.Struct, frozen=True, array_like=True):
    """A mention's words, tokens `start` up to but not including `end` of a caption, in a colour.

    Colours are numbers from 1; `mention` is 0 in guides, whose phrases are not mentions.
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
    # The chain's accepted boxes, in red, and the box that Quality asks about, in blue.
    boxes: tuple[Rect, ...] = ()
    candidate: Rect | None = None


_decode = msgspec.json.Decoder(Shown)


def encode_shown(what: Shown) -> str:
    return msgspec.json.encode(what).decode()


def decode_shown(text: str) -> Shown:
    return _decode.decode(text)


def shown(state: ImageState, question: Question) -> Shown:
    """Return what the question shows of the image as it is now, second opinions included."""
    match question.stage:
        case Stage.LINKS:
            pair = [_mention(state, question, number) for number in question.subject]
            return Shown(captions=tuple(m.caption for m in pair), marks=_marks(pair))
        case Stage.VERIFICATION:
            members = mentions_of(state, _members(state, question, question.subject[0]))
            return Shown(
                captions=tuple(caption.number for caption in state.captions),
                marks=_marks(sorted(members, key=lambda m: (m.caption, m.start))),
            )
        case Stage.QUALITY:
            return _box_shown(state, question)
        case Stage.REQUIREMENT | Stage.DRAWING | Stage.COVERAGE:
            return _chain_shown(state, question, question.subject[0])
        case _:
            assert_never(question.stage)


def _chain_shown(state: ImageState, question: Question, chain: int) -> Shown:
    mention = representative(state, _members(state, question, chain))
    return Shown(
        captions=(mention.caption,),
        marks=_marks([mention]),
        boxes=tuple(box.rect for box in accepted_boxes(state, chain)),
    )


def _box_shown(state: ImageState, question: Question) -> Shown:
    box = find_box(state, question.subject[0])
    if box is None:
        raise _nothing(question)
    chain = box.chains[0]
    # For a second opinion the box itself may be among the accepted ones.
    others = [b.rect for b in accepted_boxes(state, chain) if b.number != box.number]
    return msgspec.structs.replace(
        _chain_shown(state, question, chain), boxes=tuple(others), candidate=box.rect
    )


def _marks(mentions: Sequence[Mention]) -> tuple[Mark, ...]:
    return tuple(
        Mark(m.number, m.caption, m.start, m.end, colour)
        for colour, m in enumerate(mentions, start=1)
    )


def _mention(state: ImageState, question: Question, number: int) -> Mention:
    mention = find_mention(state, number)
    if mention is None:
        raise _nothing(question)
    return mention


def _members(state: ImageState, question: Question, number: int) -> tuple[int, ...]:
    """Return the mentions of a chain, or of one that verification broke up.

    In the second case, return only mentions that have a chain now: a reviewer may since have called
    one non-visual or sent it to be linked again.
    """
    chain = find_chain(state, number)
    if chain is not None:
        return chain.mentions
    for broken in state.broken:
        if broken.number == number:
            return tuple(n for n in broken.mentions if chain_of(state, n) is not None)
    raise _nothing(question)


def _nothing(question: Question) -> NothingToShowError:
    return NothingToShowError(f"{question.key} is about something that this image does not have")
