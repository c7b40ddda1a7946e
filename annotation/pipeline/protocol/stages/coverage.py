"""Stage 6, Box Coverage: have all boxes been drawn?"""

from msgspec.structs import replace

from annotation.pipeline.protocol.cycles import enter
from annotation.pipeline.protocol.questions import NO, Question, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import Chain, ImageState, Phase, Vote, with_chain

# A drawer's "no further box is needed", once there are boxes: a vote for completeness.
DRAWN = "drawn"


def coverage_tally(votes: tuple[Vote, ...], settings: Settings) -> Phase:
    """Return where the votes since a box was last accepted or removed send the chain.

    The chain is complete with enough "yes" votes that outnumber the "no" votes. It goes to Drawing
    with more "no" votes, if the last vote is one. Otherwise Coverage asks again. A drawer's "none
    needed" is a "yes".
    """
    no = sum(vote.answer == NO for vote in votes)
    yes = len(votes) - no
    if yes >= settings.coverage_votes and yes > no:
        return Phase.COMPLETE
    if no > yes and votes[-1].answer == NO:
        return Phase.DRAWING
    return Phase.COVERAGE


def restart_coverage(chain: Chain) -> Chain:
    """Begin a new tally: the chain's boxes have changed."""
    return replace(chain, coverage=(), coverage_round=chain.coverage_round + 1)


def coverage_question(chain: Chain) -> Question:
    return Question(stage=Stage.COVERAGE, subject=(chain.number,), round=chain.coverage_round)


def settle_coverage(state: ImageState, chain: Chain, settings: Settings) -> ImageState:
    """Move the chain to the stage that its votes on completeness call for."""
    phase = coverage_tally(chain.coverage, settings)
    if phase is not Phase.COVERAGE:
        return with_chain(state, replace(chain, phase=phase))
    if chain.phase is Phase.COVERAGE:
        return with_chain(state, chain)
    return enter(state, chain, Phase.COVERAGE, settings)


def record_coverage(state: ImageState, chain: Chain, vote: Vote, settings: Settings) -> ImageState:
    return settle_coverage(state, replace(chain, coverage=(*chain.coverage, vote)), settings)
