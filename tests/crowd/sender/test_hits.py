"""Sending HITs: published once, found again, taken back."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ReadTimeoutError
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from annotation import models
from annotation.actions.crowd.workers import worker_ensure
from annotation.crowd.client import MTurk
from annotation.models import CallStatus, HitStatus, Operation
from marketplace import models as market
from tests.crowd.calls import answers_once, lose_reply, qualify, send, statuses
from tests.crowd.in_process import InProcess, operation_of
from tests.crowd.published import (
    call_of,
    each_hit_is_there_once,
    hit_queue,
    hit_take_back,
    money_agrees,
    terms_of,
)
from tests.marketplace.people import make_worker

pytestmark = pytest.mark.django_db


def test_the_first_hit_brings_its_qualification_and_terms_along(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_WEBHOOK = "https://chainbox.example.org/crowd/notify"
    settings.CHAINBOX_TASK_URL = "https://chainbox.example.org"
    terms = terms_of(zoo)
    required = (
        '"QualificationRequirements": [{"QualificationTypeId": "{qualification}", '
        '"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [1]}]'
    )
    terms.body = terms.body.replace('"QualificationRequirements": []', required)
    terms.save()
    hits = [hit_queue(zoo, terms=terms), hit_queue(zoo, terms=terms, places=2)]
    assert send(mturk_client) == 2
    assert server.operations == [
        *("CreateQualificationType", "CreateHITType", "UpdateNotificationSettings"),
        *("CreateHITWithHITType", "CreateHITWithHITType"),
    ]
    qualification = market.QualificationType.objects.get()
    assert qualification.name == "Chainbox: zoo – links"
    supply = models.StageSupply.objects.get()
    assert supply.qualification_type_id == qualification.qualification_type_id
    hit_type = market.HITType.objects.get()
    assert hit_type.requirements[0]["QualificationTypeId"] == qualification.qualification_type_id
    notified = market.NotificationSettings.objects.get()
    assert notified.destination == settings.CHAINBOX_CROWD_WEBHOOK
    assert "AssignmentSubmitted" in notified.event_types
    for hit, places in zip(hits, (1, 2), strict=True):
        hit.refresh_from_db()
        theirs = market.HIT.objects.get(hit_id=hit.hit_id)
        assert theirs.max_assignments == places
        assert theirs.annotation == f"chainbox:{call_of(f'create_hit/{hit.pk}').token}"
        assert f"https://chainbox.example.org/hits/{zoo.pk}/links/" in theirs.question
        assert theirs.expires_at - theirs.created_at == timedelta(days=7)
        assert hit.status == HitStatus.OPEN
        assert hit.expires_at is not None
        assert abs(hit.expires_at - theirs.expires_at) < timedelta(seconds=1)
        assert hit.look_at is not None


def test_a_webhook_that_the_marketplace_refuses_keeps_nothing_from_being_published(
    zoo: models.Campaign, mturk_client: MTurk, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_WEBHOOK = "http://example.org/not-secure"
    hit = hit_queue(zoo)
    send(mturk_client)
    hit.refresh_from_db()
    assert hit.status == HitStatus.OPEN
    assert not market.NotificationSettings.objects.exists()


def test_a_qualification_that_is_there_already_is_found_by_its_whole_name(
    zoo: models.Campaign, mturk_client: MTurk
) -> None:
    worker = make_worker()
    for name in ("Chainbox: zoo – links two", "Chainbox: zoo – links"):
        wanted = mturk_client.qualification_type_create(name=name, description="d")
    qualify(zoo, worker_ensure(name=worker.worker_id), 50, "one")
    send(mturk_client)
    assert models.StageSupply.objects.get().qualification_type_id == wanted
    assert market.Qualification.objects.get().value == 50


def test_a_lost_reply_is_found_again_by_the_token(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, funded: market.Requester
) -> None:
    hit = hit_queue(zoo)
    answers_once(server, "CreateHITWithHITType", lose_reply)
    send(mturk_client)
    assert call_of(f"create_hit/{hit.pk}").last_error.startswith("ReadTimeoutError")
    send(mturk_client, zoo)
    assert server.operations[-2:] == ["CreateHITWithHITType", "GetHIT"]
    each_hit_is_there_once()
    money_agrees(funded)


@pytest.mark.parametrize("arrived", [True, False])
def test_after_20_hours_a_hit_is_looked_for_before_it_is_published_again(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, arrived: bool
) -> None:
    hits = [hit_queue(zoo) for _ in range(3)]
    first = models.OutboxCall.objects.order_by("pk").first()
    assert first is not None

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if arrived and operation_of(request) == "CreateHITWithHITType":
            carry_out()
        if operation_of(request) == "CreateHITWithHITType":
            raise ReadTimeoutError(endpoint_url="")
        return carry_out()

    server.network = network
    send(mturk_client)
    assert market.HIT.objects.count() == (3 if arrived else 0)
    # A day later nobody on the marketplace remembers the tokens.
    market.RequestToken.objects.update(created_at=F("created_at") - timedelta(hours=25))
    models.OutboxCall.objects.update(first_tried_at=timezone.now() - timedelta(hours=21))
    server.network = lambda _, carry_out: carry_out()
    server.operations.clear()
    send(mturk_client, zoo)
    assert market.HIT.objects.count() == 3
    each_hit_is_there_once()
    assert {hit.pk for hit in models.Hit.objects.filter(status=HitStatus.OPEN)} == {
        hit.pk for hit in hits
    }
    # All are listed once, to the first page with nothing on it.
    listed = server.operations.count("ListHITs")
    assert listed == (2 if arrived else 1)
    assert server.operations.count("CreateHITWithHITType") == (0 if arrived else 3)


def test_taking_a_hit_back(hit: models.Hit, mturk_client: MTurk) -> None:
    hit_take_back(hit)
    send(mturk_client)
    hit.refresh_from_db()
    assert hit.status == HitStatus.CLOSING
    assert not hit.is_free
    assert hit.look_at is not None
    assert hit.look_at <= timezone.now()
    assert market.HIT.objects.get().status == "Reviewable"


def test_a_hit_that_was_never_tried_is_taken_back_without_a_word(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    hit = hit_queue(zoo)
    create = models.OutboxCall.objects.filter(hit=hit)
    create.update(next_try_at=timezone.now() + timedelta(hours=1))
    hit_take_back(hit)
    send(mturk_client)
    hit.refresh_from_db()
    assert (hit.status, hit.held_cents) == (HitStatus.CLOSED, 0)
    assert statuses() == {
        f"create_hit/{hit.pk}": CallStatus.DROPPED,
        f"expire_hit/{hit.pk}": CallStatus.DONE,
    }
    assert server.operations == []


def test_a_hit_of_which_we_do_not_know_whether_it_is_there_is_not_given_up(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    hit = hit_queue(zoo)
    answers_once(server, "CreateHITWithHITType", lose_reply)
    send(mturk_client)
    hit_take_back(hit)
    models.OutboxCall.objects.filter(operation=Operation.CREATE_HIT).update(
        next_try_at=timezone.now() + timedelta(hours=1)
    )
    send(mturk_client)
    assert statuses()[f"expire_hit/{hit.pk}"] == CallStatus.WAITING
    send(mturk_client, zoo)
    send(mturk_client, zoo)
    hit.refresh_from_db()
    assert hit.status == HitStatus.CLOSING
    assert market.HIT.objects.get().status == "Reviewable"
