"""Making gold questions from what is known of an image.

They ask only what nobody would argue about: a question that good workers get wrong costs them their
trust.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from typing import assert_never

from annotation.pipeline.geometry import iou
from annotation.pipeline.gold.boxes import bad_boxes, is_visible
from annotation.pipeline.gold.gold_question import Gold
from annotation.pipeline.gold.known_images import KnownChain, KnownImage
from annotation.pipeline.mentions.mention import Mention, head_word, longest
from annotation.pipeline.protocol.questions import (
    BAD,
    BOX,
    FALSE,
    GOOD,
    NO,
    NOBOX,
    SCENE,
    TRUE,
    YES,
    Stage,
)
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.work.display import Mark, Shown

# Make this many per image and answer: using more images teaches workers less about each.
PER_ANSWER = 2
# Two chains surely differ if no box of one overlaps a box of the other more than this.
APART_IOU = 0.3
# A box can surely be drawn around a thing that takes up between these shares of the image.
BOXED_SHARE = (0.01, 0.8)
# Workers surely notice one missing box if it takes up this share of the image and of its siblings'
# mean size, and if there are few enough boxes to look at.
MISSED_SHARE = 0.01
MISSED_OF_MEAN = 0.5
MOST_BOXES = 6


def make_gold(
    known: KnownImage, stage: Stage, settings: Settings, seed: str, per_answer: int = PER_ANSWER
) -> list[Gold]:
    """Return gold questions of a stage about an image, a few for each answer.

    The same seed gives the same questions; a larger `per_answer` adds more after those. Drawing has
    none.
    """
    random = Random(f"{seed}/{known.name}/{stage.value}")
    found = list(_candidates(known, stage, settings, random))
    random.shuffle(found)
    kept: list[Gold] = []
    for gold in found:
        same = [other for other in kept if other.answer == gold.answer]
        # Bad boxes are bad in many ways: do not repeat a way.
        repeats = gold.answer == BAD and any(other.kind == gold.kind for other in same)
        if len(same) < per_answer and not repeats:
            kept.append(gold)
    return kept


def _candidates(
    known: KnownImage, stage: Stage, settings: Settings, random: Random
) -> Iterator[Gold]:
    match stage:
        case Stage.LINKS:
            yield from _links(known)
        case Stage.VERIFICATION:
            yield from _verification(known)
        case Stage.REQUIREMENT:
            yield from _requirement(known, settings)
        case Stage.QUALITY:
            yield from _quality(known, random)
        case Stage.COVERAGE:
            yield from _coverage(known)
        case Stage.DRAWING:
            return
        case _:
            assert_never(stage)


# Phrases


def _links(known: KnownImage) -> Iterator[Gold]:
    """Pairs that the protocol could ask about: from two captions, with a common type."""
    for chain in known.chains:
        for one, other in combinations(chain.mentions, 2):
            if _could_be_asked(one, other):
                yield _gold(known, Stage.LINKS, _pair(one, other), YES, chain)
    for first, second in combinations(known.chains, 2):
        if not _are_apart(first, second):
            continue
        for one in first.mentions:
            for other in second.mentions:
                if _could_be_asked(one, other) and _head(known, one) != _head(known, other):
                    yield _gold(known, Stage.LINKS, _pair(one, other), NO, first, second)


def _verification(known: KnownImage) -> Iterator[Gold]:
    """Chains as they are, and chains with one phrase that belongs to another chain."""
    for chain in known.chains:
        captions = {mention.caption for mention in chain.mentions}
        # The crowd's own chains never hold two phrases of one caption: a second would give it away.
        if len(captions) < len(chain.mentions):
            continue
        if len(chain.mentions) > 1:
            yield _gold(known, Stage.VERIFICATION, _all(known, chain.mentions), TRUE, chain)
        heads = {_head(known, mention) for mention in chain.mentions}
        for other in known.chains:
            if other is chain or not _are_apart(chain, other):
                continue
            for mention in other.mentions:
                if (
                    mention.caption not in captions
                    and chain.types.intersection(mention.types)
                    and _head(known, mention) not in heads
                ):
                    shown = _all(known, (*chain.mentions, mention))
                    yield _gold(
                        known, Stage.VERIFICATION, shown, FALSE, chain, other, kind="foreign phrase"
                    )


def _could_be_asked(one: Mention, other: Mention) -> bool:
    return one.caption != other.caption and bool(set(one.types).intersection(other.types))


def _are_apart(first: KnownChain, second: KnownChain) -> bool:
    """Tell whether two chains surely name different things: both have boxes, which are apart."""
    return (
        bool(first.rects)
        and bool(second.rects)
        and all(iou(a, b) <= APART_IOU for a in first.rects for b in second.rects)
    )


# Boxes


def _requirement(known: KnownImage, settings: Settings) -> Iterator[Gold]:
    low, high = (share * known.width * known.height for share in BOXED_SHARE)
    for chain in known.chains:
        # The stage never asks about these: such a question would give itself away.
        if chain.types.intersection(settings.standing_box_types):
            continue
        if chain.rects:
            if low <= max(rect.area for rect in chain.rects) <= high:
                yield _gold(known, Stage.REQUIREMENT, _one(known, chain), BOX, chain)
        elif chain.scene != chain.nobndbox:  # both: workers would disagree on which to name
            answer = SCENE if chain.scene else NOBOX
            yield _gold(known, Stage.REQUIREMENT, _one(known, chain), answer, chain)


def _quality(known: KnownImage, random: Random) -> Iterator[Gold]:
    for chain in known.chains:
        if not chain.rects:
            continue
        shown = _one(known, chain)
        thing = random.choice(chain.rects)
        others = [rect for rect in chain.rects if rect != thing]
        if is_visible(thing) and all(iou(thing, rect) <= APART_IOU for rect in others):
            # Next to some of the other boxes, as if they were still being drawn.
            beside = random.sample(others, random.randint(0, len(others)))
            good = Shown(shown.captions, shown.marks, tuple(sorted(beside)), thing)
            yield _gold(known, Stage.QUALITY, good, GOOD, chain)
        foreign = [
            rect
            for other in known.chains
            if not other.types.intersection(chain.types)
            for rect in other.rects
        ]
        for bad in bad_boxes(chain.rects, foreign, known.width, known.height, random):
            what = Shown(shown.captions, shown.marks, bad.others, bad.rect)
            yield _gold(known, Stage.QUALITY, what, BAD, chain, kind=bad.kind)


def _coverage(known: KnownImage) -> Iterator[Gold]:
    for chain in known.chains:
        if not 1 <= len(chain.rects) <= MOST_BOXES:
            continue
        shown = _one(known, chain)
        full = Shown(shown.captions, shown.marks, chain.rects)
        yield _gold(known, Stage.COVERAGE, full, YES, chain)
        for missing in chain.rects:
            rest = tuple(rect for rect in chain.rects if rect != missing)
            if not rest:
                continue
            mean = sum(rect.area for rect in rest) / len(rest)
            if (
                missing.area >= MISSED_SHARE * known.width * known.height
                and missing.area >= MISSED_OF_MEAN * mean
                and is_visible(missing)
                and all(iou(missing, rect) <= APART_IOU for rect in rest)
            ):
                part = Shown(shown.captions, shown.marks, rest)
                yield _gold(known, Stage.COVERAGE, part, NO, chain, kind="box missing")


# What to show, as `showing.py` would


def _pair(one: Mention, other: Mention) -> Shown:
    """The later phrase is the one whose turn it was."""
    pair = sorted((one, other), key=lambda m: (m.caption, m.start), reverse=True)
    return Shown(captions=tuple(m.caption for m in pair), marks=_marks(pair))


def _all(known: KnownImage, mentions: Sequence[Mention]) -> Shown:
    return Shown(
        captions=tuple(caption.number for caption in known.captions),
        marks=_marks(sorted(mentions, key=lambda m: (m.caption, m.start))),
    )


def _one(known: KnownImage, chain: KnownChain) -> Shown:
    mention = longest(chain.mentions, known.captions)
    return Shown(captions=(mention.caption,), marks=_marks([mention]))


def _marks(mentions: Sequence[Mention]) -> tuple[Mark, ...]:
    return tuple(
        Mark(m.number, m.caption, m.start, m.end, colour)
        for colour, m in enumerate(mentions, start=1)
    )


def _head(known: KnownImage, mention: Mention) -> str:
    return head_word(mention, known.captions)


def _gold(
    known: KnownImage,
    stage: Stage,
    shown: Shown,
    answer: str,
    *chains: KnownChain,
    kind: str = "",
) -> Gold:
    workers = {worker for chain in chains for worker in chain.workers}
    return Gold(
        stage=stage,
        image=known.name,
        shown=shown,
        answer=answer,
        source=known.source,
        kind=kind,
        workers=tuple(sorted(workers)),
    )
