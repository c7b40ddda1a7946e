"""Machines whose clocks are ten minutes slow or fast end nothing early."""

import re
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from annotation import models
from annotation.actions.leases import leases_expire
from annotation.hits.tokens import ticket_read, ticket_write
from annotation.selectors.photos import photo_find, photo_url
from annotation.selectors.sittings import settings_of
from marketplace.actions.assignments import assignment_accept
from tests.clocks import FAST, SLOW, machine
from tests.marketplace.people import make_requester
from tests.marketplace.site import HTML, new_hit, new_worker, signed_in
from tests.processes import ROOT, environment, wait_for
from tests.web.campaigns import image_named, small_campaign
from tests.web.task_pages import claim_of, opened
from tests.web.test_celery import worker_running

BOTH_WAYS = pytest.mark.parametrize(("first", "second"), [(SLOW, FAST), (FAST, SLOW)])


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["a", "b", "c"])


@pytest.mark.django_db
@BOTH_WAYS
def test_a_ticket_outlives_the_sitting(campaign: models.Campaign, first: int, second: int) -> None:
    seconds = settings_of(campaign).sitting_seconds
    with machine(first):
        ticket = ticket_write(claim_of(campaign), seconds)
    with machine(second, later=seconds - 5):
        assert ticket_read(ticket) == claim_of(campaign)


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
        with machine(second, later=60 * minutes + settings.CHAINBOX_PHOTO_URL_SECONDS / 2):
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
    assert lasts == pytest.approx(settings_of(campaign).sitting_seconds, abs=5)


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
    with worker_running(tmp_path, queue, variables, "tests.web.fast_clock"):
        wait_for(done.exists, "the task")
