"""Nothing expires early on machines whose clocks are ten minutes slow or fast."""

import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings as site
from django.test import Client
from pytest_django import Settings

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.crowd.heartbeat import heartbeat_note
from annotation.actions.crowd.notifications import PlatformEvent, events_take
from annotation.actions.work.leases import leases_expire
from annotation.actions.work.sittings import sitting_open
from annotation.hits.tokens import ticket_read, ticket_write
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.acceptance import Acceptance
from annotation.selectors.corpus.photos import photo_find, photo_url
from annotation.selectors.crowd.heartbeat import LATE_SECONDS, heartbeat_age
from marketplace.actions.assignments import assignment_accept
from tests.clocks import FAST, SLOW, machine
from tests.concurrency.crowds import workers_trusted
from tests.marketplace.people import make_requester
from tests.marketplace.site import HTML, new_hit, new_worker, signed_in
from tests.processes import ROOT, environment, wait_for
from tests.web.campaigns import image_named, small_campaign
from tests.web.services.test_celery import worker_running
from tests.web.work.task_pages import claim_of, opened

BOTH_WAYS = pytest.mark.parametrize(("first", "second"), [(SLOW, FAST), (FAST, SLOW)])


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["a", "b", "c"])


@pytest.mark.django_db
@BOTH_WAYS
def test_a_ticket_outlives_the_sitting(campaign: models.Campaign, first: int, second: int) -> None:
    seconds = campaign.settings.sitting_seconds
    with machine(first):
        claim = claim_of(campaign)
        ticket = ticket_write(claim, seconds)
    with machine(second, later=seconds - 5):
        assert ticket_read(ticket) == claim


@pytest.mark.django_db
@BOTH_WAYS
def test_a_photo_can_be_seen_throughout_a_sitting(
    campaign: models.Campaign, first: int, second: int
) -> None:
    image = image_named(campaign, "a")
    # Addresses are signed with the beginning of a window: try several places in it.
    for minutes in range(0, 60, 10):
        with machine(first, later=60 * minutes):
            token = photo_url(image).removeprefix("/photos/")
        with machine(second, later=60 * minutes + site.CHAINBOX_PHOTO_URL_SECONDS / 2):
            assert photo_find(token) is not None, minutes


@pytest.mark.django_db
@BOTH_WAYS
def test_leases_last_as_long_as_they_should(
    campaign: models.Campaign, first: int, second: int
) -> None:
    with machine(first):
        sitting = opened(claim_of(campaign))
    with machine(second):
        assert leases_expire() == 0
    lasts = (sitting.until - sitting.opened_at).total_seconds()
    assert lasts == pytest.approx(campaign.settings.sitting_seconds, abs=5)


@pytest.mark.django_db
@pytest.mark.parametrize("clock", [SLOW, 0, FAST])
@pytest.mark.parametrize("is_proven", [True, False])
def test_news_of_a_return_ends_only_the_sitting_that_was_given_back(
    campaign: models.Campaign, clock: int, is_proven: bool, settings: Settings
) -> None:
    """The marketplace's clock is wrong, and its news comes when the next worker is there."""
    settings.CHAINBOX_CROWD_PROOF = "required" if is_proven else "none"
    one_each = {stage.value: 1 for stage in Stage}
    campaign_settings_change(campaign=campaign, questions_per_hit=one_each)
    workers_trusted(campaign, ["A1", "A2"])

    def sitting_of(worker: str, seconds: int) -> models.Sitting:
        at = round(1000 * (time.time() + clock + seconds))
        acceptance = Acceptance(accepted=at, deadline=at + 3_600_000) if is_proven else None
        claim = claim_of(
            *(campaign, Stage.LINKS, worker),
            assignment_id="3PLACE",
            hit_id="3HIT",
            acceptance=acceptance,
        )
        sitting = sitting_open(claim=claim).sitting
        assert sitting is not None
        return sitting

    first = sitting_of("A1", -120)
    models.Hit.objects.update(places=1)
    if not is_proven:
        # One at a time: the first has lapsed when the next comes.
        models.Sitting.objects.update(status=models.SittingStatus.LAPSED)
    second = sitting_of("A2", -50)
    events_take(
        events=[
            PlatformEvent(
                type="AssignmentReturned",
                hit_id="3HIT",
                assignment_id="3PLACE",
                at=datetime.fromtimestamp(int(time.time()) + clock - 60, UTC),
            )
        ]
    )
    first.refresh_from_db()
    second.refresh_from_db()
    assert first.status == models.SittingStatus.LAPSED
    assert second.status == models.SittingStatus.OPEN


@pytest.mark.django_db
@BOTH_WAYS
def test_a_worker_that_runs_is_not_taken_for_dead(first: int, second: int) -> None:
    with machine(first):
        heartbeat_note()
    with machine(second):
        age = heartbeat_age()
    assert age is not None
    assert age < LATE_SECONDS


@pytest.mark.django_db
@BOTH_WAYS
def test_a_page_of_a_requester_can_be_seen_until_the_deadline(first: int, second: int) -> None:
    worker = new_worker()
    hit = new_hit(make_requester(), question=HTML, assignment_duration=900)
    place = assignment_accept(hit_id=hit.pk, worker=worker)
    with machine(first):
        page = signed_in(worker).get(f"/marketplace/work/{place.assignment_id}/").content.decode()
    found = re.search(r'<iframe[^>]* src="([^"]+)"', page)
    assert found
    with machine(second, later=890):
        assert Client().get(unescape(found[1])).status_code == 200


SEND = """
import sys, time
import time_machine
from config.celery import app
from tests.clocks import SLOW
shortest = min(app.conf.beat_schedule.values(), key=lambda entry: entry["schedule"])
with time_machine.travel(time.time() + SLOW, tick=True):
    app.send_task("tests.leave_file", args=[sys.argv[1]], queue=sys.argv[2], **shortest["options"])
"""


@pytest.mark.slow
def test_a_worker_with_a_fast_clock_does_what_a_slow_scheduler_sends(tmp_path: Path) -> None:
    variables = environment(CHAINBOX_VAR=str(tmp_path / "var"))
    done, queue = tmp_path / "done", "clocks"
    subprocess.run(
        [sys.executable, "-c", SEND, str(done), queue], env=variables, cwd=ROOT, check=True
    )
    with worker_running(tmp_path, queue, variables, "tests.web.services.fast_clock"):
        wait_for(done.exists, "the task")
