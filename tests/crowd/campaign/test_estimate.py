"""The estimate: it comes from simulated runs of the corpus itself, and explains how it was made."""

import io
from collections import Counter
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation import models
from annotation.actions.corpus.imports import Take
from annotation.pipeline.crowd.money import Costs, stage_cost
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.simulation.crowd import TYPICAL, Crowd
from annotation.simulation.estimates import CampaignEstimate, EstimateError, estimate_make
from annotation.simulation.run import answer_key
from annotation.simulation.work import work_in_memory
from tests.corpora import campaign_with_images
from tests.crowd.supplies import crowd_change, fresh
from tests.web.campaigns import answer, image_named, small_campaign

pytestmark = pytest.mark.django_db


def made(
    campaign: models.Campaign, images: int = 100, runs: int = 3, newcomers: int = 0
) -> CampaignEstimate:
    return estimate_make(campaign=fresh(campaign), images=images, runs=runs, newcomers=newcomers)


def test_it_is_close_to_what_the_corpus_really_takes() -> None:
    campaign = campaign_with_images(60, take=Take.GOLD)
    found = made(campaign, images=30)
    assert (found.images, found.sample, found.seeds, found.from_key) == (60, 30, (1, 2, 3), 1.0)
    really: Counter[Stage] = Counter()
    crowd = Crowd(list(range(1, 31)), TYPICAL, 9)
    for image in campaign.images.select_related("stored_state", "answer_key"):
        state, key = image.stored_state.state, answer_key(image)
        _, given = work_in_memory(state, key, crowd, image.name, Settings())
        really.update(judgment.question.stage for judgment in given)
    for stage in Stage:
        mean = found.judgments[stage].mean
        assert mean == pytest.approx(really[stage], rel=0.1), stage
        assert found.judgments[stage].low <= mean <= found.judgments[stage].high
        assert found.questions[stage].mean <= mean
    # A HIT of a stage costs what it costs; the whole is the sum of a run's stages.
    cents = found.estimate.cents
    assert all(
        cents[stage].mean >= found.estimate.hits[stage].low * stage_cost(stage, Settings())
        for stage in Stage
    )
    low, high = (sum(getattr(cents[stage], end) for stage in Stage) for end in ("low", "high"))
    assert low <= found.total_cents.low <= found.total_cents.mean <= found.total_cents.high <= high


def test_nothing_is_written_and_the_same_seeds_give_the_same(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(20)])
    first = made(campaign, images=10)
    assert first == made(campaign, images=10)
    assert first.from_key == 0, "guessed"
    assert not models.Fact.objects.exists()
    assert not models.Worker.objects.exists()


def test_only_what_is_left_is_estimated(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(10)])
    before = made(campaign)
    for number in range(5):
        answer(image_named(campaign, str(number)))
    # One that real workers are at.
    answer(image_named(campaign, "7"), limit=2)
    after = made(campaign)
    assert (before.images, after.images) == (10, 5)
    assert after.judgments[Stage.LINKS].mean == 4
    assert after.total_cents.mean < before.total_cents.mean
    for number in range(5, 10):
        answer(image_named(campaign, str(number)))
    with pytest.raises(EstimateError, match="nothing left to ask"):
        made(campaign)


def test_newcomers_cost_their_tests_and_their_probation(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(10)])
    crowd_change(campaign, test_price_cents=20, fee_percent=10)
    without, with_ten = made(campaign), made(campaign, newcomers=10)
    assert with_ten.tests_cents == 10 * 6 * 22
    more = {
        stage: with_ten.estimate.hits[stage].mean - without.estimate.hits[stage].mean
        for stage in Stage
    }
    # Thirty gold questions each; drawers draw what is needed.
    assert more == dict.fromkeys(Stage, 30) | {Stage.VERIFICATION: 60, Stage.DRAWING: 0}
    difference = with_ten.total_cents.low - without.total_cents.low
    assert difference == with_ten.tests_cents + sum(
        number * stage_cost(stage, fresh_settings(campaign)) for stage, number in more.items()
    )


def fresh_settings(campaign: models.Campaign) -> Settings:
    version = fresh(campaign).current_settings
    assert version is not None
    return version.settings


def test_the_command_says_sample_seeds_and_range(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [str(number) for number in range(30)])
    crowd_change(campaign, fee_percent=20, budget_cents=100, daily_budget_cents=50)
    out = io.StringIO()
    call_command("campaign_estimate", campaign="rides", images=10, runs=4, newcomers=3, stdout=out)
    text = out.getvalue()
    found = made(campaign, images=10, runs=4, newcomers=3)
    for words in (
        "4 runs (seeds 1 to 4), each with 10 of 30 unfinished images, scaled up",
        "0% answered from an answer key",
        "fees of 20%",
        "the probation of 3 newcomers",
        "The budgets leave $0.50",
        _range(found.total_cents),
        _range(found.estimate.cents[Stage.COVERAGE]),
    ):
        assert words in text
    assert len([line for line in text.splitlines() if line.split()[0] in set(Stage)]) == 6


def _range(costs: Costs) -> str:
    return f"${costs.low / 100:,.2f} to ${costs.high / 100:,.2f}"


def test_the_command_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["a"])
    with pytest.raises(CommandError, match="must be at least 1"):
        call_command("campaign_estimate", "--campaign", "rides", "--runs", "0")
    crowd_change(campaign, check_share=1.0)
    with pytest.raises(CommandError, match="no links question is real"):
        call_command("campaign_estimate", campaign="rides", stdout=io.StringIO())
