"""Money: fees, costs, estimates, wages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.pipeline.crowd.money import (
    MTURK_FEES,
    Costs,
    Fees,
    bonus_cost,
    dollars,
    estimate,
    fair_price,
    fee,
    hit_cost,
    hits_for,
    hourly_wage,
    stage_cost,
    wage_problem,
)
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings
from marketplace.rules.money import fee as marketplace_fee

SETTINGS = Settings()
times = st.lists(st.integers(1, 10_000_000), min_size=1)


def test_fees_of_the_old_service() -> None:
    assert fee(100, MTURK_FEES, assignments=9) == 20
    assert fee(100, MTURK_FEES, assignments=10) == 40
    assert fee(3, MTURK_FEES) == 1
    assert fee(6, MTURK_FEES) == 2  # 1.2 cents, rounded up
    assert fee(0, MTURK_FEES) == 1  # never less than a cent
    assert hit_cost(100, MTURK_FEES, assignments=10) == 1400
    assert bonus_cost(1, MTURK_FEES) == 2


@given(st.integers(0, 100_000), st.integers(0, 100))
def test_a_plain_percentage_is_what_the_marketplace_takes(reward: int, percent: int) -> None:
    assert fee(reward, Fees(percent=percent), assignments=20) == marketplace_fee(reward, percent)


def test_cents_are_written_as_dollars() -> None:
    amounts = {0: "$0.00", 1: "$0.01", -1: "-$0.01", 99: "$0.99", 100: "$1.00", -100: "-$1.00"}
    assert {cents: dollars(cents) for cents in amounts} == amounts


def test_a_hit_holds_fewer_judgments_than_questions() -> None:
    assert hits_for(Stage.LINKS, 0, SETTINGS) == 0
    assert hits_for(Stage.LINKS, 1, SETTINGS) == 1
    assert hits_for(Stage.LINKS, 981, SETTINGS) == 101
    assert hits_for(Stage.LINKS, 0, SETTINGS, newcomers=4) == 12
    assert hits_for(Stage.DRAWING, 1, SETTINGS, newcomers=4) == 1
    every = replace(SETTINGS, crowd=CrowdSettings(check_share=1.0))
    assert hits_for(Stage.LINKS, 0, every) == 0
    with pytest.raises(ValueError, match="no links question is real"):
        hits_for(Stage.LINKS, 1, every)


def test_an_estimate_has_mean_and_range() -> None:
    settings = replace(SETTINGS, crowd=CrowdSettings(check_share=0.0, fee_percent=20))
    found = estimate(
        [{Stage.LINKS: 100, Stage.DRAWING: 5}, {Stage.LINKS: 105, Stage.DRAWING: 0}], settings
    )
    assert found.hits[Stage.LINKS] == Costs(mean=11, low=10, high=11)
    assert found.cents[Stage.LINKS] == Costs(mean=315, low=300, high=330)
    assert found.cents[Stage.DRAWING] == Costs(mean=27, low=0, high=54)
    assert found.cents[Stage.QUALITY] == Costs(mean=0, low=0, high=0)
    # Of whole runs: the stages' extremes need not come together.
    assert found.total_cents == Costs(mean=342, low=330, high=354)
    with pytest.raises(ValueError, match="at least one simulated run"):
        estimate([], settings)


@given(
    st.lists(st.dictionaries(st.sampled_from(Stage), st.integers(0, 10_000)), min_size=1),
    st.integers(0, 50),
)
def test_an_estimate_adds_up(runs: list[dict[Stage, int]], newcomers: int) -> None:
    found = estimate(runs, SETTINGS, newcomers=newcomers)
    assert found.total_cents.low <= found.total_cents.mean <= found.total_cents.high
    for stage in Stage:
        assert found.cents[stage].high == found.hits[stage].high * stage_cost(stage, SETTINGS)
        size = SETTINGS.questions_per_hit[stage]
        assert found.hits[stage].high * size >= max(run.get(stage, 0) for run in runs)
    assert found.total_cents.low >= sum(costs.low for costs in found.cents.values())
    assert found.total_cents.high <= sum(costs.high for costs in found.cents.values())


def test_wages_by_the_median_time() -> None:
    assert hourly_wage(25, []) is None
    assert hourly_wage(25, [0, 0]) is None
    # One who left the page open for a day changes nothing.
    assert hourly_wage(25, [75_000, 75_000, 86_400_000]) == 1200
    assert hourly_wage(25, [75_001]) == 1199


def test_a_wage_below_the_floor_is_warned_of() -> None:
    assert wage_problem(Stage.LINKS, [75_000], SETTINGS) is None
    assert wage_problem(Stage.LINKS, [], SETTINGS) is None
    assert wage_problem(Stage.LINKS, [120_000], SETTINGS) == (
        "links pays $7.50 an hour, less than $8.00; a HIT would have to pay $0.27"
    )
    at_floor = replace(SETTINGS, crowd=CrowdSettings(wage_floor_cents=1200))
    assert wage_problem(Stage.LINKS, [75_000], at_floor) is None


@given(times, st.integers(1, 5000))
def test_a_fair_price_is_fair_and_the_least(milliseconds: list[int], wage: int) -> None:
    price = fair_price(wage, milliseconds)
    assert price is not None
    earned = hourly_wage(price, milliseconds)
    less = hourly_wage(price - 1, milliseconds)
    assert earned is not None
    assert less is not None
    assert less < wage <= earned


def test_the_defaults_pay_twelve_dollars_an_hour() -> None:
    seconds = dict(zip(Stage, (75, 95, 81, 134, 110, 91), strict=True))
    assert SETTINGS.crowd.price_cents == {
        stage: fair_price(1200, [1000 * time]) for stage, time in seconds.items()
    }


def test_amounts_for_people() -> None:
    assert [dollars(cents) for cents in (0, 5, 100, 1_234_567)] == [
        "$0.00",
        "$0.05",
        "$1.00",
        "$12,345.67",
    ]
