"""Attacks by workers or requesters who try to act as others or to see others' data.

Each test is an attempt and its required outcome, as in test_security_pages.py and
test_security_races.py.
"""

import json
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.test import Client
from django.test.utils import override_settings
from django.urls import URLPattern, get_resolver, reverse

from common.clock import database_now
from marketplace.actions.assignments import WorkRefusedError, assignment_accept
from marketplace.actions.blocks import block_set
from marketplace.actions.qualifications import TypeChange, qualification_type_create
from marketplace.actions.workers import invitation_create, worker_erase
from marketplace.models import (
    AccessKey,
    Assignment,
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.rules.questions import read_answers
from tests.marketplace.calls import refusal
from tests.marketplace.people import make_requester
from tests.marketplace.site import (
    FORM,
    HTML,
    KEY,
    PASSWORD,
    SUBMIT,
    TEST,
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
    """A browser without cookies, like a page in a frame, or curl."""
    return Client(enforce_csrf_checks=True)


def snapshot() -> list[tuple[object, ...]]:
    return list(Assignment.objects.order_by("pk").values_list())


def frame_query(html: str) -> dict[str, str]:
    """Return the parameters in the frame's address."""
    address = unescape(html.split("<iframe")[1].split('src="')[1].split('"')[0])
    return {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}


# --- A worker cannot act for another ----------------------------------------------------------


def test_a_worker_cannot_touch_another_s_assignment() -> None:
    work = accepted(signed_in(new_worker()), new_hit(make_requester(), question=FORM))
    other, before = signed_in(new_worker()), snapshot()
    path = f"/marketplace/work/{work.assignment_id}/"
    assert other.get(path).status_code == 404
    assert other.post(path, {"colour": "b", "age": "3"}).status_code == 404
    assert other.post(f"{path}return/").status_code == 404
    assert other.get(f"{path}status/").json() == {"status": "unknown"}
    assert work.assignment_id not in page(other, "/marketplace/work/")
    data = other.get("/marketplace/account/data/").content.decode()
    assert work.assignment_id not in data
    assert work.worker.worker_id not in data
    assert snapshot() == before


def test_who_had_an_assignment_before_cannot_submit_it_for_the_next_worker(frame: Client) -> None:
    """The next worker gets the same id, so the worker who returned it knows it."""
    hit = new_hit(make_requester())
    first, second = new_worker(), new_worker()
    one = accepted(signed_in(first), hit)
    old = frame_query(page(signed_in(first), f"/marketplace/work/{one.assignment_id}/"))
    signed_in(first).post(f"/marketplace/work/{one.assignment_id}/return/")
    two = accepted(signed_in(second), hit)
    assert two.assignment_id == one.assignment_id
    before = snapshot()
    fields = {"assignmentId": one.assignment_id, "a": "not mine"}
    old_address = f"{urlsplit(old['turkSubmitTo']).path}/mturk/externalSubmit"
    assert old_address == SUBMIT
    response = frame.post(old_address, fields)
    assert response.status_code == 404
    assert "You have no such assignment" in words(response.content)
    assert frame.post(f"/marketplace/by/{'0' * 64}/mturk/externalSubmit", fields).status_code == 404
    assert snapshot() == before

    own = frame_query(page(signed_in(second), f"/marketplace/work/{two.assignment_id}/"))
    path = urlsplit(own["turkSubmitTo"]).path
    assert frame.post(f"{path}/mturk/externalSubmit", fields | {"a": "mine"}).status_code == 200
    two.refresh_from_db()
    assert read_answers(two.answer) == [("a", ("mine",))]


def test_the_proof_of_one_sitting_is_none_for_the_next(frame: Client) -> None:
    hit = new_hit(make_requester(), question=HTML)
    addresses = []
    for worker in (new_worker(), new_worker(), new_worker()):
        client = signed_in(worker)
        work = accepted(client, hit)
        outer = page(client, f"/marketplace/work/{work.assignment_id}/")
        path = unescape(outer.split('src="http://testserver')[1].split('"')[0])
        inner = frame.get(path).content.decode()
        action = inner.split("action='http://testserver")[1].split("'")[0]
        named = urlsplit(frame_query(outer)["turkSubmitTo"]).path
        assert action == f"{named}/mturk/externalSubmit"
        addresses.append(action)
        if len(addresses) < 3:
            client.post(f"/marketplace/work/{work.assignment_id}/return/")
    assert len(set(addresses)) == 3
    fields = {"assignmentId": work.assignment_id, "comment": "x"}
    assert [frame.post(address, fields).status_code for address in addresses] == [404, 404, 200]


def test_a_worker_cannot_answer_another_s_test_or_read_their_messages() -> None:
    requester = make_requester()
    kind = qualification_type_create(
        requester=requester,
        name="Dogs",
        keywords="",
        given=TypeChange(
            description="About dogs",
            is_active=True,
            test=TEST,
            test_duration=600,
            answer_key=KEY,
        ),
    )
    one, other = new_worker(), new_worker()
    path = f"/marketplace/qualifications/{kind.qualification_type_id}/"
    assert signed_in(one).post(f"{path}request/").status_code == 302
    fields = {"q": "y"}
    assert signed_in(other).get(f"{path}test/").status_code == 410
    assert signed_in(other).post(f"{path}test/", fields).status_code == 410
    assert not QualificationRequest.objects.exists()
    assert not Qualification.objects.exists()
    Message.objects.create(worker=one, requester=requester, subject="For one", text="only")
    assert "For one" not in page(signed_in(other), "/marketplace/messages/")
    assert Message.objects.get().read_at is None


def test_a_blocked_worker_gets_no_more_work() -> None:
    requester = make_requester()
    hit, worker = new_hit(requester, assignments=5), new_worker()
    block_set(requester=requester, worker=worker, reason="no")
    client = signed_in(worker)
    path = f"/marketplace/groups/{hit.hit_type.hit_type_id}/"
    assert client.get(path).status_code == 404
    for fields in ({}, {"hit": hit.hit_id}, {"hit": hit.hit_id, "auto": "1"}):
        client.post(f"{path}accept/", fields)
    assert not Assignment.objects.exists()


def test_nobody_can_work_for_a_requester_who_was_switched_off() -> None:
    hit = new_hit(make_requester(), assignments=5)
    Requester.objects.update(is_active=False)
    client = signed_in(new_worker())
    for fields in ({}, {"hit": hit.hit_id}):
        client.post(f"/marketplace/groups/{hit.hit_type.hit_type_id}/accept/", fields)
    assert not Assignment.objects.exists()
    with pytest.raises(WorkRefusedError):
        assignment_accept(hit_id=hit.pk, worker=new_worker())


def test_every_form_but_the_frame_s_needs_a_csrf_token() -> None:
    worker = new_worker()
    assert worker.user is not None
    client = Client(enforce_csrf_checks=True)
    client.force_login(worker.user)
    patterns = get_resolver("marketplace.site.urls").url_patterns
    names = [one.name for one in patterns if isinstance(one, URLPattern)]
    assert len(names) > 20
    for name in names:
        if name in ("external-submit", "external-submit-by"):
            continue
        route = get_resolver("marketplace.site.urls").reverse_dict.getlist(name)[0]
        values = dict.fromkeys(route[0][0][1], "3ABC")
        response = client.post(reverse(f"marketplace:{name}", kwargs=values))
        assert response.status_code in (403, 405), name


# --- A requester cannot see another's things, nor who workers are ------------------------------


def test_a_requester_sees_and_changes_nothing_of_another_s(
    mturk: Any, stranger: Any, requester: Requester
) -> None:
    hit, worker = new_hit(requester), new_worker()
    work = accepted(signed_in(worker), hit)
    Client().post(SUBMIT, {"assignmentId": work.assignment_id, "a": "1"})
    kind = mturk.create_qualification_type(
        Name="Mine", Description="d", QualificationTypeStatus="Active"
    )["QualificationType"]["QualificationTypeId"]
    row = QualificationRequest.objects.create(
        qualification_type=QualificationType.objects.get(qualification_type_id=kind),
        worker=worker,
        submitted_at=database_now(),
    )
    before = snapshot()
    one = {"AssignmentId": work.assignment_id}
    ours = {"HITId": hit.hit_id}
    attempts: list[tuple[Callable[..., Any], dict[str, Any]]] = [
        (stranger.get_hit, ours),
        (stranger.delete_hit, ours),
        (stranger.list_assignments_for_hit, ours),
        (stranger.list_bonus_payments, ours),
        (stranger.list_review_policy_results_for_hit, ours),
        (stranger.update_expiration_for_hit, ours | {"ExpireAt": 0}),
        (stranger.update_hit_review_status, ours),
        (
            stranger.create_additional_assignments_for_hit,
            ours | {"NumberOfAdditionalAssignments": 1},
        ),
        (stranger.get_assignment, one),
        (stranger.approve_assignment, one),
        (stranger.reject_assignment, one | {"RequesterFeedback": "no"}),
        (stranger.get_file_upload_url, one | {"QuestionIdentifier": "a"}),
        (
            stranger.send_bonus,
            one | {"WorkerId": worker.worker_id, "BonusAmount": "1", "Reason": "r"},
        ),
        (stranger.accept_qualification_request, {"QualificationRequestId": row.request_id}),
        (stranger.reject_qualification_request, {"QualificationRequestId": row.request_id}),
        (stranger.list_qualification_requests, {"QualificationTypeId": kind}),
        (stranger.list_workers_with_qualification_type, {"QualificationTypeId": kind}),
        (
            stranger.associate_qualification_with_worker,
            {"QualificationTypeId": kind, "WorkerId": worker.worker_id},
        ),
        (stranger.delete_qualification_type, {"QualificationTypeId": kind}),
        (stranger.update_qualification_type, {"QualificationTypeId": kind, "Description": "x"}),
        (
            stranger.create_hit_with_hit_type,
            {
                "HITTypeId": hit.hit_type.hit_type_id,
                "LifetimeInSeconds": 60,
                "Question": hit.question,
            },
        ),
        (stranger.update_hit_type_of_hit, ours | {"HITTypeId": hit.hit_type.hit_type_id}),
    ]
    for call, params in attempts:
        code, message = refusal(call, **params)
        assert code.endswith(("DoesNotExist", "PermissionDeniedException")) or (
            code == "InvalidParameterValue" and "HITTypeId" in message
        ), (call, code)
        unknown = "3" + "Z" * 29
        assert worker.worker_id not in message.replace(params.get("WorkerId", unknown), "")
    assert stranger.list_hits()["HITs"] == []
    assert stranger.list_reviewable_hits()["HITs"] == []
    assert stranger.list_qualification_requests()["QualificationRequests"] == []
    failed = stranger.notify_workers(Subject="s", MessageText="m", WorkerIds=[worker.worker_id])
    assert len(failed["NotifyWorkersFailureStatuses"]) == 1
    row.refresh_from_db()
    assert row.status == QualificationRequest.PENDING
    assert not Message.objects.exists()
    assert snapshot() == before


def test_a_page_token_is_good_for_its_requester_only(
    mturk: Any, stranger: Any, requester: Requester
) -> None:
    for number in range(3):
        new_hit(requester, title=f"{number}")
    token = mturk.list_hits(MaxResults=1)["NextToken"]
    assert mturk.list_hits(MaxResults=1, NextToken=token)["NumResults"] == 1
    for call in (stranger.list_hits, mturk.list_reviewable_hits, mturk.list_worker_blocks):
        assert refusal(call, NextToken=token)[0] == "InvalidParameterValue"


def test_requesters_learn_nothing_of_who_a_worker_is(mturk: Any, requester: Requester) -> None:
    worker = new_worker(email="secret.person@example.org", country="IE")
    assert worker.user is not None
    hit = new_hit(requester)
    work = accepted(signed_in(worker), hit)
    Client().post(SUBMIT, {"assignmentId": work.assignment_id, "a": "1"})
    mturk.create_worker_block(WorkerId=worker.worker_id, Reason="r")
    mturk.send_bonus(
        WorkerId=worker.worker_id,
        AssignmentId=work.assignment_id,
        BonusAmount="0.10",
        Reason="thanks",
    )
    answers = [
        mturk.get_assignment(AssignmentId=work.assignment_id),
        mturk.list_assignments_for_hit(HITId=hit.hit_id),
        mturk.list_bonus_payments(HITId=hit.hit_id),
        mturk.list_worker_blocks(),
        mturk.get_hit(HITId=hit.hit_id),
    ]
    told = json.dumps(answers, default=str)
    assert worker.worker_id in told
    for secret in (worker.user.username, "secret.person", '"IE"'):
        assert secret not in told


def test_a_revoked_key_or_requester_is_out_at_once(mturk: Any, requester: Requester) -> None:
    mturk.get_account_balance()
    AccessKey.objects.update(revoked_at=database_now())
    with pytest.raises(mturk.exceptions.ClientError, match="UnrecognizedClient"):
        mturk.get_account_balance()
    AccessKey.objects.update(revoked_at=None)
    Requester.objects.update(is_active=False)
    with pytest.raises(mturk.exceptions.ClientError, match="UnrecognizedClient"):
        mturk.get_account_balance()


# --- Ways in, ways out ------------------------------------------------------------------------


def test_signing_in_leads_nowhere_else_and_changes_the_session() -> None:
    worker = new_worker()
    assert worker.user is not None
    for place in ("https://evil.org/", "//evil.org/", "/\\evil.org", "javascript:alert(1)"):
        client = Client()
        session = client.session
        session["planted"] = "1"
        session.save()
        planted = session.session_key
        assert planted
        client.cookies["sessionid"] = planted
        response = client.post(
            "/marketplace/login/",
            {"username": worker.user.username, "password": PASSWORD, "next": place},
        )
        assert (response.status_code, response.headers["Location"]) == (302, "/marketplace/")
        assert client.cookies["sessionid"].value != planted
        assert not Session.objects.filter(session_key=planted).exists()


def test_an_invitation_cannot_be_guessed_or_used_twice() -> None:
    _, code = invitation_create()
    fields = {
        "password": PASSWORD,
        "password_again": PASSWORD,
        "country": "DE",
        "agrees": "on",
    }
    with override_settings(MARKETPLACE_OPEN_SIGN_UP=False):
        for wrong in ("", "x", code[:-1], code.swapcase()):
            Client().post("/marketplace/sign-up/", fields | {"username": "a", "code": wrong})
            assert not User.objects.exists()
        Client().post("/marketplace/sign-up/", fields | {"username": "a", "code": code})
        Client().post("/marketplace/sign-up/", fields | {"username": "b", "code": code})
    assert [user.username for user in User.objects.all()] == ["a"]
    assert not User.objects.get().is_staff


def test_erasing_leaves_no_trace_of_the_person_and_ends_their_sessions(mturk: Any) -> None:
    requester = Requester.objects.get()
    worker = new_worker(email="secret.person@example.org", country="IE")
    assert worker.user is not None
    name, client = worker.user.username, signed_in(worker)
    work = accepted(client, new_hit(requester))
    Client().post(SUBMIT, {"assignmentId": work.assignment_id, "a": "mine"})
    worker_erase(worker=worker)
    assert client.get("/marketplace/work/").headers["Location"].startswith("/marketplace/login/")
    erased = Worker.objects.get(pk=worker.pk)
    assert (erased.user, erased.country, erased.subdivision) == (None, "", "")
    assert not User.objects.filter(username=name).exists()
    # The requester can still decide; nothing names the person.
    mturk.approve_assignment(AssignmentId=work.assignment_id)
    assert "mine" in mturk.get_assignment(AssignmentId=work.assignment_id)["Assignment"]["Answer"]
    back = Client().post("/marketplace/login/", {"username": name, "password": PASSWORD})
    assert back.status_code == 200
