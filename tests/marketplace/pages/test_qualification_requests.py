"""Workers ask for qualifications: at once, by a test, by hand; once, or again after a while."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F

from marketplace.actions.assignments import WorkRefusedError
from marketplace.actions.requests import (
    AnswersRefusedError,
    attempt_start,
    qualification_request,
    request_refusal,
)
from marketplace.models import (
    Qualification,
    QualificationRequest,
    QualificationType,
    TestAttempt,
    Worker,
)
from marketplace.rules.questions import parse_test
from tests.marketplace.people import make_requester, make_worker
from tests.marketplace.qualification_tests import KEY, TEST

pytestmark = pytest.mark.django_db
FIELDS = [question.field for question in parse_test(TEST).questions]


@pytest.fixture
def worker() -> Worker:
    return make_worker()


def make_type(**values: Any) -> QualificationType:
    return QualificationType.objects.create(
        requester=make_requester(0), name="careful", description="d", **values
    )


def with_test(**values: Any) -> QualificationType:
    return make_type(test=TEST, test_duration=60, **values)


def value_of(worker: Worker) -> int | None:
    return Qualification.objects.filter(worker=worker).values_list("value", flat=True).first()


def earlier(**by: float) -> None:
    """Let time pass."""
    TestAttempt.objects.update(
        started_at=F("started_at") - timedelta(**by), deadline=F("deadline") - timedelta(**by)
    )
    QualificationRequest.objects.update(submitted_at=F("submitted_at") - timedelta(**by))


def test_granted_to_who_asks(worker: Worker) -> None:
    kind = make_type(auto_granted=True, auto_granted_value=0)
    outcome = qualification_request(qualification_type=kind, worker=worker)
    assert (outcome.is_granted, outcome.value) == (True, 0)
    assert value_of(worker) == 0
    with pytest.raises(WorkRefusedError, match="You already have this qualification"):
        qualification_request(qualification_type=kind, worker=worker)


def test_without_a_test_the_requester_decides(worker: Worker) -> None:
    kind = make_type()
    assert request_refusal(qualification_type=kind, worker=worker) is None
    outcome = qualification_request(qualification_type=kind, worker=worker)
    assert outcome.request.status == QualificationRequest.PENDING
    assert value_of(worker) is None
    with pytest.raises(WorkRefusedError, match="has not decided on your request"):
        qualification_request(qualification_type=kind, worker=worker)
    QualificationRequest.objects.update(status=QualificationRequest.REJECTED)
    with pytest.raises(WorkRefusedError, match="only once"):
        qualification_request(qualification_type=kind, worker=worker)


@pytest.mark.parametrize(
    ("choices", "score"),
    [(["left", "right"], 100), (["left", "left"], 75), (["right", "left"], 0)],
)
def test_an_answer_key_grades(worker: Worker, choices: list[str], score: int) -> None:
    kind = with_test(answer_key=KEY)
    attempt = attempt_start(qualification_type=kind, worker=worker)
    assert attempt.deadline - attempt.started_at == timedelta(seconds=60)
    assert attempt_start(qualification_type=kind, worker=worker) == attempt
    fields = list(zip(FIELDS, choices, strict=True))
    outcome = qualification_request(qualification_type=kind, worker=worker, fields=fields)
    assert outcome.value == value_of(worker) == score
    assert outcome.request.status == QualificationRequest.GRANTED
    assert f"<SelectionIdentifier>{choices[0]}</SelectionIdentifier>" in outcome.request.answer
    with pytest.raises(WorkRefusedError):
        qualification_request(qualification_type=kind, worker=worker, fields=fields)


def test_without_a_key_the_answers_wait(worker: Worker) -> None:
    kind = with_test()
    attempt_start(qualification_type=kind, worker=worker)
    with pytest.raises(AnswersRefusedError) as refused:
        qualification_request(qualification_type=kind, worker=worker, fields=[(FIELDS[0], "left")])
    assert [problem.field for problem in refused.value.problems] == [FIELDS[1]]
    fields = [(field, "left") for field in FIELDS]
    outcome = qualification_request(qualification_type=kind, worker=worker, fields=fields)
    assert outcome.value is None
    assert (outcome.request.status, outcome.request.test) == (QualificationRequest.PENDING, TEST)


def test_answers_come_in_time_or_not_at_all(worker: Worker) -> None:
    kind = with_test(answer_key=KEY, retry_delay=3600)
    fields = [(field, "left") for field in FIELDS]
    with pytest.raises(WorkRefusedError, match="have not started this test"):
        qualification_request(qualification_type=kind, worker=worker, fields=fields)
    attempt_start(qualification_type=kind, worker=worker)
    earlier(seconds=61)
    with pytest.raises(WorkRefusedError, match="run out"):
        qualification_request(qualification_type=kind, worker=worker, fields=fields)
    # To open the test is to ask: it cannot be looked at again and again.
    with pytest.raises(WorkRefusedError, match="again after"):
        attempt_start(qualification_type=kind, worker=worker)
    earlier(hours=1)
    attempt_start(qualification_type=kind, worker=worker)
    outcome = qualification_request(qualification_type=kind, worker=worker, fields=fields)
    assert outcome.value == 75
    assert request_refusal(qualification_type=kind, worker=worker)
    earlier(hours=1)
    assert request_refusal(qualification_type=kind, worker=worker) is None


def test_what_is_not_offered_cannot_be_asked_for(worker: Worker) -> None:
    asleep = make_type(is_active=False)
    with pytest.raises(WorkRefusedError, match="not available right now"):
        qualification_request(qualification_type=asleep, worker=worker)
    kind = with_test()
    attempt_start(qualification_type=kind, worker=worker)
    QualificationType.objects.filter(pk=kind.pk).update(is_active=False)
    fields = [(field, "left") for field in FIELDS]
    with pytest.raises(WorkRefusedError, match="not available right now"):
        qualification_request(qualification_type=kind, worker=worker, fields=fields)
    with pytest.raises(WorkRefusedError, match="no test"):
        attempt_start(qualification_type=asleep, worker=worker)
