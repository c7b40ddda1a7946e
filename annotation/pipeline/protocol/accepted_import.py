"""Accepted imports: finished annotation that came with the corpus."""

from msgspec.structs import replace

from annotation.pipeline.geometry import rect_problem
from annotation.pipeline.protocol.facts import AcceptedImport, FactRefusedError
from annotation.pipeline.protocol.reports import with_flags
from annotation.pipeline.protocol.state import (
    Box,
    BoxStatus,
    CaptionFlags,
    Chain,
    ImageState,
    Phase,
)


def accept_import(state: ImageState, accepted: AcceptedImport) -> ImageState:
    """Take chains and boxes as they are; only an image without facts accepts them."""
    if state.facts > 1:
        raise FactRefusedError(
            "annotation can be imported only into an image without judgments or decisions"
        )
    _check(state, accepted)
    boxed = {number for box in accepted.boxes for number in box.chains}
    chains = tuple(
        Chain(
            number=number,
            mentions=tuple(sorted(chain.mentions)),
            phase=Phase.COMPLETE if number in boxed else Phase.NONVISUAL,
            scene=chain.scene,
            nobndbox=chain.nobndbox,
            imported=True,
            public_id=chain.public_id,
            indents=chain.indents,
        )
        for number, chain in enumerate(accepted.chains, start=1)
    )
    boxes = tuple(
        Box(
            number=number,
            chains=box.chains,
            rect=box.rect,
            status=BoxStatus.ACCEPTED,
            imported=True,
            indents=box.indents,
        )
        for number, box in enumerate(accepted.boxes, start=1)
    )
    state = replace(
        state,
        links=(),
        chains=chains,
        next_chain=len(chains) + 1,
        boxes=boxes,
        next_box=len(boxes) + 1,
    )
    for caption in accepted.unrelated:
        state = with_flags(state, CaptionFlags(caption=caption, unrelated=True, reviewed=True))
    return state


def _check(state: ImageState, accepted: AcceptedImport) -> None:
    visual = sorted(m.number for m in state.mentions if m.is_visual)
    linked = sorted(number for chain in accepted.chains for number in chain.mentions)
    if visual != linked:
        odd = sorted(set(visual).symmetric_difference(linked)) or linked
        raise FactRefusedError(f"each visual mention needs exactly one chain; check mentions {odd}")
    for box in accepted.boxes:
        problem = rect_problem(box.rect, state.width, state.height)
        if problem:
            raise FactRefusedError(problem)
        if not box.chains or not all(1 <= n <= len(accepted.chains) for n in box.chains):
            raise FactRefusedError(f"a box names chains {box.chains}, but not all of them exist")
    for caption in accepted.unrelated:
        if not 1 <= caption <= len(state.captions):
            raise FactRefusedError(f"there is no caption {caption} in this image")
