"""What an attacker would try: each test is an attempt, and what must come of it.

Together with test_security_races.py; the tests of single parts hold much more of the same.
"""

import json
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext, override_settings
from django.urls import URLPattern, get_resolver, reverse

from marketplace.actions.assignments import WorkRefusedError, assignment_accept
from marketplace.actions.blocks import block_set
from marketplace.actions.delivery import DeliveryError, events_deliver, webhook_post
from marketplace.actions.qualifications import TypeChange, qualification_type_create
from marketplace.actions.workers import invitation_create, worker_erase
from marketplace.clock import database_now
from marketplace.models import (
    HIT,
    AccessKey,
    Assignment,
    Event,
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.rules.errors import RequestError
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.rules.questions import parse_question, read_answers
from marketplace.rules.questions.formatted import safe_html
from marketplace.site.htmlpage import page_for_frame
from tests.marketplace.calls import refusal
from tests.marketplace.people import make_requester
from tests.marketplace.question_documents import external
from tests.marketplace.site import (
    FORM,
    HOSTILE,
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
from tests.marketplace.webhooks import webhook_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def frame() -> Client:
    """A browser without cookies: what a page in a frame is to us, and what curl is."""
    return Client(enforce_csrf_checks=True)


def snapshot() -> list[tuple[object, ...]]:
    return list(Assignment.objects.order_by("pk").values_list())


def frame_query(html: str) -> dict[str, str]:
    """Return what the frame's address says."""
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
    """The id is given to the next worker, so the one who returned it knows it."""
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
    assert "There is no such assignment of yours" in words(response.content)
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


# --- Frames -----------------------------------------------------------------------------------


def test_frames_are_sandboxed_and_pages_cannot_be_framed() -> None:
    client = signed_in(new_worker())
    for question in (HTML, external("https://tasks.example.org/")):
        hit = new_hit(make_requester(), question=question)
        response = client.get(f"/marketplace/groups/{hit.hit_type.hit_type_id}/")
        html = response.content.decode()
        assert html.count("<iframe") == html.count('sandbox="allow-scripts') == 1
        assert 'referrerpolicy="no-referrer"' in html
        for never in ("allow-top-navigation ", "allow-popups-to-escape-sandbox"):
            assert never not in html
        assert response.headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]
        assert "script-src 'self';" in response.headers["Content-Security-Policy"]


def test_a_requester_s_html_has_no_origin_of_ours_and_gets_no_cookie(frame: Client) -> None:
    hit = new_hit(make_requester(), question=HTML)
    outer = page(signed_in(new_worker()), f"/marketplace/groups/{hit.hit_type.hit_type_id}/")
    path = unescape(outer.split('src="http://testserver')[1].split('"')[0])
    response = frame.get(path)
    policy = response.headers["Content-Security-Policy"].split(";")[0].split()
    assert policy[0] == "sandbox"
    assert "allow-same-origin" not in policy
    assert not [one for one in policy if one.startswith("allow-top-navigation")]
    assert not response.cookies


@pytest.mark.parametrize(
    "host",
    [
        "a..b",
        "a;sandbox",
        "a,b",
        "a;script-src-elem\u00a8*",
        "a\uff1bsandbox",
        f"{'a' * 64}.org",
        "tasks.example.org;script-src",
        "a&b",
        "*",
        "'none'",
    ],
)
def test_a_host_that_would_break_or_change_a_page_s_policy_is_refused(host: str) -> None:
    with pytest.raises(RequestError, match="ExternalURL"):
        parse_question(external(f"https://{host.replace('&', '&amp;')}/"))


@pytest.mark.parametrize("host", ["bücher.example", "xn--bcher-kva.example", "a_b.example.org"])
def test_hosts_of_all_scripts_have_pages_that_work(host: str) -> None:
    hit = new_hit(make_requester(), question=external(f"https://{host}/"))
    response = signed_in(new_worker()).get(f"/marketplace/groups/{hit.hit_type.hit_type_id}/")
    assert response.status_code == 200
    policy = response.headers["Content-Security-Policy"]
    assert policy.isascii()
    assert policy.count(";") == 9


@pytest.mark.parametrize("url", ["http://example.org/", "javascript:alert(1)", "data:text/html,x"])
def test_external_urls_are_https(mturk: Any, url: str) -> None:
    params = {
        "Title": "t",
        "Description": "d",
        "Reward": "0.01",
        "AssignmentDurationInSeconds": 60,
        "LifetimeInSeconds": 60,
    }
    code, message = refusal(mturk.create_hit, Question=external(url), **params)
    assert (code, "ExternalURL" in message) == ("InvalidParameterValue", True)
    mturk.create_hit(Question=external("http://localhost:8000/"), **params)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<a href="javascript:alert(1)">x</a>',
        '<a href=" java&#115;cript:alert(1)">x</a>',
        '<a href="data:text/html,x">x</a>',
        '<a href="vbscript:x">x</a>',
        '<img src="javascript:alert(1)" alt=""/>',
        '<img src="https://a.org/" alt="" onerror="alert(1)"/>',
        '<p style="position:fixed">x</p>',
        '<p xmlns="http://www.w3.org/2000/svg">x</p>',
        '<form action="https://evil.org/"></form>',
        '<p id="answers">x</p>',
    ],
)
def test_formatted_content_holds_no_script(text: str) -> None:
    with pytest.raises(RequestError):
        safe_html(text)


@pytest.mark.parametrize(
    "unit", ["<input", '<input "', "<form", "<form action ", "//amazonaws.com/", "//a.b."]
)
def test_no_html_question_keeps_the_server_busy(unit: str) -> None:
    """The longest page that is allowed. Who makes this slow again will notice: work that grows
    with the square of the length takes up to half a minute here."""
    html = "<p>" + unit * (65_000 // len(unit))
    shown = page_for_frame(
        html, submit_url="s", assignment_id="a", old_script="o", crowd_script="c"
    )
    assert shown == html


# --- Submitted values are escaped; externalSubmit changes nothing it should not ----------------


def test_hostile_words_are_shown_as_words_everywhere() -> None:
    requester = make_requester()
    Requester.objects.filter(pk=requester.pk).update(name=HOSTILE)
    requester.refresh_from_db()
    worker = new_worker()
    client = signed_in(worker)
    changes: dict[str, Any] = {"title": HOSTILE, "description": HOSTILE, "keywords": HOSTILE}
    hit = new_hit(requester, question=FORM, assignments=2, **changes)
    group = f"/marketplace/groups/{hit.hit_type.hit_type_id}/"
    seen = [page(client, "/marketplace/"), page(client, group)]
    work = accepted(client, hit)
    path = f"/marketplace/work/{work.assignment_id}/"
    answered = client.post(path, {"f0": HOSTILE, "f1": HOSTILE, "auto": HOSTILE})
    seen += [page(client, path), answered.content.decode()]
    Assignment.objects.update(
        status=AssignmentStatus.REJECTED,
        feedback=HOSTILE,
        answer=HOSTILE,
        submitted_at=database_now(),
    )
    kind = QualificationType.objects.create(requester=requester, name=HOSTILE, description=HOSTILE)
    QualificationRequest.objects.create(
        qualification_type=kind,
        worker=worker,
        reason=HOSTILE,
        status=QualificationRequest.REJECTED,
        submitted_at=database_now(),
    )
    Message.objects.create(worker=worker, requester=requester, subject=HOSTILE, text=HOSTILE)
    requester.bonuses.create(
        worker=worker, assignment=work, cents=1, reason=HOSTILE, granted_at=database_now()
    )
    for address in (
        path,
        "/marketplace/work/",
        "/marketplace/earnings/",
        "/marketplace/messages/",
        "/marketplace/qualifications/",
        f"/marketplace/qualifications/?text={HOSTILE}",
        f"/marketplace/qualifications/{kind.qualification_type_id}/",
        f"/marketplace/?text={HOSTILE}&sort={HOSTILE}&reward={HOSTILE}&page={HOSTILE}",
    ):
        seen.append(page(client, address))
    for html in seen:
        assert "<script>alert" not in html
    assert sum("&lt;script&gt;alert" in html for html in seen) >= 8


def test_answers_hold_what_xml_can_hold(frame: Client) -> None:
    work = accepted(signed_in(new_worker()), new_hit(make_requester()))
    fields = {"assignmentId": work.assignment_id, "a\0\x08": f"\0\x1f\ufffe]]>{HOSTILE}\r"}
    response = frame.post(SUBMIT, fields)
    assert response.status_code == 200
    assert "alert" not in response.content.decode()
    work.refresh_from_db()
    assert read_answers(work.answer) == [("a", (f"]]>{HOSTILE}\r",))]


def test_a_form_s_checks_cannot_be_gone_round(frame: Client) -> None:
    work = accepted(signed_in(new_worker()), new_hit(make_requester(), question=FORM))
    before = snapshot()
    response = frame.post(SUBMIT, {"assignmentId": work.assignment_id, "colour": "plaid"})
    assert response.status_code == 409
    assert snapshot() == before


@pytest.mark.parametrize(
    ("kind", "headers"),
    [
        ("multipart/form-data; boundary=y", {}),
        ("application/x-www-form-urlencoded; charset=utf-16", {}),
        ("application/x-www-form-urlencoded", {"CONTENT_LENGTH": "9" * 5000}),
        ("application/x-www-form-urlencoded", {"CONTENT_LENGTH": "-1"}),
    ],
)
def test_strange_forms_get_a_page_and_change_nothing(
    frame: Client, kind: str, headers: dict[str, Any]
) -> None:
    work = accepted(signed_in(new_worker()), new_hit(make_requester()))
    before = snapshot()
    body = (
        f'--x\r\nContent-Disposition: form-data; name="a%41"\r\n\r\n{work.assignment_id}\r\n--x--'
        if kind.startswith("multi")
        else f"assignmentId={work.assignment_id}&a=%41"
    )
    response = frame.generic("POST", f"{SUBMIT}?b=%41", body, kind, **headers)
    assert response.status_code in (400, 413)
    assert snapshot() == before


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


# --- Notifications ----------------------------------------------------------------------------


@pytest.mark.parametrize("destination", ["https://a..b/", "https://.example.org/"])
def test_a_destination_that_can_be_no_host_s_holds_up_nobody(destination: str) -> None:
    """Such a name raised something else than a failed connection does."""
    bad, good = make_requester(0), make_requester(0)
    with pytest.raises(DeliveryError):
        webhook_post(destination=destination, body="{}", requester=bad)
    now = database_now()
    for _ in range(120):
        Event.objects.create(requester=bad, destination=destination, body="{}", next_try_at=now)
    with webhook_server() as webhook:
        Event.objects.create(requester=good, destination=webhook.url, body="{}", next_try_at=now)
        assert events_deliver() == 1
        assert len(webhook.deliveries) == 1
    assert Event.objects.filter(attempts__gt=0).count() == 2, "each destination was tried once"
    assert Event.objects.filter(delivered_at=None, next_try_at__gt=now).count() == 120


# --- Many HITs --------------------------------------------------------------------------------


def test_statements_do_not_grow_with_the_number_of_hits(mturk: Any, requester: Requester) -> None:
    hit = new_hit(requester, assignments=2)
    client = signed_in(new_worker())
    accepted(signed_in(new_worker()), hit)

    def counted() -> list[int]:
        counts = []
        for address in (
            "/marketplace/",
            "/marketplace/?sort=most&qualified=on",
            f"/marketplace/groups/{hit.hit_type.hit_type_id}/",
            "/marketplace/work/",
            "/marketplace/qualifications/",
        ):
            with CaptureQueriesContext(connection) as captured:
                page(client, address)
            counts.append(len(captured))
        for call in (mturk.list_hits, mturk.list_reviewable_hits):
            with CaptureQueriesContext(connection) as captured:
                call(MaxResults=100)
            counts.append(len(captured))
        return counts

    before = counted()
    rows = [
        HIT(
            requester=requester,
            hit_type=hit.hit_type,
            question=hit.question,
            max_assignments=1,
            first_max_assignments=1,
            expires_at=database_now() + timedelta(hours=1),
        )
        for _ in range(1000)
    ]
    HIT.objects.bulk_create(rows)
    for number in range(30):
        new_hit(requester, title=f"another {number}")
    with_few = counted()
    assert with_few == before
