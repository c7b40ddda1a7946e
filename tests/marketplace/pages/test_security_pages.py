"""Attacks with pages, forms and notifications, and with very many HITs."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from common.clock import database_now
from marketplace.actions.notices.delivery import DeliveryError, events_deliver, webhook_post
from marketplace.models import (
    HIT,
    Assignment,
    Event,
    Message,
    QualificationRequest,
    QualificationType,
    Requester,
)
from marketplace.rules.errors import RequestError
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.rules.questions import parse_question, read_answers
from marketplace.rules.questions.formatted import safe_html
from marketplace.site.htmlpage import page_for_frame
from tests.marketplace.calls import refusal
from tests.marketplace.people import make_requester
from tests.marketplace.questions.question_documents import external
from tests.marketplace.site import (
    FORM,
    HOSTILE,
    HTML,
    SUBMIT,
    accepted,
    new_hit,
    new_worker,
    page,
    signed_in,
)
from tests.marketplace.webhooks import webhook_server

pytestmark = pytest.mark.django_db


@pytest.fixture
def frame() -> Client:
    """A browser without cookies, like a page in a frame, or curl."""
    return Client(enforce_csrf_checks=True)


def snapshot() -> list[tuple[object, ...]]:
    return list(Assignment.objects.order_by("pk").values_list())


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


# --- Notifications ----------------------------------------------------------------------------


@pytest.mark.parametrize("destination", ["https://a..b/", "https://.example.org/"])
def test_a_destination_that_can_be_no_host_s_holds_up_nobody(destination: str) -> None:
    """Such a name raised a different error from a failed connection."""
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
