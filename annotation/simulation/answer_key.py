"""The right answer to any question, read off an image's gold chains and boxes."""

from typing import assert_never

from annotation.pipeline.geometry import Rect, iou
from annotation.pipeline.protocol.facts import AcceptedImport, ImportedChain
from annotation.pipeline.protocol.questions import (
    BAD,
    BOX,
    FALSE,
    GOOD,
    NO,
    NOBOX,
    NONE_NEEDED,
    SCENE,
    TRUE,
    YES,
    Question,
    Stage,
)
from annotation.pipeline.protocol.state import (
    ImageState,
    accepted_boxes,
    find_box,
    find_chain,
    representative,
)

# From this overlap on an object counts as boxed, even if badly ...
SEEN = 0.5
# ... and a box as tight from this one on.
TIGHT = 0.75


class AnswerKey:
    """An image's gold annotation, looked up by mention."""

    def __init__(self, gold: AcceptedImport) -> None:
        self.chain_of: dict[int, int] = {}
        self._rects: dict[int, list[Rect]] = {}
        self._chains: dict[int, ImportedChain] = {}
        for number, chain in enumerate(gold.chains, start=1):
            self._chains[number] = chain
            self._rects[number] = [b.rect for b in gold.boxes if number in b.chains]
            for mention in chain.mentions:
                self.chain_of[mention] = number
        self.all_rects = [box.rect for box in gold.boxes]
        self.unrelated = gold.unrelated

    def answer(self, state: ImageState, question: Question) -> str:
        """Return the right answer; for a drawing, `missing` has the rectangle."""
        match question.stage:
            case Stage.LINKS:
                first, second = question.subject
                return YES if self.chain_of[first] == self.chain_of[second] else NO
            case Stage.VERIFICATION:
                chains = {self.chain_of[n] for n in subject_mentions(state, question)}
                return TRUE if len(chains) == 1 else FALSE
            case Stage.REQUIREMENT:
                return self._requirement(state, question)
            case Stage.DRAWING:
                return BOX if self.missing(state, question.subject[0]) else NONE_NEEDED
            case Stage.QUALITY:
                return GOOD if self._is_good(state, question.subject[0]) else BAD
            case Stage.COVERAGE:
                return NO if self.missing(state, question.subject[0]) else YES
            case _:
                assert_never(question.stage)

    def rects_of(self, thing: int) -> list[Rect]:
        """Return the boxes of a gold chain."""
        return self._rects[thing]

    def flags_of(self, thing: int) -> tuple[bool, bool]:
        """Return whether a gold chain without a box is a scene, and whether it has none."""
        chain = self._chains[thing]
        return chain.scene, chain.nobndbox or not chain.scene

    def missing(self, state: ImageState, chain: int) -> list[Rect]:
        """Return the gold rectangles of the chain's objects that have no accepted box yet."""
        boxes = [box.rect for box in accepted_boxes(state, chain)]
        return _unmatched(self._gold_rects(state, chain), boxes)

    def _gold_rects(self, state: ImageState, number: int) -> list[Rect]:
        chain = find_chain(state, number)
        if chain is None or not chain.mentions:
            return []
        # Workers see the representative mention, so a chain with a wrong link follows that mention.
        return self._rects[self.chain_of[representative(state, chain.mentions).number]]

    def _requirement(self, state: ImageState, question: Question) -> str:
        chain = find_chain(state, question.subject[0])
        assert chain is not None  # the question is open
        gold = self.chain_of[representative(state, chain.mentions).number]
        if self._rects[gold]:
            return BOX
        flags = self._chains[gold]
        if flags.scene and flags.nobndbox:
            # Both apply: workers would choose sometimes one, sometimes the other.
            scenes = sum(vote.answer == SCENE for vote in chain.requirement)
            noboxes = sum(vote.answer == NOBOX for vote in chain.requirement)
            return SCENE if scenes <= noboxes else NOBOX
        return SCENE if flags.scene else NOBOX

    def _is_good(self, state: ImageState, number: int) -> bool:
        box = find_box(state, number)
        assert box is not None  # the question is open
        chain = box.chains[0]
        others = [b.rect for b in accepted_boxes(state, chain) if b.number != number]
        free = _unmatched(self._gold_rects(state, chain), others)
        return any(iou(box.rect, rect) >= TIGHT for rect in free)


def subject_mentions(state: ImageState, question: Question) -> tuple[int, ...]:
    """Return the mentions of the chain, or broken chain, that a verification is about."""
    number = question.subject[0]
    chain = find_chain(state, number)
    if chain is not None:
        return chain.mentions
    return next(broken.mentions for broken in state.broken if broken.number == number)


def _unmatched(gold: list[Rect], boxes: list[Rect]) -> list[Rect]:
    """Return the gold rectangles left over when each box takes the one it fits best."""
    pairs = sorted(
        (
            (-iou(a, b), i, j)
            for i, a in enumerate(gold)
            for j, b in enumerate(boxes)
            if iou(a, b) >= SEEN
        ),
    )
    taken_gold: set[int] = set()
    taken_boxes: set[int] = set()
    for _, i, j in pairs:
        if i not in taken_gold and j not in taken_boxes:
            taken_gold.add(i)
            taken_boxes.add(j)
    return [rect for i, rect in enumerate(gold) if i not in taken_gold]
