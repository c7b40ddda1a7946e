"""Answers: saved as they are given, and submitted all together."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.crowd.hits import hit_look_soon
from annotation.actions.work.sittings import (
    SittingRefusedError,
    Trouble,
    sitting_live,
    sitting_until,
)
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import (
    Answer,
    answer_problem,
    answers_digest,
    decode_answer,
    encode_answer,
    remarks_problem,
    says_the_same,
    tidy,
)
from annotation.pipeline.work.display import decode_shown
from annotation.selectors.work.sittings import (
    Claim,
    Graded,
    grade,
    is_explained,
    is_over,
    sitting_lessons,
    sitting_questions,
    sitting_ways,
    sittings_of,
)
from common.clock import database_now
from common.rows import only_row

FINISHED_FIELDS = [
    *("status", "digest", "finished_at", "until", "milliseconds"),
    *("right", "asked", "needed"),
]
TIME_IS_UP = "Your time for these questions is up. Load the page again to get new ones."


class Kept(msgspec.Struct, frozen=True):
    """An answer was kept. In a test: whether it was right; else how much time is left."""

    graded: Graded | None = None
    # None: the time given before still applies.
    seconds_left: int | None = None


def draft_save(
    *, claim: Claim, number: int, answer: Answer | None, sitting_id: int = 0, at: int = 0
) -> Kept:
    """Keep a draft answer, only a remark, or nothing; a test's answer is final and graded.

    `at` is when the page sent it, by the clock that it got from us, in milliseconds. A draft that
    arrives after a newer one changes nothing.
    """
    with transaction.atomic():
        # Only a test's answer, and one that renews an unproven sitting's time, need the campaign.
        alone = claim.kind == SittingKind.WORK and claim.acceptance is not None
        sitting, now = _at_work(claim, sitting_id, alone=alone)
        if sitting.status == SittingStatus.FINISHED:
            raise SittingRefusedError(
                Trouble.FINISHED, "The answers have been submitted and can no longer be changed."
            )
        question = _question(sitting, number)
        if sitting.kind == SittingKind.TEST:
            graded = _test_answer(sitting, question, answer, now)
            return Kept(graded=graded if is_explained(sitting) else None)
        if answer is not None and answer.answer:
            _check(sitting, question, answer)
        elif answer is not None:
            _refuse(question, remarks_problem(answer, decode_shown(question.shown)))
        if at == 0 or at >= question.sent_at:
            question.sent_at = at or question.sent_at
            _store(question, answer, now)
        return Kept(seconds_left=_keep_on(sitting, now))


def _keep_on(sitting: models.Sitting, now: datetime) -> int | None:
    """Extend the time of an unproven sitting while its worker is answering.

    Never beyond the time that a proven sitting gets.
    """
    if sitting.is_proven:
        return None
    longest = sitting.opened_at + timedelta(seconds=sitting.campaign.settings.sitting_seconds)
    sitting.until = min(longest, sitting_until(sitting, now))
    sitting.save(update_fields=["until"])
    return int((sitting.until - now).total_seconds())


def _at_work(
    claim: Claim, sitting_id: int, *, alone: bool = False
) -> tuple[models.Sitting, datetime]:
    """Lock and return the worker's current sitting; it may be finished.

    A page left open may belong to a lapsed sitting: its answers must not go to other questions.
    """
    sitting = sitting_live(claim, alone=alone)
    now = database_now()
    if sitting is not None and not is_over(sitting, now) and sitting_id in (0, sitting.pk):
        return sitting, now
    if sitting is not None or sittings_of(claim).exists():
        raise SittingRefusedError(Trouble.EXPIRED, TIME_IS_UP)
    raise SittingRefusedError(Trouble.NOT_FOUND, "There are no questions yet. Load the page again.")


def _question(sitting: models.Sitting, number: int) -> models.SittingQuestion:
    question = only_row(
        sitting.questions.select_related("image").filter(number=number, released_at=None)
    )
    if question is None:
        raise SittingRefusedError(
            Trouble.NOT_FOUND, f"There is no question {number} in this sitting."
        )
    return question


def _check(sitting: models.Sitting, question: models.SittingQuestion, answer: Answer) -> None:
    problem = answer_problem(
        answer,
        stage=Stage(sitting.stage),
        shown=decode_shown(question.shown),
        width=question.image.width,
        height=question.image.height,
        ways=sitting_ways(sitting),
    )
    _refuse(question, problem)


def _refuse(question: models.SittingQuestion, problem: str | None) -> None:
    if problem:
        raise SittingRefusedError(Trouble.BAD_REQUEST, f"Question {question.number}: {problem}.")


def _put(question: models.SittingQuestion, answer: Answer | None, now: datetime) -> None:
    question.answer = ""
    question.comment = answer.comment if answer else ""
    if answer is not None:
        question.answer = encode_answer(msgspec.structs.replace(tidy(answer), comment=""))
    question.saved_at = now


def _store(question: models.SittingQuestion, answer: Answer | None, now: datetime) -> None:
    _put(question, answer, now)
    question.save(update_fields=["answer", "comment", "saved_at", "sent_at"])


def _test_answer(
    sitting: models.Sitting,
    question: models.SittingQuestion,
    answer: Answer | None,
    now: datetime,
) -> Graded | None:
    if question.answer:
        if answer is None or not says_the_same(decode_answer(question.answer), answer):
            raise _answered(question.number)
    elif answer is not None:
        _check(sitting, question, answer)
        _store(question, answer, now)
    return None if answer is None else grade(sitting, question, sitting_lessons(sitting))


def _answered(number: int) -> SittingRefusedError:
    return SittingRefusedError(
        Trouble.ANSWERED,
        f"Question {number} is already answered; in a test the first answer counts.",
    )


# Finishing


@transaction.atomic
def sitting_finish(
    *, claim: Claim, answers: Mapping[int, Answer], sitting_id: int = 0
) -> models.Sitting:
    """Submit all answers. Only the first time counts; repeating it changes nothing.

    No judgment is recorded: the platform has to confirm the assignment first.
    """
    digest = answers_digest(answers)
    sitting, now = _at_work(claim, sitting_id)
    if sitting.status == SittingStatus.FINISHED:
        if sitting.digest != digest:
            raise SittingRefusedError(
                Trouble.FINISHED, "Other answers have already been submitted; those count."
            )
        return sitting
    questions = sitting_questions(sitting)
    _check_numbers(sitting, questions, answers)
    _finish(sitting, questions, answers, now)
    # Only after the transaction: others lock a HIT and then its sitting, so the reverse could
    # deadlock.
    transaction.on_commit(lambda: hit_look_soon(hit_id=sitting.hit_id))
    return sitting


def answers_put(*, sitting: models.Sitting, answers: Mapping[int, Answer], now: datetime) -> None:
    """Finish a locked sitting that may have lapsed with answers that came another way."""
    images = models.Image.objects.filter(withdrawn_at=None)
    questions = list(
        sitting.questions.filter(image__in=images).select_related("image").order_by("number")
    )
    # Require all answers, as the page does: otherwise workers could choose which checks to skip.
    _check_numbers(sitting, questions, answers)
    if not questions:
        raise SittingRefusedError(Trouble.BAD_REQUEST, "This sitting has no questions left.")
    _finish(sitting, questions, answers, now)


def _finish(
    sitting: models.Sitting,
    questions: list[models.SittingQuestion],
    answers: Mapping[int, Answer],
    now: datetime,
) -> None:
    for question in questions:
        answer = answers[question.number]
        if sitting.kind == SittingKind.TEST and question.answer:
            if not says_the_same(decode_answer(question.answer), answer):
                raise _answered(question.number)
            continue
        _check(sitting, question, answer)
        _put(question, answer, now)
    # Drafts of questions that have left the sitting meanwhile do not count as answers.
    gone = sitting.questions.exclude(released_at=None).exclude(pk__in=[q.pk for q in questions])
    gone.update(answer="", comment="")
    models.SittingQuestion.objects.bulk_update(questions, ["answer", "comment", "saved_at"])
    if sitting.kind == SittingKind.TEST:
        _score(sitting, questions)
    sitting.status = SittingStatus.FINISHED
    sitting.digest = answers_digest(answers)
    sitting.finished_at = now
    sitting.until = sitting_until(sitting, now)
    sitting.milliseconds = sum(answer.milliseconds for answer in answers.values())
    sitting.save(update_fields=FINISHED_FIELDS)


def _check_numbers(
    sitting: models.Sitting,
    questions: list[models.SittingQuestion],
    answers: Mapping[int, Answer],
) -> None:
    missing = [question.number for question in questions if question.number not in answers]
    if missing:
        which = ", ".join(str(number) for number in missing)
        raise SittingRefusedError(
            Trouble.INCOMPLETE, f"These questions have no answer yet: {which}."
        )
    # A question whose image was withdrawn after the page was loaded may still have an answer.
    known = set(sitting.questions.values_list("number", flat=True))
    for number in sorted(answers.keys() - known):
        raise SittingRefusedError(
            Trouble.BAD_REQUEST, f"There is no question {number} in this sitting."
        )


def _score(sitting: models.Sitting, questions: list[models.SittingQuestion]) -> None:
    lessons = sitting_lessons(sitting)
    sitting.right = sum(grade(sitting, question, lessons).right for question in questions)
    sitting.asked = len(questions)
    sitting.needed = sitting.campaign.settings.minimum_performance[Stage(sitting.stage)]
