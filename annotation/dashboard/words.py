"""Statuses, stages, facts and questions in plain words."""

from typing import assert_never

from annotation.models import ImageStatus
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import mention_text
from annotation.pipeline.protocol import facts
from annotation.pipeline.protocol.questions import (
    BAD,
    BOX,
    FALSE,
    GOOD,
    NO,
    NOBOX,
    NONE_NEEDED,
    SCENE,
    TRUE,
    YES,
    Question,
    Stage,
)
from annotation.pipeline.protocol.stage_spec import Subject, spec_of
from annotation.pipeline.protocol.state import (
    ImageState,
    Phase,
    find_box,
    find_chain,
    find_mention,
    representative,
)

# In the order in which pages show them.
STATUSES: dict[str, str] = {
    ImageStatus.FINISHED.value: "Finished",
    ImageStatus.OPEN.value: "In progress",
    ImageStatus.REVIEW.value: "Needs review",
    ImageStatus.WITHDRAWN.value: "Withdrawn",
}
STAGES: dict[Stage, str] = {stage: spec_of(stage).title for stage in Stage}
PHASES: dict[str, str] = {
    Phase.LINKING.value: "Collecting phrases",
    Phase.VERIFICATION.value: "Checking the phrases",
    Phase.REQUIREMENT.value: "Checking if it can have a box",
    Phase.DRAWING.value: "Drawing a box",
    Phase.QUALITY.value: "Checking a box",
    Phase.COVERAGE.value: "Checking if all boxes are there",
    Phase.COMPLETE.value: "Complete, with boxes",
    Phase.NONVISUAL.value: "Complete, without a box",
    Phase.REVIEW.value: "Needs review",
}
TARGETS: dict[facts.Target, str] = {
    facts.Target.LINKS: "back to Coreference Links",
    facts.Target.VERIFICATION: "back to Chain Verification",
    facts.Target.REQUIREMENT: "back to Box Requirement",
    facts.Target.DRAWING: "back to Box Drawing",
    facts.Target.COVERAGE: "back to Box Coverage",
    facts.Target.COMPLETE: "to complete",
    facts.Target.REVIEW: "to review",
}
CAPTION_REASON = "a caption may not be about the photo"


def fact_words(body: facts.Body, state: ImageState | None) -> str:
    """Describe a fact in words. Without a state (a withdrawn image), phrases appear as numbers.

    Chains and boxes appear by number, with the phrase if the chain still exists.
    """
    match body:
        case facts.Judgment():
            return f"Worker {body.worker} {_judgment(body, state)}"
        case facts.AcceptedImport():
            chains, boxes = _number(len(body.chains), "chain"), _number(len(body.boxes), "box")
            return f"The import added {chains} and {boxes} as finished annotation"
        case facts.Doubt(judgment=number, reason=reason):
            return f"Judgment {number} was doubted" + (f": {reason}" if reason else "")
        case facts.Undo(reviewer=reviewer, decision=number):
            return f"{_reviewer(reviewer)} undid decision {number}"
        case decision:
            return f"{_reviewer(decision.reviewer)} {_decision(decision, state)}"


def question_words(question: Question, state: ImageState) -> str:
    """Ask a question in one sentence."""
    spec = spec_of(question.stage)
    again = " (asked again because an answer was doubted)" if question.doubted else ""
    return spec.question.format(*_subject(spec.subject, question, state)) + again


def _subject(subject: Subject, question: Question, state: ImageState) -> list[str]:
    match subject:
        case Subject.MENTIONS:
            return [_mention(number, state) for number in question.subject]
        case Subject.CHAIN:
            return [_chain(question.subject[0], state)]
        case Subject.BOX:
            return [_box(question.subject[0], state)]
        case _:
            assert_never(subject)


def _judgment(judgment: facts.Judgment, state: ImageState | None) -> str:
    words = _answer(judgment, state)
    if judgment.question.doubted:
        words += f" (second opinion on judgment {judgment.question.doubted})"
    for number in judgment.cut_wrongly:
        words += f"; reported a wrong span for {_mention(number, state)}"
    for number in judgment.unrelated:
        words += f"; reported that caption {number} is not about the photo"
    return words


def _answer(judgment: facts.Judgment, state: ImageState | None) -> str:
    subject, answer, stage = judgment.question.subject, judgment.answer, judgment.question.stage
    match stage:
        case Stage.LINKS:
            first, second = (_mention(number, state) for number in subject)
            same = "refer" if answer == YES else "do not refer"
            return f"answered {answer}: {first} and {second} {same} to the same thing"
        case Stage.QUALITY:
            verdict = {GOOD: "accepted", BAD: "rejected"}[answer]
            return f"{verdict} {_box(subject[0], state)}"
        case Stage.VERIFICATION | Stage.REQUIREMENT | Stage.DRAWING | Stage.COVERAGE:
            return _chain_answer(stage, answer, _chain(subject[0], state), judgment.rect)
        case _:
            assert_never(stage)


def _chain_answer(stage: Stage, answer: str, chain: str, rect: Rect | None) -> str:
    if stage is Stage.DRAWING and answer == BOX and rect is not None:
        return f"drew a box of {rect.width} × {rect.height} pixels for {chain}"
    return {
        (Stage.VERIFICATION, TRUE): f"answered that all phrases of {chain} refer to the same thing",
        (Stage.VERIFICATION, FALSE): f"answered that phrases of {chain} refer to different things",
        (Stage.REQUIREMENT, BOX): f"answered that a box can be drawn for {chain}",
        (Stage.REQUIREMENT, SCENE): f"answered that {chain} is the scene or a place",
        (Stage.REQUIREMENT, NOBOX): f"answered that no box can be drawn for {chain}",
        (Stage.DRAWING, NONE_NEEDED): f"answered that {chain} needs no further box",
        (Stage.COVERAGE, YES): f"answered that all boxes of {chain} are drawn",
        (Stage.COVERAGE, NO): f"answered that a box of {chain} is still missing",
    }[stage, answer]


def _decision(decision: facts.Decision, state: ImageState | None) -> str:
    match decision:
        case facts.FixSpan(mention=number, start=start, end=end):
            return f"set the span of {_mention(number, state)} to words {start + 1} to {end}"
        case facts.Retype(mention=number, types=types):
            return f"gave {_mention(number, state)} the type {' and '.join(types)}"
        case facts.Split(chain=number, mentions=mentions):
            return f"split {_number(len(mentions), 'phrase')} off {_chain(number, state)}"
        case facts.Join(chains=chains):
            return "joined " + " and ".join(_chain(number, state) for number in chains)
        case facts.BoxAdd(chain=number, rect=rect):
            size = f"{rect.width} × {rect.height} pixels"
            return f"added a box of {size} to {_chain(number, state)}"
        case facts.BoxAdjust(box=number, rect=rect):
            return f"adjusted {_box(number, state)} to {rect.width} × {rect.height} pixels"
        case facts.BoxDelete(box=number):
            return f"deleted {_box(number, state)}"
        case facts.NoBox(chain=number, scene=scene, nobndbox=nobndbox):
            settled = {(True, False): "the scene or a place", (False, True): "without a box"}
            how = settled.get((scene, nobndbox), "the scene or a place, without a box")
            return f"settled {_chain(number, state)} as {how}"
        case facts.CaptionUnrelated(caption=number, unrelated=unrelated):
            return f"decided that caption {number} is {'not ' if unrelated else ''}about the photo"
        case facts.SendTo(chain=number, target=target, reason=reason):
            why = f": {reason}" if reason else ""
            return f"sent {_chain(number, state)} {TARGETS[target]}{why}"
        case _:
            assert_never(decision)


def _reviewer(number: int) -> str:
    return f"Reviewer {number}" if number else "The system"


def _mention(number: int, state: ImageState | None) -> str:
    mention = find_mention(state, number) if state is not None else None
    if state is None or mention is None:
        return f"phrase {number}"
    return f"“{mention_text(mention, state.captions)}”"


def _chain(number: int, state: ImageState | None) -> str:
    if state is None:
        return f"chain {number}"
    chain = find_chain(state, number) or next(
        (broken for broken in state.broken if broken.number == number), None
    )
    if chain is None or not chain.mentions:
        return f"chain {number}"
    phrase = mention_text(representative(state, chain.mentions), state.captions)
    return f"chain {number} (“{phrase}”)"


def _box(number: int, state: ImageState | None) -> str:
    box = find_box(state, number) if state is not None else None
    if box is None or not box.chains:
        return f"box {number}"
    return f"box {number} of {' and '.join(_chain(chain, state) for chain in box.chains)}"


def _number(count: int, thing: str) -> str:
    plural = "boxes" if thing == "box" else f"{thing}s"
    return f"{count:,} {thing if count == 1 else plural}"
