"""Review decisions: how each one changes an image's state, and when it is refused."""

from collections.abc import Iterable
from typing import assert_never

from msgspec.structs import replace

from annotation.pipeline.geometry import Rect, rect_problem
from annotation.pipeline.mentions.mention import ENTITY_TYPES, NOT_VISUAL, Mention
from annotation.pipeline.protocol.cycles import NO_BOX_LEFT, enter, to_review
from annotation.pipeline.protocol.facts import (
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    CaptionUnrelated,
    Decision,
    Fact,
    FactRefusedError,
    FixSpan,
    Join,
    NoBox,
    Retype,
    SendTo,
    Split,
    Target,
)
from annotation.pipeline.protocol.reports import flags_of, with_flags
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stages.coverage import restart_coverage
from annotation.pipeline.protocol.stages.drawing import new_box
from annotation.pipeline.protocol.stages.links import join_chains, unlink
from annotation.pipeline.protocol.stages.requirement import STANDING_VOTE, begin_boxes
from annotation.pipeline.protocol.stages.verification import enter_verification
from annotation.pipeline.protocol.state import (
    BEFORE_BOXES,
    Box,
    BoxStatus,
    Chain,
    ImageState,
    Phase,
    accepted_boxes,
    chain_of,
    find_box,
    find_chain,
    find_mention,
    new_chain,
    with_box,
    with_chain,
    without_chain,
)

BY_REVIEWER = "sent by a reviewer"


def decide(state: ImageState, decision: Decision, fact: Fact) -> ImageState:
    """Carry out a decision; FactRefusedError explains in plain words why it is impossible."""
    match decision:
        case FixSpan():
            return _fix_span(state, decision)
        case Retype():
            return _retype(state, decision, fact.settings)
        case Split():
            return _split(state, decision, fact.settings)
        case Join():
            return _join(state, decision, fact.settings)
        case BoxAdd():
            return _box_add(state, decision)
        case BoxAdjust():
            box = _live_box(state, decision.box)
            _check_rect(state, decision.rect)
            return with_box(state, replace(box, rect=decision.rect))
        case BoxDelete():
            return _box_delete(state, _live_box(state, decision.box))
        case NoBox():
            return _no_box(state, decision)
        case CaptionUnrelated(caption=number, unrelated=unrelated):
            if not 1 <= number <= len(state.captions):
                raise FactRefusedError(f"there is no caption {number} in this image")
            flags = flags_of(state, number)
            return with_flags(state, replace(flags, unrelated=unrelated, reviewed=True))
        case SendTo():
            return _send_to(state, decision)
        case _:
            assert_never(decision)


# Mentions


def _fix_span(state: ImageState, decision: FixSpan) -> ImageState:
    mention = _mention(state, decision.mention)
    length = len(state.captions[mention.caption - 1].tokens)
    if not 0 <= decision.start < decision.end <= length:
        raise FactRefusedError(
            f"tokens {decision.start} to {decision.end} are outside caption {mention.caption}, "
            f"which has {length} tokens"
        )
    for other in state.mentions:
        if (
            other.caption == mention.caption
            and other.number != mention.number
            and other.start < decision.end
            and decision.start < other.end
        ):
            raise FactRefusedError(f"the span would overlap mention {other.number}")
    fixed = replace(mention, start=decision.start, end=decision.end)
    return _forget_reports(_with_mention(state, fixed), (mention.number,))


def _retype(state: ImageState, decision: Retype, settings: Settings) -> ImageState:
    types = decision.types
    known = types == (NOT_VISUAL,) or (types and set(types) <= set(ENTITY_TYPES))
    if not known or len(set(types)) < len(types):
        raise FactRefusedError(
            f"{'/'.join(types) or 'nothing'} is not a valid choice of types; "
            f"choose from {', '.join(ENTITY_TYPES)}, or {NOT_VISUAL} alone"
        )
    mention = _mention(state, decision.mention)
    state = _with_mention(state, replace(mention, types=types))
    if types != (NOT_VISUAL,):
        return state
    state = unlink(state, (mention.number,))
    chain = chain_of(state, mention.number)
    if chain is None:
        return state
    rest = tuple(n for n in chain.mentions if n != mention.number)
    if not rest:
        return without_chain(_detach_boxes(state, chain.number), chain.number)
    return _shrunk(state, replace(chain, mentions=rest), settings)


# Chains


def _split(state: ImageState, decision: Split, settings: Settings) -> ImageState:
    chain = _chain(state, decision.chain)
    leaving = set(decision.mentions)
    if not leaving or not leaving < set(chain.mentions):
        raise FactRefusedError(
            f"choose some, but not all, of the mentions of chain {chain.number} to split off; "
            f"it has {_listed(chain.mentions)}"
        )
    own = {box.number: box for box in accepted_boxes(state, chain.number)}
    if not set(decision.boxes) <= set(own):
        missing = _listed(number for number in decision.boxes if number not in own)
        raise FactRefusedError(f"chain {chain.number} does not have these boxes: {missing}")
    state, part = new_chain(state, leaving)
    for number in decision.boxes:
        chains = tuple(part.number if n == chain.number else n for n in own[number].chains)
        state = with_box(state, replace(own[number], chains=chains))
    part = replace(part, imported=chain.imported)
    rest = replace(chain, mentions=tuple(n for n in chain.mentions if n not in leaving))
    state = with_chain(state, part)
    if decision.boxes and chain.phase is Phase.COMPLETE:
        state = with_chain(state, replace(part, phase=Phase.COMPLETE))
    elif chain.phase is Phase.NONVISUAL:
        flags = {"scene": chain.scene, "nobndbox": chain.nobndbox}
        state = with_chain(state, replace(part, phase=Phase.NONVISUAL, **flags))
    elif chain.phase not in BEFORE_BOXES:
        state = begin_boxes(state, part, settings)
    state = _shrunk(state, rest, settings)
    return _boxes_changed(state, chain.number) if decision.boxes else state


def _shrunk(state: ImageState, chain: Chain, settings: Settings) -> ImageState:
    """Store a chain that lost mentions; if it was being verified, verification starts again."""
    if chain.phase is not Phase.VERIFICATION:
        return with_chain(state, chain)
    if len(chain.mentions) > 1:
        return enter_verification(state, chain)
    return begin_boxes(state, chain, settings)


def _join(state: ImageState, decision: Join, settings: Settings) -> ImageState:
    numbers = sorted(set(decision.chains))
    if len(numbers) < 2:
        raise FactRefusedError("choose at least two chains to join")
    chains = [_chain(state, number) for number in numbers]
    phases = {chain.phase for chain in chains}
    state = join_chains(state, chains, ())
    joined = _chain(state, chains[0].number)
    joined = restart_coverage(replace(joined, entries=0, bad_boxes=0))
    if Phase.REVIEW in phases:
        return with_chain(state, joined)
    if phases.intersection(BEFORE_BOXES):
        return with_chain(state, replace(joined, phase=Phase.LINKING))
    if accepted_boxes(state, joined.number):
        done = phases <= {Phase.COMPLETE, Phase.NONVISUAL}
        if not done:
            return enter(state, joined, Phase.COVERAGE, settings)
        joined = replace(joined, phase=Phase.COMPLETE, scene=False, nobndbox=False)
        return with_chain(state, joined)
    if phases == {Phase.NONVISUAL}:
        return with_chain(state, joined)
    return begin_boxes(state, replace(joined, phase=Phase.LINKING), settings)


def _send_to(state: ImageState, decision: SendTo) -> ImageState:
    chain = _chain(state, decision.chain)
    if decision.target is Target.REVIEW:
        return to_review(_drop_proposal(state, chain.number), chain, decision.reason or BY_REVIEWER)
    if not chain.mentions:
        raise FactRefusedError(
            f"chain {chain.number} has no mention to show workers; send it to review"
        )
    boxes = accepted_boxes(state, chain.number)
    linking = chain.phase is Phase.LINKING
    chain = replace(chain, entries=0, bad_boxes=0, review="")
    state = _forget_reports(_drop_proposal(state, chain.number), chain.mentions)
    match decision.target:
        case Target.LINKS:
            state = without_chain(_detach_boxes(state, chain.number), chain.number)
            return unlink(state, chain.mentions)
        case Target.VERIFICATION if len(chain.mentions) > 1 and not linking:
            return enter_verification(state, chain)
        case Target.REQUIREMENT if not boxes and not linking:
            chain = replace(_restart_requirement(chain), phase=Phase.REQUIREMENT, entries=1)
            return with_chain(state, chain)
        case Target.DRAWING if not linking:
            # The reviewer's decision replaces the vote that Requirement would have given.
            chain = restart_coverage(_restart_requirement(chain))
            return with_chain(
                state, replace(chain, phase=Phase.DRAWING, requirement=(STANDING_VOTE,))
            )
        case Target.COVERAGE if boxes and not linking:
            chain = replace(restart_coverage(chain), phase=Phase.COVERAGE, entries=1)
            return with_chain(state, chain)
        case Target.COMPLETE if boxes and not linking:
            return with_chain(state, replace(restart_coverage(chain), phase=Phase.COMPLETE))
        case _:
            raise FactRefusedError(_why_not(chain, decision.target, linking=linking))


def _why_not(chain: Chain, target: Target, *, linking: bool) -> str:
    if linking:
        return f"chain {chain.number} is still being linked; send it to links or to review"
    match target:
        case Target.VERIFICATION:
            return f"chain {chain.number} has only one mention, so there is nothing to verify"
        case Target.REQUIREMENT:
            return f"chain {chain.number} has boxes; delete them first"
        case Target.COVERAGE | Target.COMPLETE:
            return f"chain {chain.number} has no box; draw one, or settle it as having no box"
        case Target.LINKS | Target.DRAWING | Target.REVIEW:
            raise AssertionError(f"any chain can be sent to {target.value}")
        case _:
            assert_never(target)


def _restart_requirement(chain: Chain) -> Chain:
    return replace(
        chain,
        requirement=(),
        requirement_round=chain.requirement_round + 1,
        scene=False,
        nobndbox=False,
    )


# Boxes


def _box_add(state: ImageState, decision: BoxAdd) -> ImageState:
    chain = _chain_past_verification(state, decision.chain)
    _check_rect(state, decision.rect)
    box = Box(number=0, chains=(chain.number,), rect=decision.rect, status=BoxStatus.ACCEPTED)
    return _boxes_changed(new_box(state, box), chain.number)


def _box_delete(state: ImageState, box: Box) -> ImageState:
    state = with_box(state, replace(box, status=BoxStatus.REMOVED))
    for number in box.chains:
        state = _boxes_changed(state, number)
    return state


def _no_box(state: ImageState, decision: NoBox) -> ImageState:
    chain = _chain_past_verification(state, decision.chain)
    if not (decision.scene or decision.nobndbox):
        raise FactRefusedError("choose whether the chain is a scene, has no box, or both")
    state = _forget_reports(_detach_boxes(state, chain.number), chain.mentions)
    # The reviewer's decision replaces all votes and does not depend on them.
    return with_chain(
        state,
        replace(
            restart_coverage(_restart_requirement(chain)),
            phase=Phase.NONVISUAL,
            scene=decision.scene,
            nobndbox=decision.nobndbox,
            review="",
        ),
    )


def _boxes_changed(state: ImageState, number: int) -> ImageState:
    """Start a new coverage tally and move the chain to the phase that its boxes now allow."""
    chain = find_chain(state, number)
    if chain is None:
        return state
    chain = restart_coverage(chain)
    has_boxes = bool(accepted_boxes(state, number))
    pending = any(b.status is BoxStatus.PROPOSED and number in b.chains for b in state.boxes)
    phase = chain.phase
    match phase:
        case Phase.COMPLETE if not has_boxes:
            return to_review(state, chain, NO_BOX_LEFT)
        case Phase.NONVISUAL if has_boxes:
            chain = replace(chain, phase=Phase.COMPLETE, scene=False, nobndbox=False)
        case Phase.REQUIREMENT | Phase.DRAWING | Phase.COVERAGE if has_boxes:
            chain = replace(chain, phase=Phase.COVERAGE, entries=1, bad_boxes=0)
        case Phase.COVERAGE:
            chain = replace(chain, phase=Phase.DRAWING)
        case Phase.QUALITY if not pending:
            chain = replace(chain, phase=Phase.COVERAGE if has_boxes else Phase.DRAWING)
        case Phase.LINKING | Phase.VERIFICATION | Phase.REQUIREMENT | Phase.DRAWING:
            pass
        case Phase.QUALITY | Phase.COMPLETE | Phase.NONVISUAL | Phase.REVIEW:
            pass
        case _:
            assert_never(phase)
    return with_chain(state, chain)


def _detach_boxes(state: ImageState, chain: int) -> ImageState:
    """Detach every box from the chain; remove boxes that belong to no other chain."""
    for box in state.boxes:
        if chain in box.chains and box.status in (BoxStatus.ACCEPTED, BoxStatus.PROPOSED):
            others = tuple(n for n in box.chains if n != chain)
            if others:
                state = with_box(state, replace(box, chains=others))
            else:
                state = with_box(state, replace(box, status=BoxStatus.REMOVED))
    return state


def _drop_proposal(state: ImageState, chain: int) -> ImageState:
    for box in state.boxes:
        if box.status is BoxStatus.PROPOSED and chain in box.chains:
            state = with_box(state, replace(box, status=BoxStatus.REMOVED))
    return state


# Looking up the parts that a decision refers to


def _listed(numbers: Iterable[int]) -> str:
    return ", ".join(str(number) for number in numbers)


def _mention(state: ImageState, number: int) -> Mention:
    mention = find_mention(state, number)
    if mention is None:
        raise FactRefusedError(f"there is no mention {number} in this image")
    return mention


def _chain(state: ImageState, number: int) -> Chain:
    chain = find_chain(state, number)
    if chain is None:
        raise FactRefusedError(f"there is no chain {number} in this image")
    return chain


def _chain_past_verification(state: ImageState, number: int) -> Chain:
    chain = _chain(state, number)
    if chain.phase in BEFORE_BOXES:
        raise FactRefusedError(
            f"chain {number} is still being linked or verified; settle its boxes after that"
        )
    return chain


def _live_box(state: ImageState, number: int) -> Box:
    box = find_box(state, number)
    if box is None or box.status not in (BoxStatus.ACCEPTED, BoxStatus.PROPOSED):
        raise FactRefusedError(f"there is no box {number} in this image")
    return box


def _check_rect(state: ImageState, rect: Rect) -> None:
    problem = rect_problem(rect, state.width, state.height)
    if problem:
        raise FactRefusedError(problem)


def _with_mention(state: ImageState, mention: Mention) -> ImageState:
    return replace(
        state,
        mentions=tuple(mention if m.number == mention.number else m for m in state.mentions),
    )


def _forget_reports(state: ImageState, mentions: tuple[int, ...]) -> ImageState:
    return replace(
        state, cut_reports=tuple(r for r in state.cut_reports if r.mention not in mentions)
    )
