"""The tasks, their settings, and crowd_check, over real connections."""

from collections.abc import Iterator
from io import StringIO
from typing import Any

import pytest
from django.conf import settings as all_settings
from django.core.management import CommandError, call_command
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.actions.crowd.payments import bonus_queue
from annotation.crowd.client import MTurk, crowd_client
from annotation.models import CallStatus, HitStatus
from annotation.tasks import crowd_look, crowd_send, crowd_supply, crowd_sweep
from common.clock import CLOCK_TOLERANCE_SECONDS
from marketplace import models as market
from marketplace.actions.assignments import assignment_approve
from marketplace.actions.bonuses import bonus_send
from tests.crowd.published import (
    all_due,
    approve_queue,
    confirmed,
    each_hit_is_there_once,
    hit_queue,
    launched,
    money_agrees,
    terms_of,
)
from tests.marketplace.calls import hang_up
from tests.marketplace.people import make_worker


def test_the_scheduler_knows_the_tasks() -> None:
    scheduled = {
        entry["task"]: (entry["schedule"], entry["options"]["expires"])
        for entry in all_settings.CELERY_BEAT_SCHEDULE.values()
    }
    in_time = 5 + CLOCK_TOLERANCE_SECONDS
    assert scheduled[crowd_send.name] == scheduled[crowd_look.name] == (5, in_time)


@pytest.mark.django_db
def test_without_a_key_nothing_happens(zoo: models.Campaign, settings: Settings) -> None:
    settings.CHAINBOX_CROWD_KEY_ID = settings.CHAINBOX_CROWD_SECRET = ""
    hit_queue(zoo)
    crowd_send()
    crowd_look()
    assert models.OutboxCall.objects.get().attempts == 0
    with pytest.raises(CommandError, match="No marketplace is set up"):
        call_command("crowd_check")


@pytest.fixture
def connected(
    live_server: LiveServer, funded: market.Requester, settings: Settings
) -> Iterator[MTurk]:
    """The settings name a marketplace that listens.

    Four calls are on their way at once, each in a thread of the server's with a connection of its
    own; SQLite's database in memory has only one for all.
    """
    key = market.AccessKey.objects.create(requester=funded)
    settings.CHAINBOX_CROWD_ENDPOINT = f"{live_server.url}/marketplace/api"
    settings.CHAINBOX_CROWD_KEY_ID, settings.CHAINBOX_CROWD_SECRET = key.key_id, key.secret
    client = crowd_client()
    assert crowd_client() is client
    yield client
    hang_up(client.boto)


def check(*args: Any) -> str:
    output = StringIO()
    call_command("crowd_check", *args, stdout=output)
    return output.getvalue()


@pytest.mark.postgres
def test_publish_pay_and_check(
    zoo: models.Campaign, connected: MTurk, funded: market.Requester
) -> None:
    hits = [hit_queue(zoo) for _ in range(6)]
    crowd_send()
    each_hit_is_there_once()
    for hit in hits[:2]:
        hit.refresh_from_db()
        assignment = confirmed(make_worker(), hit)
        approve_queue(assignment)
        bonus_queue(assignment=assignment, cents=5, reason="Thanks", key=str(hit.pk))
    all_due(zoo)
    crowd_send()
    crowd_look()
    assert set(models.OutboxCall.objects.values_list("status", flat=True)) == {CallStatus.DONE}
    assert models.Hit.objects.filter(status=HitStatus.CLOSED).count() == 2
    money_agrees(funded)
    assert check() == check("--campaign", "zoo")
    assert "6 HITs, 2 assignments: all agree; 0.60 paid there, 0.60 recorded here." in check()


@pytest.mark.postgres
def test_crowd_check_finds_every_difference(zoo: models.Campaign, connected: MTurk) -> None:
    hits = [hit_queue(zoo) for _ in range(3)]
    crowd_send()
    for hit in hits:
        hit.refresh_from_db()
    approved, unknown, _ = hits
    ours = confirmed(make_worker(), approved)
    theirs = market.Assignment.objects.get()
    assignment_approve(assignment=theirs)
    bonus_send(requester=theirs.hit.requester, assignment=theirs, cents=9, reason="", token=None)
    stranger = confirmed(make_worker(), unknown)
    models.Assignment.objects.filter(pk=stranger.pk).delete()
    orphan = connected.hit_create(
        hit_type_id=models.HitTerms.objects.get().hit_type_id,
        places=1,
        lifetime_seconds=3600,
        question=market.HIT.objects.all()[0].question,
        annotation="chainbox:somebody",
        token="t",
    )
    output = StringIO()
    with pytest.raises(CommandError, match=r"5 differences; 0\.34 paid there, 0\.00 recorded here"):
        call_command("crowd_check", stdout=output)
    text = output.getvalue()
    assert f"assignment {ours.assignment_id} is approved there but submitted here" in text
    assert f"assignment {ours.assignment_id}: the reward is paid there, unlike here" in text
    assert "a bonus of 0.09" in text
    assert f"assignment {stranger.assignment_id} is submitted there but unknown here" in text
    assert f"HIT {orphan.hit_id} is there but unknown here" in text


@pytest.mark.django_db
def test_a_campaign_in_trouble_keeps_no_other_from_its_supply(
    zoo: models.Campaign, caplog: pytest.LogCaptureFixture
) -> None:
    models.StageSupply.objects.filter(campaign=zoo).update(stage="nonsense")
    later = launched("later")
    models.StageSupply.objects.filter(campaign=later).update(status="paused")
    models.Hit.objects.create(
        campaign=later,
        stage="links",
        kind="work",
        terms=terms_of(later),
        status="open",
        hit_id="3H",
    )
    crowd_supply()
    crowd_sweep()
    assert "planning the supply of zoo has failed" in caplog.text
    # Of the paused one, what nobody has accepted is taken back.
    assert models.OutboxCall.objects.get().operation == "expire_hit"
