"""Supply: HITs to publish and to take back, within the budget."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from annotation.pipeline.crowd.money import stage_cost
from annotation.pipeline.crowd.supply import Change, Demand, money_left, plan_supply, wanted_hits
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings

RICH = 10**9
SETTINGS = Settings()

demands = st.dictionaries(
    st.sampled_from(Stage),
    st.builds(
        Demand,
        questions=st.integers(0, 3000),
        waiting=st.integers(0, 150),
        paused=st.booleans(),
        draining=st.booleans(),
    ),
)


@st.composite
def prices(draw: st.DrawFn) -> Settings:
    crowd = CrowdSettings(
        price_cents={stage: draw(st.integers(0, 60)) for stage in Stage},
        fee_percent=draw(st.sampled_from([0, 20, 40])),
        hits_ceiling={stage: draw(st.integers(1, 120)) for stage in Stage},
    )
    return Settings(crowd=crowd)


def carried_out(demands: dict[Stage, Demand], plan: dict[Stage, Change]) -> dict[Stage, Demand]:
    return {
        stage: replace(demand, waiting=demand.waiting + plan[stage].publish - plan[stage].take_back)
        for stage, demand in demands.items()
    }


def cost(plan: dict[Stage, Change], settings: Settings) -> int:
    """What the plan commits, less what it frees."""
    return sum((c.publish - c.take_back) * stage_cost(s, settings) for s, c in plan.items())


def one(demand: Demand, left: int = RICH) -> Change:
    return plan_supply({Stage.LINKS: demand}, left, SETTINGS)[Stage.LINKS]


def test_as_many_as_questions_justify() -> None:
    assert one(Demand(questions=95)) == Change(publish=10)
    assert one(Demand(questions=95, waiting=4)) == Change(publish=6)
    assert one(Demand(questions=9_999)) == Change(publish=100)
    assert one(Demand()) == Change()


def test_what_is_not_needed_is_taken_back() -> None:
    assert one(Demand(questions=0, waiting=3)) == Change(take_back=3)
    assert one(Demand(questions=40, waiting=9)) == Change(take_back=5)


def test_a_few_too_many_stay() -> None:
    assert one(Demand(questions=40, waiting=5)) == Change()
    assert one(Demand(questions=1, waiting=2)) == Change()
    # A few are a quarter of what is wanted, rounded up.
    for wanted, few in ((1, 1), (4, 1), (5, 2), (8, 2), (12, 3), (13, 4), (40, 10)):
        questions = 10 * wanted
        assert one(Demand(questions=questions, waiting=wanted + few)) == Change()
        too_many = one(Demand(questions=questions, waiting=wanted + few + 1))
        assert too_many == Change(take_back=few + 1)
    # But never more than the ceiling.
    assert one(Demand(questions=5000, waiting=101)) == Change(take_back=1)


def test_pause_and_drain() -> None:
    assert one(Demand(questions=95, waiting=4, paused=True)) == Change(take_back=4)
    assert one(Demand(questions=95, waiting=4, draining=True)) == Change()
    assert one(Demand(questions=0, waiting=4, draining=True)) == Change(take_back=4)


def test_late_stages_get_the_money_first() -> None:
    both = {Stage.LINKS: Demand(questions=100), Stage.COVERAGE: Demand(questions=100)}
    plan = plan_supply(both, 31 * 10 + 25 * 2 + 24, SETTINGS)
    assert plan == {Stage.LINKS: Change(publish=2), Stage.COVERAGE: Change(publish=10)}


def test_a_budget_that_was_cut_takes_back_early_stages_first() -> None:
    both = {
        Stage.LINKS: Demand(questions=100, waiting=1),
        Stage.COVERAGE: Demand(questions=100, waiting=10),
    }
    plan = plan_supply(both, -50, SETTINGS)
    assert plan == {Stage.LINKS: Change(take_back=1), Stage.COVERAGE: Change(take_back=1)}


def test_no_more_is_taken_back_than_the_budget_asks_for() -> None:
    both = {
        Stage.LINKS: Demand(questions=100, waiting=1),
        Stage.COVERAGE: Demand(questions=100, waiting=10),
    }
    # Links alone saves 25 of 26 cents; Coverage saves 31, and Links may stay.
    plan = plan_supply(both, -26, SETTINGS)
    assert plan == {Stage.LINKS: Change(), Stage.COVERAGE: Change(take_back=1)}


@pytest.mark.parametrize(
    ("paid", "today", "committed", "left"),
    [(0, 0, 0, 300), (800, 0, 150, 50), (100, 250, 0, 50), (0, 0, 350, -50), (1000, 0, 1, -1)],
)
def test_money_left(paid: int, today: int, committed: int, left: int) -> None:
    settings = Settings(crowd=CrowdSettings(budget_cents=1000, daily_budget_cents=300))
    assert money_left(settings, paid=paid, paid_today=today, committed=committed) == left


def test_without_a_budget_only_what_is_free_is_published() -> None:
    assert one(Demand(questions=100), left=0) == Change()
    free = Settings(crowd=CrowdSettings(price_cents=dict.fromkeys(Stage, 0)))
    plan = plan_supply({Stage.LINKS: Demand(questions=100)}, 0, free)
    assert plan == {Stage.LINKS: Change(publish=10)}


@given(demands, st.integers(-5000, 50_000), prices())
def test_the_budget_holds(demands: dict[Stage, Demand], left: int, settings: Settings) -> None:
    plan = plan_supply(demands, left, settings)
    assert set(plan) == set(demands)
    promised = sum(c.publish * stage_cost(s, settings) for s, c in plan.items())
    assert promised <= max(0, left)
    for stage, change in plan.items():
        demand = demands[stage]
        assert change.publish >= 0
        assert 0 <= change.take_back <= demand.waiting
        assert not (change.publish and change.take_back)
        if change.publish:
            assert not demand.paused
            assert not demand.draining
            wanted = wanted_hits(stage, demand.questions, settings)
            assert demand.waiting + change.publish <= wanted
        if demand.paused:
            assert change.take_back == demand.waiting
    # Too much is promised only where nothing is left that could be taken back.
    if left - cost(plan, settings) < 0:
        rest = carried_out(demands, plan)
        assert all(d.waiting == 0 or not stage_cost(s, settings) for s, d in rest.items())


@given(demands, st.integers(-5000, 50_000), prices())
def test_it_comes_to_rest(demands: dict[Stage, Demand], left: int, settings: Settings) -> None:
    published: set[Stage] = set()
    taken_back: set[Stage] = set()
    for _ in range(3):
        plan = plan_supply(demands, left, settings)
        published |= {stage for stage, change in plan.items() if change.publish}
        taken_back |= {stage for stage, change in plan.items() if change.take_back}
        demands = carried_out(demands, plan)
        left -= cost(plan, settings)
    assert not published & taken_back
    assert set(plan_supply(demands, left, settings).values()) <= {Change()}


@given(st.integers(1, 500), st.lists(st.sampled_from([-10, -1, 1, 10]), max_size=60))
def test_questions_that_come_and_go_do_not_make_it_flap(start: int, moves: list[int]) -> None:
    """Around one number of questions, HITs are published or taken back, not in turn."""
    low = max(40, start)
    questions, waiting, turns, last = low, 0, 0, ""
    for move in moves:
        # Never further away than one HIT's worth.
        questions = min(max(questions + move, low), low + 10)
        change = one(Demand(questions=questions, waiting=waiting))
        waiting += change.publish - change.take_back
        now = "publish" if change.publish else "take back" if change.take_back else last
        turns += last != "" and now != last
        last = now
    assert turns == 0
