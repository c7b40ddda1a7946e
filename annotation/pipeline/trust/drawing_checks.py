"""Whether drawings were right. They have no gold questions; later answers decide.

A box is right if Quality accepts it. "None needed" is right if the chain ends without another box.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

import msgspec

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import GOOD
from annotation.pipeline.protocol.state import (
    NOBODY,
    SETTLED,
    Box,
    Chain,
    ImageState,
    Phase,
    accepted_boxes,
)


class Drawing(msgspec.Struct, frozen=True):
    """A judgment of Box Drawing that counted. Without a rectangle, it is "none needed"."""

    number: int
    worker: int
    chain: int
    rect: Rect | None = None


class DrawingCheck(msgspec.Struct, frozen=True):
    """Whether a drawing turned out to be right."""

    drawing: Drawing
    right: bool


def drawing_checks(
    state: ImageState, drawings: Sequence[Drawing], judged: Collection[int]
) -> Iterator[DrawingCheck]:
    """Yield the checks of drawings that the judgments with these numbers decide, oldest first.

    They decide about the boxes they judge, and about "none needed" in the chains they settle.
    """
    drawn = boxes_drawn(state.boxes, drawings)
    for box in state.boxes:
        if box.quality is not None and box.quality.fact in judged and box.number in drawn:
            yield DrawingCheck(drawn[box.number], box.quality.answer == GOOD)
    for chain in state.chains:
        votes = (*chain.requirement, *chain.coverage)
        if chain.phase in SETTLED and any(vote.fact in judged for vote in votes):
            latest = _latest_box(state, chain)
            for drawing in drawings:
                if drawing.rect is None and drawing.chain == chain.number:
                    nonvisual = chain.phase is Phase.NONVISUAL
                    yield DrawingCheck(drawing, nonvisual or drawing.number > latest)


def boxes_drawn(boxes: Iterable[Box], drawings: Sequence[Drawing]) -> dict[int, Drawing]:
    """Return the drawings that boxes come from, by the boxes' numbers.

    Boxes are numbered in the order they are drawn, so identical boxes of one careless worker are
    matched in that order.
    """
    waiting: dict[tuple[int, Rect | None], list[Drawing]] = defaultdict(list)
    for drawing in sorted(drawings, key=lambda drawing: drawing.number, reverse=True):
        waiting[drawing.worker, drawing.rect].append(drawing)
    return {
        box.number: alike.pop()
        for box in sorted(boxes, key=lambda box: box.number)
        if box.drawer != NOBODY and (alike := waiting[box.drawer, box.rect])
    }


def _latest_box(state: ImageState, chain: Chain) -> int:
    """Return the number of the judgment that accepted the chain's latest box."""
    accepted = accepted_boxes(state, chain.number)
    return max((box.quality.fact for box in accepted if box.quality is not None), default=0)
