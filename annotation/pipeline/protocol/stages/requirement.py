"""Stage 3, Box Requirement: can a box be drawn, is it the scene, or is there no box?"""

from msgspec.structs import replace

from annotation.pipeline.protocol.cycles import CUT_WRONGLY, enter, to_review
from annotation.pipeline.protocol.questions import BOX, NOBOX, SCENE, Question, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stages.coverage import restart_coverage
from annotation.pipeline.protocol.state import (
    NOBODY,
    Chain,
    ImageState,
    Phase,
    Vote,
    accepted_boxes,
    chain_types,
    with_chain,
)

STANDING_VOTE = Vote(fact=0, worker=NOBODY, answer=BOX)


def requirement_tally(votes: tuple[Vote, ...], settings: Settings) -> Phase:
    """Return where the votes of a chain's whole life send it.

    The chain is non-visual with enough votes against a box that outnumber the others. It goes to
    Drawing with more votes for a box, if the last vote is one. Otherwise Requirement asks again. A
    drawer's "none needed" is a vote against; drawing a box is not a vote.
    """
    box = sum(vote.answer == BOX for vote in votes)
    nobox = len(votes) - box
    if nobox >= settings.nobox_votes and nobox > box:
        return Phase.NONVISUAL
    if box > nobox and votes[-1].answer == BOX:
        return Phase.DRAWING
    return Phase.REQUIREMENT


def nonvisual_flags(votes: tuple[Vote, ...]) -> tuple[bool, bool]:
    """Return (scene, nobndbox) of a non-visual chain.

    A drawer's "none needed" counts for neither.
    """
    scene = sum(vote.answer == SCENE for vote in votes)
    nobox = sum(vote.answer == NOBOX for vote in votes)
    return scene >= nobox, nobox >= scene


def requirement_question(chain: Chain) -> Question:
    return Question(stage=Stage.REQUIREMENT, subject=(chain.number,), round=chain.requirement_round)


def begin_boxes(state: ImageState, chain: Chain, settings: Settings) -> ImageState:
    """Let a chain that has all its mentions enter the box stages."""
    if any(report.mention in chain.mentions for report in state.cut_reports):
        return to_review(state, chain, CUT_WRONGLY)
    if accepted_boxes(state, chain.number):
        return enter(state, restart_coverage(chain), Phase.COVERAGE, settings)
    skips = chain_types(state, chain).intersection(settings.standing_box_types)
    if skips and STANDING_VOTE not in chain.requirement:
        chain = replace(chain, requirement=(*chain.requirement, STANDING_VOTE))
    return settle_requirement(state, chain, settings)


def with_requirement_votes(chain: Chain, votes: tuple[Vote, ...]) -> Chain:
    """Return the chain with these votes and, if it is non-visual, with the resulting flags.

    Without any vote the flags stay. Then they come from a reviewer or an import, or all votes were
    doubted and the second opinions are still to come.
    """
    chain = replace(chain, requirement=votes)
    if chain.phase is not Phase.NONVISUAL or not votes:
        return chain
    scene, nobndbox = nonvisual_flags(votes)
    return replace(chain, scene=scene, nobndbox=nobndbox)


def settle_requirement(state: ImageState, chain: Chain, settings: Settings) -> ImageState:
    """Move the chain to the stage that its votes on box or no box call for."""
    phase = requirement_tally(chain.requirement, settings)
    if phase is Phase.NONVISUAL:
        chain = replace(chain, phase=phase)
        return with_chain(state, with_requirement_votes(chain, chain.requirement))
    if phase is Phase.DRAWING:
        return with_chain(state, replace(chain, phase=phase))
    if chain.phase is Phase.REQUIREMENT:
        return with_chain(state, chain)
    return enter(state, chain, Phase.REQUIREMENT, settings)


def record_requirement(
    state: ImageState, chain: Chain, vote: Vote, settings: Settings
) -> ImageState:
    return settle_requirement(
        state, replace(chain, requirement=(*chain.requirement, vote)), settings
    )
