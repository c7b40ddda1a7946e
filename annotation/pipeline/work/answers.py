"""A worker's answer to a question as it was shown, and whether the answer makes sense."""

import hashlib
from collections.abc import Collection, Mapping

import msgspec

from annotation.pipeline.geometry import Rect, rect_problem
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.questions import Question, Stage
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.display import Shown

REASONS = ("not_the_thing", "not_tight", "several_things", "already_covered")


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """An answer and the worker's reports with it; the comment never enters the dataset.

    `answer` is empty while the worker has made only a remark.
    """

    answer: str
    rect: Rect | None = None
    way: str = ""
    milliseconds: int = 0
    reasons: tuple[str, ...] = ()
    cut_wrongly: tuple[int, ...] = ()
    unrelated: tuple[int, ...] = ()
    comment: str = ""


_decode = msgspec.json.Decoder(Answer)


def encode_answer(answer: Answer) -> str:
    return msgspec.json.encode(answer).decode()


def decode_answer(text: str) -> Answer:
    return _decode.decode(text)


def tidy(answer: Answer) -> Answer:
    """Sort the sets and drop repeats, so that equal answers are equal values."""
    return msgspec.structs.replace(
        answer,
        reasons=tuple(sorted(set(answer.reasons))),
        cut_wrongly=tuple(sorted(set(answer.cut_wrongly))),
        unrelated=tuple(sorted(set(answer.unrelated))),
    )


def says_the_same(one: Answer, other: Answer) -> bool:
    """Tell whether two answers agree, however they were given."""
    return (one.answer, one.rect) == (other.answer, other.rect)


def answers_digest(answers: Mapping[int, Answer]) -> str:
    """Return a digest of all answers of a sitting; equal answers give equal digests."""
    canonical = [(number, tidy(answers[number])) for number in sorted(answers)]
    return hashlib.sha256(msgspec.json.encode(canonical)).hexdigest()


def remarks_problem(answer: Answer, shown: Shown) -> str | None:
    """Explain why this remark does not fit what was shown; it may come before the answer."""
    if answer.rect is not None or answer.way or answer.reasons:
        return "a box or a reason was sent without an answer"
    return _reported_problem(answer, shown)


def answer_problem(
    answer: Answer,
    *,
    stage: Stage,
    shown: Shown,
    width: int,
    height: int,
    ways: Collection[str] = (),
) -> str | None:
    """Explain in plain words why this does not answer what was shown; None if it does.

    `ways` are the ways of drawing that the sitting offers.
    """
    if answer.answer not in spec_of(stage).answers:
        return f"{answer.answer!r} is not an answer here; use {_either(spec_of(stage).answers)}"
    return _rect_problem(answer, stage, width, height, ways) or _reports_problem(
        answer, stage, shown
    )


def _rect_problem(
    answer: Answer, stage: Stage, width: int, height: int, ways: Collection[str]
) -> str | None:
    draws = spec_of(stage).draws(answer.answer)
    if answer.rect is None:
        if draws:
            return "the box is missing"
        return "a way of drawing was sent without a box" if answer.way else None
    if not draws:
        return f"the answer {answer.answer!r} takes no box"
    if not answer.way:
        return "the way of drawing is missing"
    if answer.way not in ways:
        return f"boxes cannot be drawn by {answer.way!r} here; use {_either(ways)}"
    return rect_problem(answer.rect, width, height)


def _reports_problem(answer: Answer, stage: Stage, shown: Shown) -> str | None:
    if answer.reasons and answer.answer != spec_of(stage).explained_answer:
        return "only a bad box can have reasons"
    for reason in answer.reasons:
        if reason not in REASONS:
            return f"{reason!r} is not a reason; use {_either(REASONS)}"
    return _reported_problem(answer, shown)


def _reported_problem(answer: Answer, shown: Shown) -> str | None:
    mentions = {mark.mention for mark in shown.marks}
    for number in answer.cut_wrongly:
        if number not in mentions:
            return f"phrase {number} is not marked in this question, so it cannot be reported"
    for number in answer.unrelated:
        if number not in shown.captions:
            return f"caption {number} is not shown in this question"
    return None


def judgment_of(answer: Answer, *, worker: int, question: Question) -> Judgment:
    """Return the fact that an answer becomes; the comment is left out."""
    return Judgment(
        worker=worker,
        question=question,
        answer=answer.answer,
        rect=answer.rect,
        cut_wrongly=answer.cut_wrongly,
        unrelated=answer.unrelated,
        milliseconds=answer.milliseconds,
        way=answer.way,
        reasons=answer.reasons,
    )


def _either(words: Collection[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} or {last}" if first else last
