"""Stage 4, Box Drawing: exactly one new box around one thing, or "no further box is needed"."""

from msgspec.structs import replace

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import BOX, Question, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stages.coverage import DRAWN, record_coverage
from annotation.pipeline.protocol.stages.requirement import record_requirement
from annotation.pipeline.protocol.state import (
    Box,
    BoxStatus,
    Chain,
    ImageState,
    Phase,
    Vote,
    accepted_boxes,
    with_box,
    with_chain,
)


def drawing_question(chain: Chain) -> Question:
    # Every drawing is a separate question: a worker may draw for a chain more than once.
    return Question(stage=Stage.DRAWING, subject=(chain.number,), round=chain.drawings + 1)


def new_box(state: ImageState, box: Box) -> ImageState:
    """Add a box under the next number."""
    box = replace(box, number=state.next_box)
    return with_box(replace(state, next_box=box.number + 1), box)


def record_drawing(
    state: ImageState, chain: Chain, vote: Vote, rect: Rect | None, settings: Settings
) -> ImageState:
    """A box goes to Quality; "none needed" is a vote against a box, or for completeness."""
    chain = replace(chain, drawings=chain.drawings + 1)
    if vote.answer == BOX:
        assert rect is not None  # the engine refuses a drawing without one
        drawn = Box(
            number=0,
            chains=(chain.number,),
            rect=rect,
            status=BoxStatus.PROPOSED,
            drawer=vote.worker,
        )
        return new_box(with_chain(state, replace(chain, phase=Phase.QUALITY)), drawn)
    if accepted_boxes(state, chain.number):
        return record_coverage(state, chain, replace(vote, answer=DRAWN), settings)
    return record_requirement(state, chain, vote, settings)
