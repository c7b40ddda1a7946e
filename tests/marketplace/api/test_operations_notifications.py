"""Notifications: settings and test events through the API, and delivery to a real webhook."""

import hashlib
import hmac
import json
import re
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest
from django.conf import settings
from django.db.models import F
from django.test.utils import override_settings

from common.clock import database_now
from marketplace.actions.notices import delivery
from marketplace.actions.notices.delivery import TRIED_FOR, DeliveryError, events_deliver, retry_at
from marketplace.actions.notices.delivery import webhook_post as post
from marketplace.models import Event, Requester
from marketplace.rules.destinations import destination_check, is_public
from marketplace.rules.errors import RequestError
from marketplace.tasks import marketplace_deliver, marketplace_dispose, marketplace_sweep
from tests.marketplace.calls import operation, refusal
from tests.marketplace.hits import TYPE, UNKNOWN, create, submit
from tests.marketplace.people import make_requester
from tests.marketplace.webhooks import Delivery, Webhook, webhook_server

# Nobody listens there: the discard port.
DEAF = "http://127.0.0.1:9/hook"


@pytest.fixture
def webhook() -> Iterator[Webhook]:
    with webhook_server() as server:
        yield server


def specification(destination: str, *events: str, **changes: Any) -> dict[str, Any]:
    return {
        "Destination": destination,
        "Transport": "SNS",
        "Version": "2014-08-15",
        "EventTypes": list(events or ("AssignmentSubmitted",)),
    } | changes


def read(got: Delivery, requester: Requester) -> dict[str, Any]:
    """Check a delivery's signature as a receiver would; return its one event's envelope."""
    key = requester.webhook_secret.encode()
    wanted = hmac.new(key, got.body, hashlib.sha256).hexdigest()
    assert got.signature == f"sha256={wanted}"
    assert got.content_type == "application/json"
    assert got.path == "/hook?for=me"
    body: dict[str, Any] = json.loads(got.body)
    assert set(body) == {"EventDocVersion", "EventDocId", "CustomerId", "Events"}
    assert body["CustomerId"] == requester.requester_id
    assert len(body["Events"]) == 1
    stamp = body["Events"][0]["EventTimestamp"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", stamp)
    return body


@operation("UpdateNotificationSettings")
def test_events_are_delivered(mturk: Any, requester: Requester, webhook: Webhook) -> None:
    hit_type = mturk.create_hit_type(**TYPE)["HITTypeId"]
    wanted = specification(
        webhook.url, "HITCreated", "AssignmentSubmitted", "HITReviewable", Version="2006-05-05"
    )
    answer = mturk.update_notification_settings(HITTypeId=hit_type, Notification=wanted)
    assert set(answer) == {"ResponseMetadata"}
    hit = create(mturk)
    assignment = submit(hit)
    assert webhook.deliveries == []
    marketplace_deliver()
    bodies = [read(one, requester) for one in webhook.deliveries]
    assert len({body["EventDocId"] for body in bodies}) == 3
    assert {body["EventDocVersion"] for body in bodies} == {"2006-05-05"}
    events = {body["Events"][0]["EventType"]: body["Events"][0] for body in bodies}
    assert set(events) == {"HITCreated", "AssignmentSubmitted", "HITReviewable"}
    submitted = events["AssignmentSubmitted"]
    assert submitted["AssignmentId"] == assignment.assignment_id
    assert (submitted["HITId"], submitted["HITTypeId"]) == (hit["HITId"], hit_type)
    assert "AssignmentId" not in events["HITCreated"]
    assert assignment.worker.worker_id not in str(bodies)
    marketplace_deliver()
    assert len(webhook.deliveries) == 3

    # Off and on again, without naming the destination anew.
    mturk.update_notification_settings(HITTypeId=hit_type, Active=False)
    create(mturk)
    assert events_deliver() == 0
    mturk.update_notification_settings(HITTypeId=hit_type, Active=True)
    create(mturk)
    assert events_deliver() == 1
    # A new specification replaces the old one.
    mturk.update_notification_settings(
        HITTypeId=hit_type, Notification=specification(webhook.url, "HITExpired")
    )
    create(mturk)
    assert events_deliver() == 0


@operation("UpdateNotificationSettings", "InvalidParameterValue", "InvalidTransportEndpoint")
@operation("SendTestEventNotification", "InvalidParameterValue", "InvalidTransportEndpoint")
def test_only_webhooks_are_served(mturk: Any, stranger: Any) -> None:
    hit_type = mturk.create_hit_type(**TYPE)["HITTypeId"]
    change, test = mturk.update_notification_settings, mturk.send_test_event_notification
    for destination in (
        "arn:aws:sns:us-east-1:123456789012:topic",
        "https://sqs.us-east-1.amazonaws.com/123456789012/queue",
        "http://example.org/hook",
        "ftp://example.org/hook",
        "me@example.org",
        "https:///hook",
        "https://user:secret@example.org/hook",
    ):
        wrong = specification(destination)
        code, message = refusal(change, HITTypeId=hit_type, Notification=wrong)
        assert code == "InvalidTransportEndpoint"
        assert message.startswith("The notification endpoint is not valid: ")
        code, _ = refusal(test, Notification=wrong, TestEventType="Ping")
        assert code == "InvalidTransportEndpoint"
    mail = specification("https://example.org/hook", Transport="Email")
    code, message = refusal(change, HITTypeId=hit_type, Notification=mail)
    assert code == "InvalidTransportEndpoint"
    assert "e-mail" in message
    old = specification("https://example.org/hook", Version="1999-01-01")
    assert refusal(change, HITTypeId=hit_type, Notification=old)[0] == "InvalidParameterValue"
    assert refusal(test, Notification=old, TestEventType="Ping")[0] == "InvalidParameterValue"
    ping = specification("https://example.org/hook", "Ping")
    theirs = stranger.create_hit_type(**TYPE)["HITTypeId"]
    fine = specification("https://example.org/hook")
    for params in [
        {"HITTypeId": hit_type, "Notification": ping},
        {"HITTypeId": hit_type},
        {"HITTypeId": hit_type, "Active": True},
        {"HITTypeId": UNKNOWN, "Notification": fine},
        {"HITTypeId": theirs, "Notification": fine},
    ]:
        assert refusal(change, **params)[0] == "InvalidParameterValue", params


@operation("SendTestEventNotification")
def test_test_events_are_sent_at_once(mturk: Any, requester: Requester, webhook: Webhook) -> None:
    for kind in ("Ping", "HITExpired", "AssignmentRejected"):
        answer = mturk.send_test_event_notification(
            Notification=specification(webhook.url), TestEventType=kind
        )
        assert set(answer) == {"ResponseMetadata"}
    events = [read(one, requester)["Events"][0] for one in webhook.deliveries]
    assert [event["EventType"] for event in events] == ["Ping", "HITExpired", "AssignmentRejected"]
    assert [len(event) for event in events] == [2, 4, 5]
    assert not Event.objects.exists()


@operation("SendTestEventNotification", "InvalidTransportEndpoint")
def test_test_events_that_are_not_taken(mturk: Any, webhook: Webhook) -> None:
    test = mturk.send_test_event_notification
    code, message = refusal(test, Notification=specification(DEAF), TestEventType="Ping")
    assert code == "InvalidTransportEndpoint"
    assert "could not be delivered" in message
    webhook.statuses = [500]
    code, message = refusal(test, Notification=specification(webhook.url), TestEventType="Ping")
    assert code == "InvalidTransportEndpoint"
    assert "answered 500" in message


def make_event(requester: Requester, destination: str) -> Event:
    now = database_now()
    return Event.objects.create(
        requester=requester, destination=destination, body="{}", next_try_at=now, created_at=now
    )


@pytest.mark.django_db
def test_delivery_is_tried_again_until_it_is_taken(webhook: Webhook) -> None:
    event = make_event(make_requester(0), webhook.url)
    webhook.statuses = [503, 302, 200]
    for attempts in (1, 2):
        assert events_deliver() == 0
        event.refresh_from_db()
        assert (event.attempts, event.delivered_at) == (attempts, None)
        assert "answered" in event.last_error
        assert events_deliver() == 0  # not due yet
        Event.objects.update(next_try_at=F("created_at"))
    assert events_deliver() == 1
    event.refresh_from_db()
    assert event.delivered_at
    assert (event.next_try_at, event.last_error) == (None, "")
    # The redirect was not followed, and nothing was sent after it was taken.
    assert [one.path for one in webhook.deliveries] == ["/hook?for=me"] * 3


@pytest.mark.django_db
def test_delivery_is_given_up_after_three_days() -> None:
    event = make_event(make_requester(0), DEAF)
    Event.objects.update(created_at=F("created_at") - TRIED_FOR)
    assert events_deliver() == 0
    event.refresh_from_db()
    assert (event.next_try_at, event.delivered_at, event.attempts) == (None, None, 1)
    assert event.last_error


@pytest.mark.django_db
def test_one_dead_webhook_does_not_hold_up_the_others(webhook: Webhook) -> None:
    requester = make_requester(0)
    dead = [make_event(requester, DEAF) for _ in range(3)]
    make_event(requester, webhook.url)
    assert events_deliver() == 1
    assert sum(Event.objects.get(pk=one.pk).attempts for one in dead) == 1


def test_pauses_grow_to_an_hour() -> None:
    now = datetime(2026, 11, 16, tzinfo=UTC)
    pauses = [retry_at(now, attempts) - now for attempts in (1, 2, 3, 9, 10, 500)]
    assert [pause.total_seconds() for pause in pauses] == [10, 20, 40, 2560, 3600, 3600]


@pytest.mark.django_db
@override_settings(MARKETPLACE_PRIVATE_WEBHOOKS=False)
def test_sites_call_no_private_addresses(webhook: Webhook) -> None:
    requester = make_requester(0)
    for destination in (webhook.url, webhook.url.replace("127.0.0.1", "localhost")):
        with pytest.raises(DeliveryError, match="not an address on the public internet"):
            post(destination=destination, body="{}", requester=requester)
    assert webhook.deliveries == []


@pytest.mark.django_db
def test_what_speaks_no_tls_or_says_nothing_is_given_up(
    webhook: Webhook, monkeypatch: pytest.MonkeyPatch
) -> None:
    requester = make_requester(0)
    with pytest.raises(DeliveryError, match="SSL"):
        post(destination=webhook.url.replace("http", "https"), body="{}", requester=requester)
    monkeypatch.setattr(delivery, "TIMEOUT_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        with pytest.raises(DeliveryError):
            post(destination=address, body="{}", requester=requester)


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1:248:1893:25c8:1946", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("192.168.0.1", False),
        ("169.254.169.254", False),
        ("100.64.0.1", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00::1", False),
        ("::ffff:10.0.0.1", False),
        ("2002:7f00:1::", False),
        ("64:ff9b::7f00:1", False),
        ("64:ff9b::5db8:d822", True),
        ("64:ff9b:1::1", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_webhooks_on_this_machine_may_be_plain_http() -> None:
    for fine in ("https://example.org/hook", "http://localhost:8000/", "http://[::1]/hook"):
        destination_check(fine, "SQS")
    for wrong in ("http://localhost.example.org/", "https://example.org/a b", "https://x:port/"):
        with pytest.raises(RequestError):
            destination_check(wrong, "SQS")


@pytest.mark.django_db
def test_the_scheduler_knows_the_tasks() -> None:
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    tasks = [marketplace_sweep, marketplace_deliver, marketplace_dispose]
    assert {task.name for task in tasks} <= scheduled
    for task in tasks:
        task()
