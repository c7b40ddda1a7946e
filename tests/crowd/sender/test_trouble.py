"""Calls that do not go through: which wait, which fail, and which are not held up."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectTimeoutError
from django.utils import timezone

from annotation import models
from annotation.actions.crowd.outbox import call_retry
from annotation.crowd.client import MTurk
from annotation.models import CallStatus, HitStatus
from marketplace import models as market
from marketplace.actions.ledger import funds_add
from tests.crowd.calls import answers_once, send, statuses
from tests.crowd.in_process import InProcess, in_process_client, spoilt
from tests.crowd.published import (
    COST,
    all_due,
    approve_queue,
    call_of,
    each_hit_is_there_once,
    hit_queue,
    money_agrees,
    terms_of,
)
from tests.marketplace.people import make_requester

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, '{"__type": "ThrottlingException", "message": "Rate exceeded"}'),
        (429, "{}"),
        (503, "<html>busy</html>"),
        (200, "<html>what?</html>"),
        (404, "<html>not here</html>"),
    ],
)
def test_throttling_is_normal(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, status: int, body: str
) -> None:
    hit_queue(zoo)
    answers_once(server, "CreateHITWithHITType", lambda request, _: spoilt(request, status, body))
    before = timezone.now()
    send(mturk_client)
    call = models.OutboxCall.objects.get()
    assert (call.status, call.attempts) == (CallStatus.WAITING, 1)
    assert call.last_error
    assert call.next_try_at is not None
    assert call.next_try_at - before < timedelta(seconds=10)
    send(mturk_client, zoo)
    each_hit_is_there_once()
    assert statuses() == {call.key: CallStatus.DONE}


def test_a_page_of_somebody_elses_is_no_success(
    assignment: models.Assignment, mturk_client: MTurk, server: InProcess, funded: market.Requester
) -> None:
    approve_queue(assignment)
    answers_once(server, "ApproveAssignment", lambda request, _: spoilt(request, 200, "<p>Hi</p>"))
    send(mturk_client)
    assert call_of(f"approve/{assignment.pk}").status == CallStatus.WAITING
    assert not models.Payment.objects.exists()
    send(mturk_client, assignment.hit.campaign)
    assert models.Payment.objects.count() == 1
    money_agrees(funded)


def test_pauses_grow_to_ten_minutes(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    hit_queue(zoo)
    server.network = lambda request, _: spoilt(request, 503, "")
    pauses = []
    for _ in range(14):
        all_due(zoo)
        before = timezone.now()
        send(mturk_client)
        next_try_at = models.OutboxCall.objects.get().next_try_at
        assert next_try_at is not None
        pauses.append((next_try_at - before).total_seconds())
    assert pauses[0] < 2
    assert 290 < pauses[-1] < 610


def test_without_funds_a_call_waits_and_holds_up_nobody(
    zoo: models.Campaign, funded: market.Requester
) -> None:
    poor = make_requester(cents=COST)
    client, _ = in_process_client(poor)
    dear = hit_queue(zoo, places=2)
    cheap = hit_queue(zoo)
    send(client)
    cheap.refresh_from_db()
    assert cheap.status == HitStatus.OPEN
    call = call_of(f"create_hit/{dear.pk}")
    assert call.status == CallStatus.WAITING
    assert call.last_error.startswith("InsufficientFunds")
    assert call.next_try_at is not None
    assert call.next_try_at - timezone.now() > timedelta(seconds=10)
    funds_add(requester=poor, cents=2 * COST, key="more")
    send(client, zoo)
    dear.refresh_from_db()
    assert dear.status == HitStatus.OPEN


def test_a_wrong_key_waits_for_somebody_to_put_it_right(
    zoo: models.Campaign, mturk_client: MTurk, funded: market.Requester
) -> None:
    hit_queue(zoo)
    market.AccessKey.objects.update(revoked_at=timezone.now())
    send(mturk_client)
    call = models.OutboxCall.objects.get()
    assert call.status == CallStatus.WAITING
    assert call.last_error.startswith("UnrecognizedClientException")
    market.AccessKey.objects.update(revoked_at=None)
    send(mturk_client, zoo)
    each_hit_is_there_once()


def test_what_is_refused_fails_alone_and_can_be_tried_again(
    zoo: models.Campaign, mturk_client: MTurk
) -> None:
    wrong = terms_of(zoo, reward=1)
    wrong.body = wrong.body.replace('"AssignmentDurationInSeconds": 3600', '"Assignment": 3600')
    wrong.save()
    bad, good = hit_queue(zoo, terms=wrong), hit_queue(zoo)
    send(mturk_client)
    assert statuses() == {
        f"create_hit/{bad.pk}": CallStatus.FAILED,
        f"create_hit/{good.pk}": CallStatus.DONE,
    }
    call = call_of(f"create_hit/{bad.pk}")
    assert "AssignmentDurationInSeconds" in call.last_error
    assert send(mturk_client) == 0
    wrong.body = terms_of(zoo).body.replace("0.25", "0.01")
    wrong.save()
    call_retry(call=call)
    send(mturk_client)
    bad.refresh_from_db()
    assert bad.status == HitStatus.OPEN
    call_retry(call=call)
    assert send(mturk_client) == 0


def test_a_mistake_of_ours_in_one_call_stops_no_other(
    zoo: models.Campaign, mturk_client: MTurk, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = hit_queue(zoo, terms=terms_of(zoo, reward=1)), hit_queue(zoo)
    models.HitTerms.objects.filter(reward_cents=1).update(body="no JSON")
    send(mturk_client)
    assert statuses()[f"create_hit/{good.pk}"] == CallStatus.DONE
    call = call_of(f"create_hit/{bad.pk}")
    assert call.status == CallStatus.WAITING
    assert "DecodeError" in call.last_error
    assert f"create_hit/{bad.pk} could not be sent" in caplog.text


def test_a_marketplace_that_is_down_is_left_alone(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    for _ in range(8):
        hit_queue(zoo)
    asked = []

    def network(request: AWSPreparedRequest, _: Callable[[], AWSResponse]) -> AWSResponse:
        asked.append(request)
        raise ConnectTimeoutError(endpoint_url="")

    server.network = network
    send(mturk_client)
    assert len(asked) == 3
    untried = models.OutboxCall.objects.filter(attempts=0, next_try_at__lte=timezone.now())
    assert untried.count() == 5
