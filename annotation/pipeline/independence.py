"""Independence: whose answer to a question would say something new."""

from annotation.pipeline.questions import Question, Stage
from annotation.pipeline.state import (
    Barred,
    BoxStatus,
    ImageState,
    Vote,
    accepted_boxes,
    find_box,
    find_chain,
)


def may_answer(state: ImageState, question: Question, worker: int) -> bool:
    """Tell whether the worker may answer an open question.

    Never two votes of one worker in one tally ("none needed" is a vote, and so is one that was
    doubted), never Quality on one's own box, never Coverage right after drawing the latest
    accepted box. All else is allowed.
    """
    if Barred(question=question, worker=worker) in state.barred:
        return False
    if any(s.question == question and s.worker == worker for s in state.second_opinions):
        return False
    if question.stage is Stage.LINKS:
        return True
    if question.stage is Stage.QUALITY:
        box = find_box(state, question.subject[0])
        return box is None or box.drawer != worker
    if _has_voted(_tally(state, question), worker):
        return False
    return not (
        question.stage is Stage.COVERAGE and _latest_drawer(state, question.subject[0]) == worker
    )


def _tally(state: ImageState, question: Question) -> tuple[Vote, ...]:
    """Return the votes among which the answer would count."""
    number = question.subject[0]
    chain = find_chain(state, number)
    if chain is None:
        return next((b.votes for b in state.broken if b.number == number), ())
    if question.stage is Stage.VERIFICATION:
        return chain.verification
    if question.stage is Stage.REQUIREMENT:
        return chain.requirement
    # A drawer may say "none needed": a vote on box or no box, or on completeness.
    if question.stage is Stage.DRAWING and not accepted_boxes(state, number):
        return chain.requirement
    return chain.coverage


def _has_voted(votes: tuple[Vote, ...], worker: int) -> bool:
    return any(vote.worker == worker for vote in votes)


def _latest_drawer(state: ImageState, chain: int) -> int | None:
    # Boxes are judged in the order they are drawn, so the latest accepted has the highest number.
    drawers = [
        box.drawer
        for box in state.boxes
        if box.status is BoxStatus.ACCEPTED and chain in box.chains
    ]
    return drawers[-1] if drawers else None
