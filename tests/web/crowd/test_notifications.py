"""The webhook: it refuses what the marketplace did not send, and repeats change nothing."""

import json
import random
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from annotation import models
from annotation.actions.work.sittings import sitting_open
from annotation.hits.notifications import EVENT_TYPES, MAX_BYTES, MOST_EVENTS
from annotation.models import HitStatus, SittingKind
from common.clock import database_now
from marketplace.actions.notices.delivery import signature
from marketplace.actions.notices.events import event_body
from marketplace.api.service import service
from marketplace.models import Requester
from tests.web.campaigns import small_campaign
from tests.web.work.task_pages import agree, claim_of, opened

pytestmark = pytest.mark.django_db

SECRET = "a secret of forty characters, more or less"
PATH = "/crowd/notifications"
LATER = timedelta(minutes=5)


@pytest.fixture(autouse=True)
def _secret(settings: Settings) -> None:
    settings.CHAINBOX_CROWD_WEBHOOK_SECRET = SECRET


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first"])


@pytest.fixture
def hits(campaign: models.Campaign) -> list[models.Hit]:
    """Three HITs on the marketplace, to be asked about in five minutes."""
    terms = models.HitTerms.objects.create(
        campaign=campaign,
        stage="links",
        kind=SittingKind.WORK,
        digest="0",
        body="{}",
        reward_cents=25,
        cost_cents=25,
    )
    return [
        models.Hit.objects.create(
            campaign=campaign,
            stage="links",
            kind=SittingKind.WORK,
            terms=terms,
            status=HitStatus.OPEN,
            hit_id=f"3HIT{number}",
            look_at=database_now() + LATER,
        )
        for number in range(3)
    ]


def event(
    type_: str, hit: str | None = "3HIT0", at: str = "2026-01-01T12:00:00Z"
) -> dict[str, Any]:
    told = {"EventType": type_, "EventTimestamp": at, "HITTypeId": "3TYPE", "HITId": hit}
    return told | {"AssignmentId": "3ASG"} if hit and "Assignment" in type_ else told


def body_of(events: Sequence[dict[str, Any]], **changes: Any) -> bytes:
    content = {
        "EventDocVersion": "2014-08-15",
        "EventDocId": "d0c",
        "CustomerId": "AREQUESTER",
        "Events": list(events),
    }
    return json.dumps(content | changes).encode()


def send(body: bytes, **headers: str) -> Any:
    headers = {"X-Chainbox-Signature": signature(body, SECRET)} | headers
    # No cookie and no token: a strict client would refuse it if they were asked for.
    client = Client(enforce_csrf_checks=True)
    return client.post(PATH, body, content_type="application/json", headers=headers)


def due() -> set[str]:
    """Return the HITs that are to be asked about now."""
    found = models.Hit.objects.filter(look_at__lte=database_now())
    return {hit_id or "" for hit_id in found.values_list("hit_id", flat=True)}


def test_the_marketplaces_own_words_are_understood(hits: list[models.Hit]) -> None:
    requester = Requester.objects.create(name="chainbox")
    body = event_body(
        requester,
        "3TYPE",
        event_type="AssignmentSubmitted",
        now=database_now(),
        hit_id="3HIT1",
        assignment_id="3ASG",
    )
    assert send(body.encode()).status_code == 200
    assert due() == {"3HIT1"}


@pytest.mark.parametrize(
    "type_", ["AssignmentSubmitted", "AssignmentApproved", "HITReviewable", "HITExpired"]
)
def test_what_is_worth_a_look_is_looked_at(hits: list[models.Hit], type_: str) -> None:
    reply = send(body_of([event(type_)]))
    assert (reply.status_code, reply.content) == (200, b"Taken.\n")
    assert due() == {"3HIT0"}


def test_duplicates_and_any_order_come_to_the_same(hits: list[models.Hit]) -> None:
    def told(at: int, type_: str) -> bytes:
        return body_of([event(type_, at=f"2026-01-01T12:00:{at:02d}Z")])

    story = [told(1, "AssignmentAccepted"), told(5, "AssignmentReturned")]
    story += [told(9, "AssignmentAccepted"), told(12, "AssignmentSubmitted")]
    shuffle = random.Random(7)
    seen = set()
    for _ in range(8):
        fields = {"accepted_at": None, "given_back_at": None, "is_free": True}
        models.Hit.objects.update(look_at=database_now() + LATER, **fields)
        bodies = story * 2
        shuffle.shuffle(bodies)
        for body in bodies:
            assert send(body).status_code == 200
        hit = models.Hit.objects.get(hit_id="3HIT0")
        assert due() == {"3HIT0"}
        seen.add((hit.accepted_at, hit.given_back_at, hit.is_free))
    ((accepted, returned, is_free),) = seen
    assert accepted
    assert returned
    assert (accepted.second, returned.second, is_free) == (9, 5, False)


@pytest.mark.parametrize("type_", ["AssignmentReturned", "AssignmentAbandoned"])
def test_what_was_given_back_goes_to_others_at_once(campaign: models.Campaign, type_: str) -> None:
    sitting = opened(claim_of(campaign))
    other = claim_of(campaign, worker="A2")
    agree(other)
    assert sitting_open(claim=other).sitting is None
    for seconds, is_over in ((-5, False), (5, True)):
        # Told of an earlier worker's time it changes nothing: this one has accepted since.
        at = (sitting.opened_at + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
        told = event(type_, sitting.hit_id, at) | {"AssignmentId": sitting.assignment_id}
        assert send(body_of([told])).status_code == 200
        assert (sitting_open(claim=other).sitting is not None) == is_over


def test_what_concerns_nothing_of_ours_is_taken_and_forgotten(hits: list[models.Hit]) -> None:
    events = [
        event("Ping", None),
        event("HITCreated"),
        event("SomethingNew"),
        event("AssignmentSubmitted", "3NOBODYS"),
        event("AssignmentSubmitted", None),
        event("AssignmentReturned", "3NOBODYS"),
    ]
    assert send(body_of(events)).status_code == 200
    assert send(body_of([])).status_code == 200
    assert due() == set()


def test_members_that_we_do_not_know_do_no_harm(hits: list[models.Hit]) -> None:
    told = event("AssignmentSubmitted") | {"Answer": "<xml/>", "HITGroupId": "3G"}
    assert send(body_of([told], Extra=[1])).status_code == 200
    assert due() == {"3HIT0"}


def test_forged_ones_are_refused(hits: list[models.Hit]) -> None:
    body = body_of([event("AssignmentSubmitted")])
    good = signature(body, SECRET)
    for bad in (
        signature(body, "another secret"),
        signature(body, ""),
        signature(body + b" ", SECRET),
        good.removeprefix("sha256="),
        good.upper(),
        good[:-1],
        "sha256=",
        "ünsigned",
    ):
        reply = send(body, **{"X-Chainbox-Signature": bad})
        assert reply.status_code == 401, bad
        assert b"Signature" in reply.content
    unsigned = Client().post(PATH, body, content_type="application/json")
    assert unsigned.status_code == 401
    assert due() == set()


def test_without_a_secret_nothing_is_believed(hits: list[models.Hit], settings: Settings) -> None:
    settings.CHAINBOX_CROWD_WEBHOOK_SECRET = ""
    body = body_of([event("AssignmentSubmitted")])
    reply = send(body, **{"X-Chainbox-Signature": signature(body, "")})
    assert reply.status_code == 401
    assert b"CHAINBOX_CROWD_WEBHOOK_SECRET" in reply.content
    assert due() == set()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no json",
        b"[]",
        b"\xff\xfe",
        b"[" * 20_000,
        body_of([], Events={}),
        body_of([], EventDocId=7),
        body_of([], EventDocVersion=None),
        body_of([{}]),
        body_of([event("AssignmentSubmitted", at="yesterday")]),
        body_of([event("AssignmentSubmitted", at="2026-01-01T12:00:00")]),
        body_of([event("AssignmentSubmitted") | {"HITId": 3}]),
        body_of([event("AssignmentSubmitted") | {"HITId": "3\0"}]),
        body_of([event("AssignmentSubmitted") | {"HITId": "3HIT0\n"}]),
        body_of([event("AssignmentSubmitted") | {"AssignmentId": "a" * 65}]),
        body_of([event("AssignmentSubmitted"), event("Ping") | {"EventType": ["Ping"]}]),
        body_of([event("Ping", None)] * (MOST_EVENTS + 1)),
    ],
)
def test_what_is_no_notification_is_refused_in_words(hits: list[models.Hit], body: bytes) -> None:
    reply = send(body)
    assert reply.status_code == 400
    assert reply.content.startswith(b"This is not a notification: ")
    assert due() == set()


def test_a_huge_body_is_not_read_to_its_end(hits: list[models.Hit]) -> None:
    body = body_of([event("AssignmentSubmitted")], Extra="x" * MAX_BYTES)
    reply = send(body)
    assert (reply.status_code, reply.content) == (413, b"The request is larger than 256 KB.\n")
    assert due() == set()


def test_only_by_post() -> None:
    for ask in (Client().get, Client().put, Client().delete):
        reply = ask(PATH)
        assert (reply.status_code, reply.headers["Allow"]) == (405, "POST")


def test_looking_takes_as_many_statements_for_one_as_for_many(hits: list[models.Hit]) -> None:
    counts = []
    for number in (1, MOST_EVENTS):
        models.Hit.objects.update(look_at=database_now() + LATER)
        with CaptureQueriesContext(connection) as asked:
            send(body_of([event("AssignmentSubmitted", f"3HIT{n % 3}") for n in range(number)]))
        counts.append(len(asked))
    assert counts[0] == counts[1] <= 4


def test_the_types_we_name_are_the_platforms() -> None:
    known = set(service().shape_for("EventType").metadata["enum"])
    assert known >= EVENT_TYPES
