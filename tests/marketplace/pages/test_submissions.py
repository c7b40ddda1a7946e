"""externalSubmit: what it accepts, and what it refuses without changing anything."""

from datetime import timedelta
from urllib.parse import quote

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db.models import F
from django.test import Client
from django.urls import reverse

from marketplace.models import Assignment
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.rules.questions import read_answers
from tests.marketplace.people import make_requester
from tests.marketplace.site import (
    HOSTILE,
    HTML,
    SUBMIT,
    accepted,
    new_hit,
    new_worker,
    page,
    signed_in,
    words,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def frame() -> Client:
    """The page inside the frame: no cookies, and no CSRF token either."""
    return Client(enforce_csrf_checks=True)


@pytest.fixture
def work() -> Assignment:
    return accepted(signed_in(new_worker()), new_hit(make_requester()))


def snapshot() -> list[tuple[object, ...]]:
    return list(Assignment.objects.order_by("pk").values_list())


@pytest.mark.parametrize("path", [SUBMIT, "/marketplace//mturk/externalSubmit"])
def test_answers_are_taken_without_cookies(frame: Client, work: Assignment, path: str) -> None:
    response = frame.post(
        path, {"assignmentId": work.assignment_id, "hitId": "x", "b": "2", "a": HOSTILE}
    )
    assert response.status_code == 200
    assert "frame-ancestors 'self'" in response.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in response.headers
    work.refresh_from_db()
    assert work.status == AssignmentStatus.SUBMITTED
    assert read_answers(work.answer) == [("b", ("2",)), ("a", (HOSTILE,))]


def test_urlencoded_and_the_query_string(frame: Client, work: Assignment) -> None:
    response = frame.post(
        f"{SUBMIT}?assignmentId={work.assignment_id}&first=1",
        "second=zwei+%C3%BC&first=one",
        content_type="application/x-www-form-urlencoded",
    )
    assert response.status_code == 200
    work.refresh_from_db()
    assert read_answers(work.answer) == [("first", ("1|one",)), ("second", ("zwei ü",))]


def test_the_worker_s_own_session_may_come_along() -> None:
    client = signed_in(new_worker())
    assignment = accepted(client, new_hit(make_requester()))
    sent = client.post(SUBMIT, {"assignmentId": assignment.assignment_id, "a": "1"})
    assert sent.status_code == 200


@pytest.mark.parametrize("fields", [{"a": "1"}, {"assignmentid": "ID", "a": "1"}])
def test_the_assignment_must_be_named_in_exact_case(
    frame: Client, work: Assignment, fields: dict[str, str]
) -> None:
    before = snapshot()
    fields = {name: value.replace("ID", work.assignment_id) for name, value in fields.items()}
    response = frame.post(SUBMIT, fields)
    assert response.status_code == 400
    assert "There was a problem submitting your results" in words(response.content)
    assert snapshot() == before


def test_at_least_one_answer(frame: Client, work: Assignment) -> None:
    before = snapshot()
    response = frame.post(SUBMIT, {"assignmentId": work.assignment_id, "hitId": "3"})
    assert response.status_code == 400
    assert "still assigned to you" in words(response.content)
    assert snapshot() == before


def test_unknown_assignment(frame: Client, work: Assignment) -> None:
    before = snapshot()
    assert frame.post(SUBMIT, {"assignmentId": "3NONE", "a": "1"}).status_code == 404
    assert snapshot() == before


def test_another_worker_s_session_is_refused(work: Assignment) -> None:
    before = snapshot()
    other = signed_in(new_worker())
    response = other.post(SUBMIT, {"assignmentId": work.assignment_id, "a": "1"})
    assert response.status_code == 404
    assert snapshot() == before


def test_what_was_submitted_first_stands(frame: Client, work: Assignment) -> None:
    frame.post(SUBMIT, {"assignmentId": work.assignment_id, "a": "1"})
    before = snapshot()
    response = frame.post(SUBMIT, {"assignmentId": work.assignment_id, "a": "2"})
    assert response.status_code == 409
    assert snapshot() == before


def test_too_late(frame: Client, work: Assignment) -> None:
    Assignment.objects.update(deadline=F("accepted_at") - timedelta(seconds=1))
    before = snapshot()
    response = frame.post(SUBMIT, {"assignmentId": work.assignment_id, "a": "1"})
    assert response.status_code == 410
    assert snapshot() == before


def test_returned(frame: Client, work: Assignment) -> None:
    signed_in(work.worker).post(f"/marketplace/work/{work.assignment_id}/return/")
    before = snapshot()
    response = frame.post(SUBMIT, {"assignmentId": work.assignment_id, "a": "1"})
    assert response.status_code == 410
    assert snapshot() == before


def test_an_id_given_back_belongs_to_whoever_took_it_next(frame: Client) -> None:
    hit = new_hit(make_requester())
    first, second = new_worker(), new_worker()
    one = accepted(signed_in(first), hit)
    signed_in(first).post(f"/marketplace/work/{one.assignment_id}/return/")
    two = accepted(signed_in(second), hit)
    assert two.assignment_id == one.assignment_id
    refused = signed_in(first).post(SUBMIT, {"assignmentId": one.assignment_id, "a": "1"})
    assert refused.status_code == 404
    named = {"assignmentId": two.assignment_id, "workerId": second.worker_id, "a": "2"}
    assert frame.post(SUBMIT, named).status_code == 200
    two.refresh_from_db()
    assert two.status == AssignmentStatus.SUBMITTED


def test_a_page_left_open_by_another_worker_is_refused(frame: Client, work: Assignment) -> None:
    before = snapshot()
    fields = {"assignmentId": work.assignment_id, "a": "1"}
    assert frame.post(SUBMIT, fields | {"workerId": "AOTHER"}).status_code == 404
    assert snapshot() == before
    own = {"workerId": work.worker.worker_id}
    assert frame.post(SUBMIT, fields | own).status_code == 200


@pytest.mark.parametrize("number", ["é", "' or 1=1", "a" * 500])
def test_what_can_be_no_id_is_not_looked_up(frame: Client, number: str) -> None:
    assert frame.post(SUBMIT, {"assignmentId": number, "a": "1"}).status_code == 404
    client = signed_in(new_worker())
    quoted = quote(number, safe="")
    for path in (
        f"groups/{quoted}/",
        f"work/{quoted}/",
        f"work/{quoted}/status/",
        f"qualifications/{quoted}/",
        f"mturk/preview?groupId={quoted}",
        f"projects/{quoted}/tasks",
    ):
        page(client, f"/marketplace/{path}", 404)
    page(client, f"/marketplace/?text={quoted}")
    page(client, f"/marketplace/qualifications/?text={quoted}")


def test_a_preview_cannot_be_submitted(frame: Client) -> None:
    response = frame.post(SUBMIT, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "a": "1"})
    assert response.status_code == 409
    assert "Accept the HIT" in words(response.content)


def test_too_large_and_too_many(frame: Client, work: Assignment) -> None:
    before = snapshot()
    large = {"assignmentId": work.assignment_id, "a": "x" * 2_100_000}
    assert frame.post(SUBMIT, large).status_code == 413
    many = {"assignmentId": work.assignment_id} | {f"f{n}": "" for n in range(1500)}
    assert frame.post(SUBMIT, many).status_code == 413
    assert snapshot() == before


def test_files_are_not_answers(frame: Client, work: Assignment) -> None:
    fields = {"assignmentId": work.assignment_id, "file": SimpleUploadedFile("a.txt", b"text")}
    assert frame.post(SUBMIT, fields).status_code == 400
    fields = {"assignmentId": work.assignment_id, "a": "1"}
    assert frame.post(SUBMIT, fields).status_code == 200


def test_unreadable_forms(frame: Client, work: Assignment) -> None:
    response = frame.post(SUBMIT, b"x", content_type="multipart/form-data")
    assert response.status_code == 400
    assert frame.get(SUBMIT).status_code == 405


def test_html_questions_are_served_into_a_sandbox() -> None:
    client = signed_in(new_worker())
    hit = new_hit(make_requester(), question=HTML, title="An old page")
    assignment = accepted(client, hit)
    outer = page(client, f"/marketplace/work/{assignment.assignment_id}/")
    assert 'height="450"' in outer
    assert "allow-same-origin" not in outer
    path = outer.split('src="http://testserver')[1].split('"')[0].replace("&amp;", "&")
    response = Client().get(path)
    policy = response.headers["Content-Security-Policy"]
    assert policy == (
        "sandbox allow-scripts allow-forms allow-popups allow-modals; frame-ancestors 'self'"
    )
    assert "X-Frame-Options" not in response.headers
    html = response.content.decode()
    assert f"action='http://testserver{SUBMIT}'" in html
    assert f'value="{assignment.assignment_id}"' in html
    assert "mturk.com" not in html.replace("testserver", "")
    assert "amazonaws.com" not in html


def test_html_questions_need_a_token_of_ours(frame: Client) -> None:
    hit = new_hit(make_requester(), question=HTML)
    outer = page(signed_in(new_worker()), f"/marketplace/groups/{hit.hit_type.hit_type_id}/")
    token = outer.split("/marketplace/questions/")[1].split("/")[0]
    assert frame.get(f"/marketplace/questions/{token}/").status_code == 200
    assert frame.get(f"/marketplace/questions/{token}x/").status_code == 410
    assert frame.get(reverse("marketplace:question", args=["abc"])).status_code == 410
