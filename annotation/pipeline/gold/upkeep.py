"""Maintaining gold questions: what answers reveal, whether their basis holds, how many to keep."""

import math
from typing import assert_never

from annotation.pipeline.gold.gold_question import Gold
from annotation.pipeline.gold.known_images import (
    KnownChain,
    imported_chains,
    known_image,
    reviewed_chains,
    unanimous_chains,
)
from annotation.pipeline.protocol.questions import BOX, GOOD, SCENE, TRUE, YES, Stage
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.trust.standing import Tally

# An unknown worker counts as if they had been right nine times out of ten.
_BEFORE_RIGHT, _BEFORE_CHECKS = 9, 10


def likely_accuracy(tally: Tally) -> float:
    """Return the probability that this worker answers correctly, for `is_leaked`.

    >>> likely_accuracy(Tally()), likely_accuracy(Tally(checks=30, right=30))
    (0.9, 0.975)
    """
    return (tally.right + _BEFORE_RIGHT) / (tally.checks + _BEFORE_CHECKS)


def wanted_per_answer(needed: int, seen: int, answers: int) -> int:
    """Return how many questions with each answer a stage should have in use.

    The worker who has seen the most questions must still find as many as a launch needs.

    >>> wanted_per_answer(needed=60, seen=0, answers=2), wanted_per_answer(60, 31, 3)
    (30, 31)
    """
    return math.ceil((needed + seen) / answers)


def still_holds(gold: Gold, state: ImageState) -> bool:
    """Tell whether the answer still follows from what is sure about the image.

    For questions made from the image's own chains, after a new doubt or decision.
    """
    sure = imported_chains(state) | reviewed_chains(state) | unanimous_chains(state)
    known = known_image(gold.image, state, sure, gold.source)
    chains: list[KnownChain] = []
    for mark in gold.shown.marks:
        about = (mark.mention, mark.caption, mark.start, mark.end)
        chain = next((c for c in known.chains if about in _spans(c)), None)
        if chain is None:
            return False
        chains.append(chain)
    return _follows(gold, chains)


def _spans(chain: KnownChain) -> set[tuple[int, int, int, int]]:
    return {(m.number, m.caption, m.start, m.end) for m in chain.mentions}


def _follows(gold: Gold, chains: list[KnownChain]) -> bool:
    boxes, candidate, answer = set(gold.shown.boxes), gold.shown.candidate, gold.answer
    rects = set(chains[0].rects)
    is_one = all(chain is chains[0] for chain in chains)
    match gold.stage:
        case Stage.LINKS:
            return is_one == (answer == YES)
        case Stage.VERIFICATION:
            return is_one == (answer == TRUE)
        case Stage.REQUIREMENT:
            if answer == BOX or rects:
                return bool(rects) and answer == BOX
            return chains[0].scene if answer == SCENE else chains[0].nobndbox
        case Stage.QUALITY:
            return boxes <= rects and (candidate in rects) == (answer == GOOD)
        case Stage.COVERAGE:
            return boxes == rects if answer == YES else boxes < rects
        case Stage.DRAWING:
            return False
        case _:
            assert_never(gold.stage)
