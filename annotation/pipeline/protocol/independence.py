"""Independence: which workers could add something new by answering a question."""

from typing import assert_never

from annotation.pipeline.protocol.questions import Question, Stage
from annotation.pipeline.protocol.state import (
    NOBODY,
    BoxStatus,
    ImageState,
    Vote,
    accepted_boxes,
    find_box,
    find_chain,
)


def may_answer(state: ImageState, question: Question, worker: int) -> bool:
    """Tell whether the worker may answer an open question."""
    return worker not in kept_out(state, question)


def kept_out(state: ImageState, question: Question) -> frozenset[int]:
    """Return the workers who may not answer an open question.

    No worker votes twice in one tally ("none needed" is a vote, and so is a doubted one), judges
    Quality of their own box, or answers Coverage right after drawing the latest accepted box.
    Everything else is allowed.
    """
    out = {barred.worker for barred in state.barred if barred.question == question}
    out |= {opinion.worker for opinion in state.second_opinions if opinion.question == question}
    match question.stage:
        case Stage.LINKS:
            pass  # one judgment decides: there is no tally
        case Stage.VERIFICATION | Stage.REQUIREMENT | Stage.DRAWING:
            out |= {vote.worker for vote in _tally(state, question)}
        case Stage.QUALITY:
            box = find_box(state, question.subject[0])
            out |= {box.drawer} if box is not None else set()
        case Stage.COVERAGE:
            out |= {vote.worker for vote in _tally(state, question)}
            out.add(_latest_drawer(state, question.subject[0]))
        case _:
            assert_never(question.stage)
    return frozenset(out - {NOBODY})


def _tally(state: ImageState, question: Question) -> tuple[Vote, ...]:
    """Return the votes that the answer would join."""
    number = question.subject[0]
    chain = find_chain(state, number)
    if chain is None:
        return next((b.votes for b in state.broken if b.number == number), ())
    match question.stage:
        case Stage.VERIFICATION:
            return chain.verification
        case Stage.REQUIREMENT:
            return chain.requirement
        case Stage.DRAWING:
            # A drawer may say "none needed": a vote on box or no box, or on completeness.
            return chain.coverage if accepted_boxes(state, number) else chain.requirement
        case Stage.COVERAGE:
            return chain.coverage
        case Stage.LINKS | Stage.QUALITY:
            return ()
        case _:
            assert_never(question.stage)


def _latest_drawer(state: ImageState, chain: int) -> int:
    # Boxes are judged in the order they are drawn, so the latest accepted one has the highest
    # number.
    drawers = [
        box.drawer
        for box in state.boxes
        if box.status is BoxStatus.ACCEPTED and chain in box.chains
    ]
    return drawers[-1] if drawers else NOBODY
