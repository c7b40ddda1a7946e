"""A worker's record: work, earnings, messages, qualifications with their tests."""

from datetime import timedelta

import pytest
from django.db.models import F
from pytest_django import DjangoAssertNumQueries

from marketplace.actions.assignments import (
    assignment_approve,
    assignment_reject,
    assignment_submit,
)
from marketplace.actions.ledger import bonus_pay
from marketplace.models import (
    BonusPayment,
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    TestAttempt,
)
from tests.marketplace.people import make_requester
from tests.marketplace.site import (
    HOSTILE,
    KEY,
    TEST,
    accepted,
    new_hit,
    new_worker,
    page,
    signed_in,
    words,
)

pytestmark = pytest.mark.django_db


def test_work_and_earnings() -> None:
    worker, requester = new_worker(), make_requester()
    client = signed_in(worker)
    made = [accepted(client, new_hit(requester, title=f"task {n}", reward=n)) for n in (10, 20, 30)]
    for one in made:
        assignment_submit(assignment=one, answer="<a/>")
    assignment_approve(assignment=made[0])
    assignment_reject(assignment=made[1], feedback=f"Not good: {HOSTILE}")
    bonus_pay(requester=requester, worker=worker, cents=5, fee=0, key="1")
    BonusPayment.objects.create(
        requester=requester, worker=worker, assignment=made[0], cents=5, reason="thanks"
    )
    accepted(client, new_hit(requester, title="under way"))
    html = page(client, "/marketplace/work/")
    assert HOSTILE not in html
    text = words(html)
    for part in (
        "Earned so far $0.15",
        "Submitted 3",
        "under way",
        "Resume",
        "Not good",
        "$0.05 bonus",
    ):
        assert part in text, part
    only = words(page(client, "/marketplace/work/?status=Rejected"))
    assert "task 20" in only
    assert "task 10" not in only
    text = words(page(client, "/marketplace/earnings/"))
    assert "$0.15" in text
    assert "thanks" in text
    # Somebody else's pages are empty.
    assert "$0.15" not in page(signed_in(new_worker()), "/marketplace/earnings/")


@pytest.mark.parametrize("size", [1, 12])
def test_statements_do_not_depend_on_the_size(
    size: int, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    worker, requester = new_worker(), make_requester()
    client = signed_in(worker)
    for number in range(size):
        one = accepted(client, new_hit(requester, title=f"task {number}"))
        assignment_submit(assignment=one, answer="<a/>")
        assignment_approve(assignment=one)
        accepted(client, new_hit(requester, title=f"open {number}"))
        Message.objects.create(worker=worker, requester=requester, subject="Hi", text="x")
        QualificationType.objects.create(
            requester=requester, name=f"kind {number}", description="x"
        )
    for path, statements in (
        ("work/", 10),
        ("earnings/", 8),
        ("qualifications/", 8),
        ("messages/", 10),
    ):
        with django_assert_num_queries(statements):
            page(client, f"/marketplace/{path}")


def test_messages_are_unread_until_they_are_shown() -> None:
    worker, requester = new_worker(), make_requester()
    Message.objects.create(
        worker=worker, requester=requester, subject=f"Greetings {HOSTILE}", text=f"T {HOSTILE}"
    )
    client = signed_in(worker)
    assert "1 unread" in words(page(client, "/marketplace/"))
    html = page(client, "/marketplace/messages/")
    assert HOSTILE not in html
    assert "New" in words(html)
    assert "unread" not in words(page(client, "/marketplace/"))
    assert "Greetings" not in words(page(signed_in(new_worker()), "/marketplace/messages/"))


def test_a_qualification_that_the_requester_grants() -> None:
    worker, requester = new_worker(), make_requester()
    kind = QualificationType.objects.create(
        requester=requester, name=f"Boxes {HOSTILE}", description=HOSTILE
    )
    client = signed_in(worker)
    path = f"/marketplace/qualifications/{kind.qualification_type_id}/"
    assert HOSTILE not in page(client, "/marketplace/qualifications/") + page(client, path)
    client.post(path + "request/")
    assert QualificationRequest.objects.get().status == QualificationRequest.PENDING
    assert "has not decided on your request" in words(page(client, path))
    assert "Waiting" in words(page(client, "/marketplace/qualifications/"))
    client.post(path + "request/")
    assert QualificationRequest.objects.count() == 1


def test_a_qualification_for_whoever_asks() -> None:
    worker = new_worker()
    kind = QualificationType.objects.create(
        requester=make_requester(), name="All", description="x", auto_granted=True
    )
    client = signed_in(worker)
    client.post(f"/marketplace/qualifications/{kind.qualification_type_id}/request/")
    assert Qualification.objects.get().worker == worker
    assert "All" in words(page(client, "/marketplace/qualifications/"))


def a_test() -> QualificationType:
    return QualificationType.objects.create(
        requester=make_requester(),
        name="Dogs",
        description="x",
        test=TEST,
        test_duration=300,
        answer_key=KEY,
    )


def test_a_test_that_grades_itself() -> None:
    kind, worker = a_test(), new_worker()
    client = signed_in(worker)
    path = f"/marketplace/qualifications/{kind.qualification_type_id}/"
    assert "Is a dog an animal?" not in page(client, path)
    page(client, path + "test/", 410)
    started = client.post(path + "request/")
    assert started.headers["Location"] == path + "test/"
    assert "4 minutes 59 seconds" in words(page(client, path + "test/"))
    empty = client.post(path + "test/", {})
    assert empty.status_code == 400
    assert "needs an answer" in words(empty.content)
    done = client.post(path + "test/", {"answer-1": "y"}, follow=True)
    assert "Your score is 80." in words(done.content)
    assert Qualification.objects.get().value == 80
    assert client.post(path + "test/", {"answer-1": "n"}).status_code == 410
    assert "only once" in words(page(client, path))
    # The answers are the worker's, and the key is nobody's.
    assert "AnswerScore" not in client.get(path).content.decode()


def test_a_test_s_time_runs_out() -> None:
    kind, worker = a_test(), new_worker()
    client = signed_in(worker)
    path = f"/marketplace/qualifications/{kind.qualification_type_id}/"
    client.post(path + "request/")
    TestAttempt.objects.update(deadline=F("started_at") - timedelta(seconds=1))
    assert client.post(path + "test/", {"answer-1": "y"}).status_code == 410
    assert not Qualification.objects.exists()


def test_unknown_qualifications() -> None:
    client = signed_in(new_worker())
    page(client, "/marketplace/qualifications/3NONE/", 404)
    page(client, "/marketplace/qualifications/3NONE/test/", 404)
    assert client.post("/marketplace/qualifications/3NONE/request/").status_code == 404
