"""Estimates on the dashboard: requested, made in the background one at a time, and kept."""

import re
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotation import models
from annotation.actions.campaign.estimates import (
    SILENCE,
    AbandonedError,
    EstimateUnderWayError,
    estimate_ask,
    estimate_finish,
    estimate_progress,
    estimate_take,
)
from annotation.models import EstimateStatus
from annotation.simulation.estimate_job import estimate_one
from annotation.tasks import campaign_estimates
from tests.crowd.supplies import crowd_change, fresh
from tests.processes import ROOT, environment, wait_for
from tests.web.accounts import researcher
from tests.web.campaigns import answer, image_named, small_campaign
from tests.web.server.test_run import started

FIGURES = re.compile(r"\$\d+\.\d\d</strong>.*?\$\d+\.\d\d to \$\d+\.\d\d", re.DOTALL)


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second"])


@pytest.fixture
def reader(client: Client) -> Client:
    """An account that may only view campaigns."""
    client.force_login(researcher())
    return client


def allowed(*permissions: str) -> Client:
    account = User.objects.create_user("allowed")
    account.user_permissions.add(*Permission.objects.filter(codename__in=permissions))
    client = Client()
    client.force_login(account)
    return client


@pytest.fixture
def planner() -> Client:
    return allowed("view_campaign", "estimate_campaign")


def page(client: Client, campaign: models.Campaign, query: str = "") -> str:
    response = client.get(reverse("crowd", args=[campaign.pk]) + query)
    assert response.status_code == 200
    return response.content.decode()


def ask(client: Client, campaign: models.Campaign) -> int:
    return client.post(reverse("crowd-estimate", args=[campaign.pk])).status_code


@pytest.mark.django_db
def test_looking_at_the_page_computes_nothing(planner: Client, campaign: models.Campaign) -> None:
    page(planner, campaign)
    with CaptureQueriesContext(connection) as plain:
        page(planner, campaign)
    with CaptureQueriesContext(connection) as asked:
        source = page(planner, campaign, "?estimate=1")
    assert len(asked) == len(plain)
    assert not FIGURES.search(source)
    assert not models.StoredEstimate.objects.exists()
    assert planner.get(reverse("crowd-estimate", args=[campaign.pk])).status_code == 405
    assert not models.StoredEstimate.objects.exists()


@pytest.mark.django_db
def test_it_takes_a_permission_of_its_own(reader: Client, campaign: models.Campaign) -> None:
    assert ask(reader, campaign) == 403
    assert ask(allowed("view_campaign", "change_campaign"), campaign) == 403
    assert not models.StoredEstimate.objects.exists()
    assert "Estimate the costs" not in page(reader, campaign)
    assert "The costs have not been estimated yet" in page(reader, campaign)


@pytest.mark.django_db
def test_an_estimate_is_asked_for_made_and_kept_with_its_date(
    planner: Client, reader: Client, campaign: models.Campaign
) -> None:
    assert "Estimate the costs" in page(planner, campaign)
    assert ask(planner, campaign) == 302
    waiting = page(planner, campaign)
    assert "is waiting for a background process" in waiting
    assert 'http-equiv="refresh"' in waiting
    assert "Estimate the costs" not in waiting
    campaign_estimates()
    stored = models.StoredEstimate.objects.get()
    assert (stored.status, stored.error) == (EstimateStatus.DONE, "")
    assert stored.by is not None
    assert stored.by.username == "allowed"
    for client in (planner, reader):
        source = page(client, campaign)
        assert FIGURES.search(source)
        assert "2 of 2 unfinished images" in source
        assert stored.ended_at is not None
        assert f'Estimated on <time datetime="{stored.ended_at:%Y-%m-%dT%H:%M:}' in source
        assert "http-equiv" not in source
    assert "Estimate the costs again" in page(planner, campaign)


@pytest.mark.django_db
def test_one_at_a_time_in_a_campaign(
    planner: Client, campaign: models.Campaign, tmp_path: Path
) -> None:
    for _ in range(8):
        assert ask(planner, campaign) == 302
    assert models.StoredEstimate.objects.count() == 1
    assert "is already running" in page(planner, campaign)
    assert estimate_take() is not None
    with pytest.raises(EstimateUnderWayError):
        estimate_ask(campaign=fresh(campaign), by=None)
    assert estimate_take() is None, "somebody is at it"


@pytest.mark.django_db
def test_how_far_it_is_and_the_one_before_are_shown(
    planner: Client, campaign: models.Campaign
) -> None:
    ask(planner, campaign)
    campaign_estimates()
    ask(planner, campaign)
    taken = estimate_take()
    assert taken is not None
    estimate_progress(stored=taken, done=4, total=6)
    source = page(planner, campaign)
    assert "4 of 6 images simulated" in source
    assert FIGURES.search(source), "the last one stays in sight"
    told: list[tuple[int, int]] = []
    estimate_one(taken)
    taken.refresh_from_db()
    told.append((taken.done, taken.total))
    assert taken.status == EstimateStatus.DONE
    assert told == [(1, 6)], "told at once, then every second"


@pytest.mark.django_db
def test_it_is_for_the_settings_it_was_asked_for(
    planner: Client, campaign: models.Campaign
) -> None:
    ask(planner, campaign)
    crowd_change(campaign, fee_percent=37)
    campaign_estimates()
    source = page(planner, campaign)
    assert "includes fees of 0%" in source
    assert "settings have changed since" in source


@pytest.mark.django_db
def test_why_there_is_none(planner: Client, campaign: models.Campaign) -> None:
    for name in ("first", "second"):
        answer(image_named(campaign, name))
    ask(planner, campaign)
    campaign_estimates()
    assert "every image is finished" in page(planner, campaign)
    assert "Estimate the costs again" in page(planner, campaign)


@pytest.mark.django_db
def test_one_that_ends_its_workers_is_given_up(planner: Client, campaign: models.Campaign) -> None:
    ask(planner, campaign)
    for _ in range(3):
        taken = estimate_take()
        assert taken is not None
        models.StoredEstimate.objects.update(beat_at=F("beat_at") - SILENCE - timedelta(seconds=1))
    assert estimate_take() is None
    assert taken is not None
    with pytest.raises(AbandonedError):
        estimate_finish(stored=taken, body="")
    assert "3 background workers stopped while they were making it" in page(planner, campaign)
    assert ask(planner, campaign) == 302
    campaign_estimates()
    assert FIGURES.search(page(planner, campaign))


@pytest.mark.slow
def test_make_run_makes_them_too(tmp_path: Path) -> None:
    with started(tmp_path, " ready.", CHAINBOX_LOG_LEVEL="INFO") as running:
        script = (
            "from annotation.actions.campaign.estimates import estimate_ask;"
            "from annotation.models import Campaign;"
            "campaign = Campaign.objects.select_related('current_settings').get();"
            "estimate_ask(campaign=campaign, by=None)"
        )
        demo = ROOT / "annotation" / "demo"
        imported = ("corpus_import", str(demo), "--campaign=demo", "--gold")
        for arguments in ((*imported, f"--images={demo / 'photos'}"), ("shell", "-c", script)):
            command(running.var, *arguments)
        show = "from annotation.models import StoredEstimate as E; print(E.objects.get().status)"
        wait_for(
            lambda: "done" in command(running.var, "shell", "-v0", "-c", show),
            "the estimate",
            seconds=120,
        )


def command(var: Path, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        env=environment(CHAINBOX_VAR=str(var)),
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
