"""Preview, accept, work, return: each worker with their own assignments only."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.test import Client

from marketplace.actions.assignments import assignment_submit
from marketplace.models import Assignment, HITType
from marketplace.rules.groups import group_id
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.rules.questions import read_answers
from tests.marketplace.people import EXTERNAL, make_requester
from tests.marketplace.site import (
    FORM,
    HOSTILE,
    SUBMIT,
    accepted,
    new_hit,
    new_worker,
    page,
    signed_in,
    words,
)

pytestmark = pytest.mark.django_db


def test_preview_shows_the_page_without_a_worker() -> None:
    hit = new_hit(make_requester())
    client = signed_in(new_worker())
    response = client.get(f"/marketplace/groups/{hit.hit_type.hit_type_id}/")
    html = response.content.decode()
    assert (
        'src="https://tasks.example.org/page?stage=links&amp;'
        f'assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE&amp;hitId={hit.hit_id}"' in html
    )
    policy = response.headers["Content-Security-Policy"]
    assert "frame-src 'self' https://tasks.example.org;" in policy + ";"
    assert response.headers["X-Frame-Options"] == "DENY"


def test_the_frame_at_work() -> None:
    worker = new_worker()
    client = signed_in(worker)
    hit = new_hit(make_requester())
    made = accepted(client, hit)
    response = client.get(f"/marketplace/work/{made.assignment_id}/")
    html = response.content.decode()
    assert (
        f"assignmentId={made.assignment_id}&amp;hitId={hit.hit_id}&amp;workerId={worker.worker_id}"
        '&amp;turkSubmitTo=http%3A%2F%2Ftestserver%2Fmarketplace"' in html
    )
    assert (
        'sandbox="allow-scripts allow-forms allow-popups allow-modals allow-downloads '
        'allow-top-navigation-by-user-activation allow-same-origin"' in html
    )
    assert "task-fit" in html
    assert "data-seconds-left" in html
    assert "9 minutes 59 seconds" in words(html)
    assert "$0.10" in words(html)


def test_a_page_of_our_own_origin_gets_an_origin_of_its_own() -> None:
    question = EXTERNAL.replace("https://tasks.example.org", "http://localhost")
    hit = new_hit(make_requester(), question=question)
    client = signed_in(new_worker())
    path = f"/marketplace/groups/{hit.hit_type.hit_type_id}/"
    assert "allow-same-origin" in client.get(path).content.decode()
    own = client.get(path, headers={"host": "localhost"}).content.decode()
    assert "allow-same-origin" not in own
    assert "<iframe" in own


def test_accepting_again_gives_the_same_place() -> None:
    client = signed_in(new_worker())
    hit = new_hit(make_requester(), assignments=3)
    made = accepted(client, hit)
    resumed = page(client, "/marketplace/work/")
    assert f"/marketplace/work/{made.assignment_id}/" in resumed
    path = f"/marketplace/groups/{hit.hit_type.hit_type_id}/accept/"
    again = client.post(path, {"hit": hit.hit_id}, follow=True)
    assert "no more HITs in this group for you" in words(again.content)
    assert Assignment.objects.count() == 1


def test_another_of_the_group_if_the_previewed_one_is_gone() -> None:
    requester = make_requester()
    first, second = new_hit(requester), new_hit(requester)
    accepted(signed_in(new_worker()), first)
    client = signed_in(new_worker())
    path = f"/marketplace/groups/{first.hit_type.hit_type_id}/accept/"
    client.post(path, {"hit": first.hit_id})
    assert Assignment.objects.get(hit=second).status == AssignmentStatus.ACCEPTED


def test_auto_accept_is_remembered() -> None:
    client = signed_in(new_worker())
    hit = new_hit(make_requester())
    path = f"/marketplace/groups/{hit.hit_type.hit_type_id}/accept/"
    html = client.post(path, {"auto": "1"}, follow=True).content.decode()
    assert 'id="auto" name="auto" value="1" checked' in html


@pytest.mark.parametrize("action", ["", "return/", "status/"])
def test_nobody_else_s_assignment(action: str) -> None:
    made = accepted(signed_in(new_worker()), new_hit(make_requester()))
    other = signed_in(new_worker())
    path = f"/marketplace/work/{made.assignment_id}/{action}"
    assert other.get(path).status_code in {404, 405}
    assert other.post(path, {"answer-1": "b"}).status_code in {404, 405}
    made.refresh_from_db()
    assert made.status == AssignmentStatus.ACCEPTED


def test_returning() -> None:
    client = signed_in(new_worker())
    made = accepted(client, new_hit(make_requester()))
    client.post(f"/marketplace/work/{made.assignment_id}/return/")
    made.refresh_from_db()
    assert made.status == AssignmentStatus.RETURNED
    gone = page(client, f"/marketplace/work/{made.assignment_id}/", 410)
    assert "does not count against you" in words(gone)
    again = client.post(f"/marketplace/work/{made.assignment_id}/return/")
    assert again.status_code == 409


def test_status_and_what_follows_a_submission() -> None:
    client = signed_in(new_worker())
    made = accepted(client, new_hit(make_requester()))
    path = f"/marketplace/work/{made.assignment_id}/"
    assert client.get(path + "status/").json()["status"] == "Accepted"
    Client().post(SUBMIT, {"assignmentId": made.assignment_id, "a": "1"})
    assert client.get(path + "status/").json()["status"] == "Submitted"
    assert "Submitted. Thank you!" in words(page(client, path))


def test_when_the_time_has_run_out() -> None:
    client = signed_in(new_worker())
    made = accepted(client, new_hit(make_requester()))
    before = F("accepted_at") - timedelta(seconds=1)
    Assignment.objects.update(deadline=before, due_at=before)
    gone = page(client, f"/marketplace/work/{made.assignment_id}/", 410)
    assert "has run out" in words(gone)
    assert made.assignment_id not in page(client, "/marketplace/work/")
    # Whoever looks at it settles it: the sweeper need not have been by.
    made.refresh_from_db()
    assert made.status == AssignmentStatus.ABANDONED
    accepted(client, made.hit)


def test_a_form_of_ours() -> None:
    client = signed_in(new_worker())
    requester = make_requester()
    hit, following = new_hit(requester, question=FORM), new_hit(requester, question=FORM)
    made = accepted(client, hit)
    path = f"/marketplace/work/{made.assignment_id}/"
    html = page(client, path)
    assert HOSTILE not in html
    assert "<iframe" not in html
    refused = client.post(path, {"answer-2": "99", "auto": "1"})
    assert refused.status_code == 400
    text = words(refused.content)
    assert "This question needs an answer." in text
    assert "at most 40" in text
    assert 'value="99"' in refused.content.decode()
    made.refresh_from_db()
    assert made.status == AssignmentStatus.ACCEPTED
    sent = client.post(path, {"answer-1": "w", "answer-2": "4", "auto": "1"})
    made.refresh_from_db()
    assert read_answers(made.answer) == [("colour", ("w",)), ("age", ("4",))]
    # The next one was accepted along with it, as asked for.
    after = Assignment.objects.get(hit=following)
    assert sent.headers["Location"] == f"/marketplace/work/{after.assignment_id}/?auto=1"
    last = client.post(sent.headers["Location"], {"answer-1": "w"}, follow=True)
    assert "Submitted. Thank you!" in words(last.content)


def test_a_form_s_preview_cannot_be_filled_in() -> None:
    hit = new_hit(make_requester(), question=FORM)
    html = page(signed_in(new_worker()), f"/marketplace/groups/{hit.hit_type.hit_type_id}/")
    assert 'fieldset class="stack" disabled' in html
    assert "Which colour?" in html


def test_old_addresses_lead_to_the_group() -> None:
    hit = new_hit(make_requester())
    client = signed_in(new_worker())
    number = hit.hit_type.hit_type_id
    target = f"/marketplace/groups/{number}/"
    for known in (number, group_id(number)):
        for path in (f"mturk/preview?groupId={known}", f"projects/{known}/tasks"):
            assert client.get(f"/marketplace/{path}").headers["Location"] == target
    assert client.get("/marketplace/mturk/preview?groupId=no").status_code == 404
    assert client.get("/marketplace/mturk/preview").status_code == 404


def test_every_post_but_the_frame_s_needs_a_token() -> None:
    worker = new_worker()
    made = accepted(signed_in(worker), new_hit(make_requester()))
    strict = Client(enforce_csrf_checks=True)
    assert worker.user is not None
    strict.force_login(worker.user)
    number = HITType.objects.get().hit_type_id
    for path in (
        f"groups/{number}/accept/",
        f"work/{made.assignment_id}/",
        f"work/{made.assignment_id}/return/",
        "account/",
        "account/erase/",
        "qualifications/x/request/",
        "qualifications/x/test/",
        "join/",
        "sign-up/",
        "login/",
        "logout/",
    ):
        assert strict.post(f"/marketplace/{path}").status_code == 403, path
    made.refresh_from_db()
    assert made.status == AssignmentStatus.ACCEPTED


def test_requesters_words_are_escaped() -> None:
    requester = make_requester()
    requester.name = f"Lab {HOSTILE}"
    requester.save()
    hit = new_hit(
        requester,
        assignments=2,
        title=f"T {HOSTILE}",
        description=f"D {HOSTILE}",
        keywords=f"K {HOSTILE}",
    )
    client = signed_in(new_worker())
    number = hit.hit_type.hit_type_id
    pages = [page(client, "/marketplace/"), page(client, f"/marketplace/groups/{number}/")]
    made = accepted(client, hit)
    pages.append(page(client, f"/marketplace/work/{made.assignment_id}/"))
    pages.append(page(client, "/marketplace/work/"))
    assignment_submit(assignment=made, answer="<a/>")
    Assignment.objects.update(feedback=HOSTILE)
    pages += [page(client, f"/marketplace/work/{made.assignment_id}/")]
    pages += [page(client, "/marketplace/work/")]
    for html in pages:
        assert HOSTILE not in html
        assert "&lt;script&gt;" in html
