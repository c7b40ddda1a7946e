"""Workers request qualifications, some with a test; the requester or an answer key decides."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta

import msgspec
from django.db import transaction

from common.clock import database_now
from marketplace.actions.assignments import WorkRefusedError
from marketplace.actions.qualifications import DEFAULT_VALUE, qualification_grant
from marketplace.models import QualificationRequest, QualificationType, TestAttempt, Worker
from marketplace.rules.errors import invalid_state
from marketplace.rules.questions import (
    Problem,
    check_form_answers,
    form_answers_xml,
    form_selections,
    grade,
    parse_answer_key,
    parse_test,
)

ASKED_BEFORE = "You have already requested this qualification. It can be requested only once."
PENDING = "The requester has not decided on your request for this qualification yet."


class AnswersRefusedError(WorkRefusedError):
    """The answers to a test are not valid; the test stays open."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("Some answers are missing or not valid.")
        self.problems = problems


class RequestOutcome(msgspec.Struct, frozen=True):
    """The outcome of a worker's request: granted with a value, or waiting for the requester."""

    request: QualificationRequest
    value: int | None

    @property
    def is_granted(self) -> bool:
        return self.value is not None


def request_refusal(*, qualification_type: QualificationType, worker: Worker) -> str | None:
    """Say why the worker cannot request the qualification (or begin its test) now, or None."""
    return _refusal(qualification_type, worker, database_now())


@transaction.atomic
def attempt_start(*, qualification_type: QualificationType, worker: Worker) -> TestAttempt:
    """Open a qualification's test for a worker; opening it again does not restart its time."""
    _lock(worker)
    now = database_now()
    if not qualification_type.test or qualification_type.test_duration is None:
        raise WorkRefusedError("This qualification has no test.")
    attempt = _open_attempt(qualification_type, worker, now)
    if attempt is not None:
        return attempt
    refusal = _refusal(qualification_type, worker, now)
    if refusal:
        raise WorkRefusedError(refusal)
    return TestAttempt.objects.create(
        qualification_type=qualification_type,
        worker=worker,
        started_at=now,
        deadline=now + timedelta(seconds=qualification_type.test_duration),
    )


@transaction.atomic
def qualification_request(
    *,
    qualification_type: QualificationType,
    worker: Worker,
    fields: Iterable[tuple[str, str]] = (),
) -> RequestOutcome:
    """Request a qualification, with the answers if it has a test.

    It is granted at once if the type is AutoGranted or its answer key can grade the test; otherwise
    the request waits for the requester. Raises WorkRefusedError and AnswersRefusedError.
    """
    _lock(worker)
    now = database_now()
    qualification_type = QualificationType.objects.get(pk=qualification_type.pk)
    answer, value = "", None
    if qualification_type.test:
        answer, value = _take_answers(qualification_type, worker, list(fields), now)
    else:
        refusal = _refusal(qualification_type, worker, now)
        if refusal:
            raise WorkRefusedError(refusal)
        if qualification_type.auto_granted:
            value = qualification_type.auto_granted_value
            value = DEFAULT_VALUE if value is None else value
    status = QualificationRequest.PENDING if value is None else QualificationRequest.GRANTED
    request = QualificationRequest.objects.create(
        qualification_type=qualification_type,
        worker=worker,
        status=status,
        test=qualification_type.test,
        answer=answer,
        submitted_at=now,
    )
    if value is not None:
        qualification_grant(qualification_type=qualification_type, worker=worker, value=value)
    return RequestOutcome(request=request, value=value)


@transaction.atomic
def request_accept(*, request: QualificationRequest, value: int | None) -> None:
    """Grant a worker's request."""
    request = _lock_pending(request)
    request.status = QualificationRequest.GRANTED
    request.save(update_fields=["status"])
    qualification_grant(
        qualification_type=request.qualification_type,
        worker=request.worker,
        value=DEFAULT_VALUE if value is None else value,
    )


@transaction.atomic
def request_reject(*, request: QualificationRequest, reason: str) -> None:
    """Reject a worker's request; they see the reason."""
    request = _lock_pending(request)
    request.status = QualificationRequest.REJECTED
    request.reason = reason
    request.save(update_fields=["status", "reason"])


def _take_answers(
    qualification_type: QualificationType,
    worker: Worker,
    fields: list[tuple[str, str]],
    now: datetime,
) -> tuple[str, int | None]:
    """Close the worker's open test; return the answers as XML and the score if there is a key."""
    if not _is_offered(qualification_type):
        raise WorkRefusedError("This qualification is not available right now.")
    attempt = _open_attempt(qualification_type, worker, now)
    if attempt is None:
        raise WorkRefusedError("You have not started this test, or its time has run out.")
    test = parse_test(qualification_type.test)
    problems = check_form_answers(test, fields)
    if problems:
        raise AnswersRefusedError(problems)
    attempt.finished_at = now
    attempt.save(update_fields=["finished_at"])
    score = None
    if qualification_type.answer_key:
        key = parse_answer_key(qualification_type.answer_key, test)
        score = grade(key, form_selections(test, fields))
    return form_answers_xml(test, fields), score


def _refusal(qualification_type: QualificationType, worker: Worker, now: datetime) -> str | None:
    if not _is_offered(qualification_type):
        return "This qualification is not available right now."
    if qualification_type.requests.filter(
        worker=worker, status=QualificationRequest.PENDING
    ).exists():
        return PENDING
    held = qualification_type.qualifications.filter(worker=worker, is_granted=True)
    if qualification_type.auto_granted and held.exists():
        return "You already have this qualification."
    asked = _last_asked(qualification_type, worker)
    if asked is None:
        return None
    if qualification_type.retry_delay is None:
        return ASKED_BEFORE
    again = asked + timedelta(seconds=qualification_type.retry_delay)
    if again > now:
        return f"You can request this qualification again after {again:%d %B %Y, %H:%M} UTC."
    return None


def _last_asked(qualification_type: QualificationType, worker: Worker) -> datetime | None:
    """Return when the worker last asked. Opening the test counts, finished or not."""
    asked = qualification_type.requests.filter(worker=worker).order_by("-submitted_at").first()
    opened = qualification_type.attempts.filter(worker=worker).order_by("-started_at").first()
    times = [asked.submitted_at] if asked else []
    times += [opened.started_at] if opened else []
    return max(times, default=None)


def _open_attempt(
    qualification_type: QualificationType, worker: Worker, now: datetime
) -> TestAttempt | None:
    return qualification_type.attempts.filter(
        worker=worker, finished_at=None, deadline__gt=now
    ).first()


def _is_offered(qualification_type: QualificationType) -> bool:
    return qualification_type.is_active and qualification_type.disposed_at is None


def _lock(worker: Worker) -> None:
    # One request per worker at a time; rows that refer to the worker can still be written.
    Worker.objects.select_for_update(no_key=True).get(pk=worker.pk)


def _lock_pending(request: QualificationRequest) -> QualificationRequest:
    locked = (
        QualificationRequest.objects.select_for_update(of=("self",))
        .select_related("qualification_type", "worker")
        .get(pk=request.pk)
    )
    if locked.status != QualificationRequest.PENDING:
        raise invalid_state("QualificationRequest", "Submitted")
    return locked
