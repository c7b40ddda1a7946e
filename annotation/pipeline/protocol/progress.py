"""Progress: how much work an image still needs, so that nearly finished ones come first."""

from annotation.pipeline.protocol.state import SETTLED, ImageState, Phase

# Rough numbers of judgments still to come (from the simulated crowd). A mention without a chain
# still needs its links, verification and all box stages.
MENTION = 6
CHAIN = {
    Phase.LINKING: 6,
    Phase.VERIFICATION: 6,
    Phase.REQUIREMENT: 5,
    Phase.DRAWING: 4,
    Phase.QUALITY: 3,
    Phase.COVERAGE: 2,
}


def work_left(state: ImageState) -> int:
    """Return about how many judgments the image still needs; 0 if nothing is left to ask."""
    linked = {number for chain in state.chains for number in chain.mentions}
    waiting = sum(m.is_visual and m.number not in linked for m in state.mentions)
    unsettled = sum(
        CHAIN.get(chain.phase, 0) for chain in state.chains if chain.phase not in SETTLED
    )
    return MENTION * waiting + unsettled + len(state.second_opinions)
