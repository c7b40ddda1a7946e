"""An image's state, frozen: what its facts so far say about its mentions.

Every collection is kept in the order of its numbers, so equal states are equal values.
"""

from collections.abc import Iterable, Sequence
from enum import StrEnum

import msgspec

from annotation.pipeline.captions import Caption
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import Mention, longest
from annotation.pipeline.protocol.questions import Question


class Phase(StrEnum):
    """The phase that a chain is in."""

    LINKING = "linking"
    VERIFICATION = "verification"
    REQUIREMENT = "requirement"
    DRAWING = "drawing"
    QUALITY = "quality"
    COVERAGE = "coverage"
    COMPLETE = "complete"
    NONVISUAL = "nonvisual"
    REVIEW = "review"


BEFORE_BOXES = (Phase.LINKING, Phase.VERIFICATION)
SETTLED = (Phase.COMPLETE, Phase.NONVISUAL)


class Vote(msgspec.Struct, frozen=True, array_like=True):
    """One answer in a tally, and the number of the judgment that gave it."""

    fact: int
    worker: int
    answer: str


# The vote by which people, clothing and bodyparts skip the Requirement stage; nobody cast it.
NOBODY = 0


class Link(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pair of mentions that was asked about, or still is while the first has no chain."""

    mention: int
    target: int
    round: int = 1
    vote: Vote | None = None


class Chain(msgspec.Struct, frozen=True, omit_defaults=True):
    """Mentions that name the same set of things, and the progress of their boxes."""

    number: int
    mentions: tuple[int, ...]
    phase: Phase = Phase.LINKING
    verification: tuple[Vote, ...] = ()
    verification_round: int = 0
    # Box or no box: votes of the chain's whole life, or since a reviewer sent it back.
    requirement: tuple[Vote, ...] = ()
    requirement_round: int = 1
    # Whether all boxes are drawn: votes since a box was last accepted or removed.
    coverage: tuple[Vote, ...] = ()
    coverage_round: int = 1
    drawings: int = 0
    # Entries into Requirement or Coverage, and bad boxes, since a box was last accepted.
    entries: int = 0
    bad_boxes: int = 0
    scene: bool = False
    nobndbox: bool = False
    # Why the chain is in review.
    review: str = ""
    imported: bool = False
    public_id: int = 0
    indents: tuple[str, ...] | None = None


class BoxStatus(StrEnum):
    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    DISCARDED = "discarded"
    REMOVED = "removed"


class Box(msgspec.Struct, frozen=True, omit_defaults=True):
    """A rectangle; the crowd draws for one chain, an import may share a box among several."""

    number: int
    chains: tuple[int, ...]
    rect: Rect
    status: BoxStatus
    # Who drew it: a worker, or 0 for an import or a reviewer.
    drawer: int = NOBODY
    quality: Vote | None = None
    imported: bool = False
    indents: tuple[str, ...] | None = None


class BrokenChain(msgspec.Struct, frozen=True):
    """A chain that verification broke up, kept in case its judges are doubted."""

    number: int
    mentions: tuple[int, ...]
    votes: tuple[Vote, ...]
    round: int


class CaptionFlags(msgspec.Struct, frozen=True, omit_defaults=True):
    """Who said that a caption is about another image, whether that holds, and who settled it."""

    caption: int
    votes: tuple[Vote, ...] = ()
    unrelated: bool = False
    reviewed: bool = False


class CutReport(msgspec.Struct, frozen=True):
    """A worker says that a mention is cut wrongly."""

    mention: int
    vote: Vote


class SecondOpinion(msgspec.Struct, frozen=True):
    """A settled decision that rested on a doubted judgment and is asked about again."""

    question: Question
    decided: str
    worker: int


class Barred(msgspec.Struct, frozen=True):
    """A worker whose vote in a tally was doubted; even if reinstated, they may not vote again."""

    question: Question
    worker: int


class Parts(msgspec.Struct, frozen=True, omit_defaults=True):
    """The parts of a state that a review decision may change; see `decisions.py`."""

    mentions: tuple[Mention, ...] = ()
    links: tuple[Link, ...] = ()
    chains: tuple[Chain, ...] = ()
    boxes: tuple[Box, ...] = ()
    flags: tuple[CaptionFlags, ...] = ()
    cut_reports: tuple[CutReport, ...] = ()
    second_opinions: tuple[SecondOpinion, ...] = ()


class DecisionRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The changes of a review decision, with enough detail to undo it."""

    fact: int
    before: Parts
    after: Parts
    # Judgments in `before` that were doubted after the decision had removed them.
    doubts: tuple[int, ...] = ()


class ImageState(msgspec.Struct, frozen=True, omit_defaults=True):
    """The fold of an image's facts."""

    width: int
    height: int
    captions: tuple[Caption, ...]
    mentions: tuple[Mention, ...]
    facts: int = 0
    links: tuple[Link, ...] = ()
    link_round: int = 1
    chains: tuple[Chain, ...] = ()
    next_chain: int = 1
    boxes: tuple[Box, ...] = ()
    next_box: int = 1
    broken: tuple[BrokenChain, ...] = ()
    flags: tuple[CaptionFlags, ...] = ()
    cut_reports: tuple[CutReport, ...] = ()
    second_opinions: tuple[SecondOpinion, ...] = ()
    barred: tuple[Barred, ...] = ()
    decisions: tuple[DecisionRecord, ...] = ()

    @property
    def is_finished(self) -> bool:
        """Whether nothing is left to ask or to review."""
        return (
            not self.flagged_captions
            and not self.second_opinions
            and all(chain.phase in SETTLED for chain in self.chains)
            and not unplaced(self)
        )

    @property
    def flagged_captions(self) -> tuple[int, ...]:
        """The captions that workers marked as unrelated and no reviewer has looked at."""
        return tuple(f.caption for f in self.flags if f.unrelated and not f.reviewed)

    @property
    def in_review(self) -> bool:
        return bool(self.flagged_captions) or any(c.phase is Phase.REVIEW for c in self.chains)


_decode = msgspec.json.Decoder(ImageState)


def encode_state(state: ImageState) -> str:
    """Return the state as text; equal states give equal text."""
    return msgspec.json.encode(state).decode()


def decode_state(text: str) -> ImageState:
    return _decode.decode(text)


# Looking things up


def find_mention(state: ImageState, number: int) -> Mention | None:
    return next((m for m in state.mentions if m.number == number), None)


def find_chain(state: ImageState, number: int) -> Chain | None:
    return next((c for c in state.chains if c.number == number), None)


def find_box(state: ImageState, number: int) -> Box | None:
    return next((b for b in state.boxes if b.number == number), None)


def chain_of(state: ImageState, mention: int) -> Chain | None:
    """Return the chain that holds the mention; None while its turn is not over."""
    return next((c for c in state.chains if mention in c.mentions), None)


def mentions_of(state: ImageState, numbers: Iterable[int]) -> list[Mention]:
    wanted = set(numbers)
    return [m for m in state.mentions if m.number in wanted]


def chain_types(state: ImageState, chain: Chain) -> frozenset[str]:
    return frozenset(t for m in mentions_of(state, chain.mentions) for t in m.types)


def representative(state: ImageState, mentions: Sequence[int]) -> Mention:
    """Return the mention that stands for a chain on the task pages: the longest."""
    return longest(mentions_of(state, mentions), state.captions)


def accepted_boxes(state: ImageState, chain: int) -> list[Box]:
    return [b for b in state.boxes if b.status is BoxStatus.ACCEPTED and chain in b.chains]


def proposed_box(state: ImageState, chain: int) -> Box | None:
    """Return the box of the chain that waits for Quality."""
    return next(
        (b for b in state.boxes if b.status is BoxStatus.PROPOSED and chain in b.chains), None
    )


def unplaced(state: ImageState) -> list[Mention]:
    """Return the visual mentions that have no chain yet, in the order of their turns."""
    placed = {number for chain in state.chains for number in chain.mentions}
    waiting = [m for m in state.mentions if m.is_visual and m.number not in placed]
    return sorted(waiting, key=lambda m: (m.caption, m.start))


# Changing one part


def with_chain(state: ImageState, *chains: Chain) -> ImageState:
    """Replace the chains that have the same numbers, and add the others."""
    kept = {c.number: c for c in state.chains}
    kept.update((c.number, c) for c in chains)
    return msgspec.structs.replace(state, chains=tuple(kept[n] for n in sorted(kept)))


def without_chain(state: ImageState, *numbers: int) -> ImageState:
    return msgspec.structs.replace(
        state, chains=tuple(c for c in state.chains if c.number not in numbers)
    )


def with_box(state: ImageState, *boxes: Box) -> ImageState:
    kept = {b.number: b for b in state.boxes}
    kept.update((b.number, b) for b in boxes)
    return msgspec.structs.replace(state, boxes=tuple(kept[n] for n in sorted(kept)))


def new_chain(state: ImageState, mentions: Iterable[int]) -> tuple[ImageState, Chain]:
    """Start a chain with a new number, so that a late answer never reaches a different chain."""
    chain = Chain(number=state.next_chain, mentions=tuple(sorted(mentions)))
    state = msgspec.structs.replace(state, next_chain=chain.number + 1)
    return with_chain(state, chain), chain
