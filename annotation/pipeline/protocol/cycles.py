"""Cycling: a chain on which workers keep disagreeing goes to Additional Review."""

from msgspec.structs import replace

from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import Chain, ImageState, Phase, with_chain

CYCLED = "workers keep disagreeing"
BAD_BOXES = "bad boxes in a row"
CUT_WRONGLY = "a phrase is cut wrongly"
SECOND_OPINION = "a second opinion disagrees with a doubted answer"
NO_BOX_LEFT = "its last box was deleted"


def to_review(state: ImageState, chain: Chain, reason: str) -> ImageState:
    """Put the chain into the researchers' queue."""
    return with_chain(state, replace(chain, phase=Phase.REVIEW, review=reason))


def enter(state: ImageState, chain: Chain, phase: Phase, settings: Settings) -> ImageState:
    """Let the chain into Requirement or Coverage, unless it has been there too often."""
    chain = replace(chain, phase=phase, entries=chain.entries + 1)
    if chain.entries > settings.entries_limit:
        return to_review(state, chain, CYCLED)
    return with_chain(state, chain)
