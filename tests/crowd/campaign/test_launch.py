"""Launching: a refusal lists all that is missing and what helps; and the related commands."""

import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext, override_settings

from annotation import models
from annotation.actions.campaign.launch import LaunchRefusedError, campaign_launch
from annotation.models import HitStatus, SupplyStatus
from annotation.pipeline.gold.gold_question import GoldSource
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES, spec_of
from annotation.selectors.campaign.launch import launch_checks
from tests.crowd.supplies import confirm, crowd_change, fresh, supplied, work_hits
from tests.processes import ROOT
from tests.web.campaigns import small_campaign

pytestmark = pytest.mark.django_db

DEMO = ROOT / "annotation" / "demo"
CONNECTED = {
    "CHAINBOX_CROWD_ENDPOINT": "https://crowd.example.org",
    "CHAINBOX_CROWD_KEY_ID": "AKEXAMPLE",
    "CHAINBOX_CROWD_SECRET": "secret",
}


@pytest.fixture
def ready() -> Iterator[models.Campaign]:
    """A campaign that nothing is lacking from."""
    quiet = io.StringIO()
    call_command("corpus_import", DEMO, campaign="demo", images=DEMO / "photos", stdout=quiet)
    call_command("guides_import", DEMO / "guides", campaign="demo", stdout=quiet)
    campaign = models.Campaign.objects.get(name="demo")
    crowd_change(campaign, budget_cents=10_000, daily_budget_cents=5_000)
    gold_add(campaign, each=30)
    with override_settings(**CONNECTED):
        yield fresh(campaign)


def gold_add(campaign: models.Campaign, each: int) -> None:
    image = campaign.images.all()[0]
    models.GoldQuestion.objects.bulk_create(
        [
            models.GoldQuestion(
                campaign=campaign,
                stage=stage.value,
                image=image,
                key=f"{stage.value}/{answer}/{number}",
                answer=answer,
                body="{}",
                source=GoldSource.FILE.value,
            )
            for stage in GOLD_STAGES
            for answer in spec_of(stage).answers
            for number in range(each)
        ]
    )


def run(command: str, **options: object) -> str:
    out = io.StringIO()
    call_command(command, stdout=out, **options)
    return out.getvalue()


def problems(campaign: models.Campaign) -> list[str]:
    return [problem for check in launch_checks(campaign) for problem in check.problems]


def test_a_campaign_that_lacks_nothing_is_launched(ready: models.Campaign) -> None:
    assert "Nothing was published" in run("campaign_launch", campaign="demo", dry_run=True)
    assert not models.StageSupply.objects.exists()
    text = run("campaign_launch", campaign="demo")
    assert text.count("ok ") == 7
    assert "'demo' is launched. HITs being published: links" in text
    supplies = ready.supplies.values_list("stage", "status")
    assert dict(supplies) == {stage.value: SupplyStatus.RUNNING for stage in Stage}
    assert work_hits(ready, HitStatus.CREATING)
    assert models.Hit.objects.filter(kind="test").count() == 2 * len(Stage)
    with pytest.raises(CommandError, match=r"already launched\. Use campaign_pause"):
        run("campaign_launch", campaign="demo")
    with pytest.raises(LaunchRefusedError, match="already launched"):
        campaign_launch(campaign=ready)


@override_settings(**dict.fromkeys(CONNECTED, ""))
def test_all_that_is_lacking_is_listed_at_once_with_what_helps(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a", "b", "c"], name="my rides")
    campaign.images.exclude(name="a").update(file="")
    out = io.StringIO()
    with pytest.raises(CommandError, match="'my rides' is not launched"):
        call_command("campaign_launch", campaign="my rides", stdout=out)
    text = out.getvalue()
    for words in (
        "2 images have questions but no photo, such as b, c",
        "manage.py corpus_import --campaign 'my rides' PATH --images DIR",
        "the guide of drawing has no test questions",
        "manage.py guides_import --campaign 'my rides' FOLDER",
        "the consent text still contains [",
        "links has 0 gold questions and needs 60",
        "manage.py gold_import --campaign 'my rides' FILE",
        "the budget is $0.00, less than the $0.45 of one HIT",
        "manage.py campaign_settings --campaign 'my rides' crowd.daily_budget_cents=CENTS",
        "manage.py campaign_estimate --campaign 'my rides'",
        "CHAINBOX_CROWD_SECRET is not set",
    ):
        assert words in text
    with pytest.raises(LaunchRefusedError) as refused:
        campaign_launch(campaign=fresh(campaign))
    assert list(refused.value.problems) == problems(fresh(campaign))
    assert not models.StageSupply.objects.exists()
    assert not models.Hit.objects.exists()


def test_each_check_looks_at_its_own_thing(ready: models.Campaign) -> None:
    def with_crowd(**crowd: object) -> list[str]:
        crowd_change(ready, **crowd)
        return problems(fresh(ready))

    assert problems(ready) == []
    assert with_crowd(check_share=1.0) == [
        "with crowd.check_share 1 all questions are gold questions"
    ]
    assert with_crowd(check_share=0.02, daily_budget_cents=44) == [
        "the daily budget is $0.44, less than the $0.45 of one HIT"
    ]
    free = {"price_cents": dict.fromkeys(Stage, 0), "budget_cents": 0, "daily_budget_cents": 0}
    assert with_crowd(**free) == [], "voluntary work needs no budget"
    models.GoldQuestion.objects.filter(stage="requirement", answer="scene").delete()
    assert problems(fresh(ready)) == ["requirement has no gold question with the answer scene"]
    models.GoldQuestion.objects.all().delete()
    gold_add(ready, each=30)
    with override_settings(
        CHAINBOX_CROWD_ENDPOINT="http://localhost:8000/marketplace/api/",
        MARKETPLACE_URL="http://localhost:8000/marketplace/api",
        MARKETPLACE_FEE_PERCENT=20,
    ):
        assert problems(fresh(ready)) == [
            "the marketplace charges 20%, but the campaign expects 0%"
        ]
    models.OpenQuestion.objects.all().delete()
    assert problems(fresh(ready)) == ["there is nothing to ask"]


def test_checking_takes_a_constant_few_statements(ready: models.Campaign, tmp_path: Path) -> None:
    with CaptureQueriesContext(connection) as small:
        launch_checks(ready)
    big = small_campaign(tmp_path, [str(number) for number in range(300)])
    with CaptureQueriesContext(connection) as large:
        launch_checks(fresh(big))
    assert len(large) <= len(small) <= 8


# Commands


def test_pause_resume_and_drain_by_command(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=30)
    assert "links         running            3           0        0" in run(
        "campaign_resume", campaign="rides"
    )
    for hit in work_hits(campaign):
        confirm(hit)
    text = run("campaign_pause", campaign="rides", stage=["links"])
    assert "links         paused             0           3        0" in text
    assert "requirement   running            0           0        0" in text
    assert "requirement   draining" in run("campaign_drain", campaign="rides")
    assert set(campaign.supplies.values_list("status", flat=True)) == {SupplyStatus.DRAINING}


def test_commands_say_what_is_wrong(tmp_path: Path) -> None:
    small_campaign(tmp_path, ["a"])
    with pytest.raises(
        CommandError, match=r"not launched; launch it with `manage\.py campaign_launch"
    ):
        run("campaign_pause", campaign="rides")
    with pytest.raises(CommandError, match="there are: rides"):
        run("campaign_drain", campaign="rode")
    with pytest.raises(CommandError, match="invalid choice: 'link'"):
        call_command("campaign_pause", "--campaign", "rides", "--stage", "link")
