"""Stage 5, Box Quality: is the blue box good, given the red ones that are already there?"""

from msgspec.structs import replace

from annotation.pipeline.protocol.cycles import BAD_BOXES, enter, to_review
from annotation.pipeline.protocol.questions import GOOD, Question, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stages.coverage import restart_coverage
from annotation.pipeline.protocol.state import (
    Box,
    BoxStatus,
    Chain,
    ImageState,
    Phase,
    Vote,
    with_box,
    with_chain,
)


def quality_question(box: Box) -> Question:
    return Question(stage=Stage.QUALITY, subject=(box.number,))


def record_quality(
    state: ImageState, chain: Chain, box: Box, vote: Vote, settings: Settings
) -> ImageState:
    """A good box is accepted and leads to Coverage; a bad one is discarded and leads to Drawing."""
    if vote.answer == GOOD:
        state = with_box(state, replace(box, status=BoxStatus.ACCEPTED, quality=vote))
        chain = replace(restart_coverage(chain), entries=0, bad_boxes=0)
        return enter(state, chain, Phase.COVERAGE, settings)
    state = with_box(state, replace(box, status=BoxStatus.DISCARDED, quality=vote))
    chain = replace(chain, phase=Phase.DRAWING, bad_boxes=chain.bad_boxes + 1)
    if chain.bad_boxes >= settings.bad_boxes_limit:
        return to_review(state, chain, BAD_BOXES)
    return with_chain(state, chain)
