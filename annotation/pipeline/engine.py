"""The only transition table: `apply(state, fact)` and `open_questions(state)`."""

from collections.abc import Iterable, Sequence
from functools import reduce
from typing import assert_never

from msgspec.structs import replace

from annotation.pipeline.captions import Caption
from annotation.pipeline.geometry import rect_problem
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.accepted_import import accept_import
from annotation.pipeline.protocol.facts import (
    AcceptedImport,
    Doubt,
    Fact,
    FactRefusedError,
    Judgment,
    Undo,
)
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import Question, Stage
from annotation.pipeline.protocol.reports import record_reports
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.stages.coverage import coverage_question, record_coverage
from annotation.pipeline.protocol.stages.drawing import drawing_question, record_drawing
from annotation.pipeline.protocol.stages.links import (
    advance_turns,
    link_question,
    open_links,
    record_link,
)
from annotation.pipeline.protocol.stages.quality import quality_question, record_quality
from annotation.pipeline.protocol.stages.requirement import (
    begin_boxes,
    record_requirement,
    requirement_question,
)
from annotation.pipeline.protocol.stages.verification import (
    Verdict,
    break_chain,
    by_head,
    can_still_grow,
    chain_verdict,
    enter_verification,
    verification_question,
)
from annotation.pipeline.protocol.state import (
    Chain,
    ImageState,
    Phase,
    Vote,
    find_box,
    find_chain,
    find_mention,
    proposed_box,
    with_chain,
)
from annotation.pipeline.review.decisions import decide
from annotation.pipeline.review.doubts import (
    doubt,
    held_chains,
    prune_second_opinions,
    record_second_opinion,
)
from annotation.pipeline.review.undo import note_doubt, noted_doubts, record_decision, undo


def begin(
    captions: Sequence[Caption],
    mentions: Sequence[Mention],
    *,
    width: int,
    height: int,
    settings: Settings,
) -> ImageState:
    """Return the state of an image that has no facts yet."""
    state = ImageState(
        width=width, height=height, captions=tuple(captions), mentions=tuple(mentions)
    )
    return _settle(state, settings)


def apply(state: ImageState, fact: Fact) -> ImageState:
    """Return the state after one more fact.

    A judgment that comes too late, or from a worker who is not independent, changes only the number
    of facts; its reports still count. FactRefusedError: the fact makes no sense here and must not
    be stored.
    """
    if fact.number != state.facts + 1:
        raise FactRefusedError(f"fact {fact.number} cannot follow fact {state.facts}")
    before, state = state, replace(state, facts=fact.number)
    match fact.body:
        case Judgment() as judgment:
            _check_judgment(state, judgment)
            if counts(state, judgment):
                state = _record(state, judgment, fact)
            state = record_reports(state, judgment, fact)
        case AcceptedImport() as accepted:
            state = accept_import(state, accepted)
        case Doubt(judgment=number):
            state = note_doubt(doubt(state, number, fact.settings), number)
        case Undo(decision=number):
            doubts = noted_doubts(state, number)
            state = undo(state, number)
            for doubted in doubts:
                state = doubt(state, doubted, fact.settings)
        case decision:
            state = _settle(decide(state, decision, fact), fact.settings)
            return record_decision(before, state, fact.number)
    return _settle(state, fact.settings)


def fold(state: ImageState, facts: Iterable[Fact]) -> ImageState:
    """Apply facts in order. The stored state must always equal the result."""
    return reduce(apply, facts, state)


def open_questions(state: ImageState) -> list[Question]:
    """Return the questions to ask now; each needs exactly one more judgment."""
    return [] if state.flagged_captions else _askable(state)


def counts(state: ImageState, judgment: Judgment) -> bool:
    """Tell whether the judgment would count: the question is open and its author independent."""
    # While the whole image waits for a reviewer, answers already under way still count.
    return judgment.question in _askable(state) and may_answer(
        state, judgment.question, judgment.worker
    )


def _askable(state: ImageState) -> list[Question]:
    questions = [opinion.question for opinion in state.second_opinions]
    questions += [link_question(link) for link in open_links(state)]
    held = held_chains(state)
    for chain in state.chains:
        if chain.number not in held:
            questions += _chain_questions(state, chain)
    return questions


def _chain_questions(state: ImageState, chain: Chain) -> list[Question]:
    match chain.phase:
        case Phase.VERIFICATION:
            return [verification_question(chain)]
        case Phase.REQUIREMENT:
            return [requirement_question(chain)]
        case Phase.DRAWING:
            return [drawing_question(chain)]
        case Phase.QUALITY:
            box = proposed_box(state, chain.number)
            assert box is not None  # Quality begins with a box and ends with its judgment
            return [quality_question(box)]
        case Phase.COVERAGE:
            return [coverage_question(chain)]
        case Phase.LINKING | Phase.COMPLETE | Phase.NONVISUAL | Phase.REVIEW:
            return []
        case _:
            assert_never(chain.phase)


def _check_judgment(state: ImageState, judgment: Judgment) -> None:
    stage = judgment.question.stage
    if judgment.answer not in spec_of(stage).answers:
        allowed = ", ".join(spec_of(stage).answers)
        raise FactRefusedError(
            f"{judgment.answer!r} is not an answer to {judgment.question.key}; use {allowed}"
        )
    draws = spec_of(stage).draws(judgment.answer)
    if draws != (judgment.rect is not None):
        need = "needs a rectangle" if draws else "takes no rectangle"
        raise FactRefusedError(f"the answer {judgment.answer!r} to {judgment.question.key} {need}")
    if judgment.rect is not None:
        problem = rect_problem(judgment.rect, state.width, state.height)
        if problem:
            raise FactRefusedError(problem)
    for number in judgment.cut_wrongly:
        if find_mention(state, number) is None:
            raise FactRefusedError(f"there is no mention {number} in this image")
    for number in judgment.unrelated:
        if not 1 <= number <= len(state.captions):
            raise FactRefusedError(f"there is no caption {number} in this image")


def _record(state: ImageState, judgment: Judgment, fact: Fact) -> ImageState:
    question, settings = judgment.question, fact.settings
    vote = Vote(fact=fact.number, worker=judgment.worker, answer=judgment.answer)
    if question.doubted:
        return record_second_opinion(state, question, vote)
    number = question.subject[0]
    match question.stage:
        case Stage.LINKS:
            return record_link(state, question, vote)
        case Stage.VERIFICATION:
            return _record_verification(state, _chain(state, number), vote, settings)
        case Stage.REQUIREMENT:
            return record_requirement(state, _chain(state, number), vote, settings)
        case Stage.DRAWING:
            return record_drawing(state, _chain(state, number), vote, judgment.rect, settings)
        case Stage.QUALITY:
            box = find_box(state, number)
            assert box is not None  # the question was open
            return record_quality(state, _chain(state, box.chains[0]), box, vote, settings)
        case Stage.COVERAGE:
            return record_coverage(state, _chain(state, number), vote, settings)
        case _:
            assert_never(question.stage)


def _record_verification(
    state: ImageState, chain: Chain, vote: Vote, settings: Settings
) -> ImageState:
    chain = replace(chain, verification=(*chain.verification, vote))
    state = with_chain(state, chain)
    match chain_verdict(state, chain):
        case Verdict.ASK:
            return state
        case Verdict.KEEP:
            return begin_boxes(state, chain, settings)
        case Verdict.BREAK_BY_HEAD:
            groups = by_head(state, chain.mentions)
        case Verdict.BREAK_APART:
            groups = [(number,) for number in chain.mentions]
        case verdict:
            assert_never(verdict)
    state, parts = break_chain(state, chain, groups)
    for part in parts:
        state = begin_boxes(state, part, settings)
    return state


def _settle(state: ImageState, settings: Settings) -> ImageState:
    """Take every step that needs no further judgment."""
    state = advance_turns(state)
    for chain in state.chains:
        if chain.phase is Phase.LINKING and not can_still_grow(state, chain):
            if len(chain.mentions) > 1:
                state = enter_verification(state, chain)
            else:
                state = begin_boxes(state, chain, settings)
    return prune_second_opinions(state)


def _chain(state: ImageState, number: int) -> Chain:
    chain = find_chain(state, number)
    assert chain is not None  # only open questions are recorded, and their subjects exist
    return chain
