"""Supply: how many HITs of each stage to have on the marketplace.

A HIT is a slot: its questions are chosen when a worker accepts it, so only numbers matter here.
"""

from collections.abc import Mapping

import msgspec

from annotation.pipeline.crowd.money import stage_cost
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings


class Demand(msgspec.Struct, frozen=True):
    """What a stage needs and has; the campaign or only this stage may be paused or draining."""

    # Open questions that no sitting holds and that somebody may answer.
    questions: int = 0
    # HITs on the marketplace that nobody has accepted.
    waiting: int = 0
    # Nobody should begin: take back every waiting HIT. Work under way goes on.
    paused: bool = False
    # Add nothing: waiting HITs stay as long as they are needed.
    draining: bool = False


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """HITs to publish or to take back; never both."""

    publish: int = 0
    take_back: int = 0


def money_left(settings: Settings, *, paid: int, paid_today: int, committed: int) -> int:
    """Return the cents that may still be promised; negative if too much is promised already.

    All amounts include fees. `committed` may still have to be paid, possibly today: HITs that wait
    or are under way, submissions not yet approved, and bonuses on their way.

    >>> from annotation.pipeline.protocol.settings import CrowdSettings
    >>> crowd = CrowdSettings(budget_cents=1000, daily_budget_cents=300)
    >>> money_left(Settings(crowd=crowd), paid=600, paid_today=0, committed=150)
    150
    """
    crowd = settings.crowd
    return min(
        crowd.budget_cents - paid - committed, crowd.daily_budget_cents - paid_today - committed
    )


def plan_supply(
    demands: Mapping[Stage, Demand], left_cents: int, settings: Settings
) -> dict[Stage, Change]:
    """Return what to change at each stage, given the money that may still be promised.

    Money from HITs taken back counts only in the next plan: a worker may accept a HIT first. Apart
    from that, carrying out the plan and planning again changes nothing.
    """
    changes = {stage: _by_demand(stage, demand, settings) for stage, demand in demands.items()}
    if left_cents < 0:
        return _save(demands, changes, -left_cents, settings)
    # Late stages first, to finish images that are nearly finished.
    for stage in reversed(Stage):
        change = changes.get(stage, Change())
        cost = stage_cost(stage, settings)
        if change.publish and cost:
            affordable = min(change.publish, left_cents // cost)
            left_cents -= affordable * cost
            changes[stage] = Change(publish=affordable)
    return changes


# How many people can take a test with one HIT; a worker takes each HIT once.
TEST_PLACES = 100


def plan_tests(missing: int, left_cents: int, cost_cents: int) -> list[int]:
    """Return the number of places of each test HIT to publish, given how many are missing.

    Paid tests use at most a tenth of the remaining money, except that each may have a single place:
    the money is for work.

    >>> plan_tests(2, 0, 0), plan_tests(2, 2000, 5), plan_tests(2, 60, 50), plan_tests(1, 9, 10)
    ([100, 100], [20, 20], [1], [])
    """
    if not cost_cents:
        return [TEST_PLACES] * missing
    planned: list[int] = []
    share = max(0, left_cents) // 10
    for _ in range(missing):
        places = min(TEST_PLACES, max(1, share // (missing * cost_cents)))
        if places * cost_cents <= left_cents:
            planned.append(places)
            left_cents -= places * cost_cents
    return planned


def wanted_hits(stage: Stage, questions: int, settings: Settings) -> int:
    """Return how many HITs this many questions justify; the last one may be partly filled.

    >>> [wanted_hits(Stage.LINKS, questions, Settings()) for questions in (0, 1, 10, 11, 9999)]
    [0, 1, 1, 2, 100]
    """
    needed = -(-questions // settings.questions_per_hit[stage])
    return min(needed, settings.crowd.hits_ceiling[stage])


def _by_demand(stage: Stage, demand: Demand, settings: Settings) -> Change:
    if demand.paused:
        return Change(take_back=demand.waiting)
    wanted = wanted_hits(stage, demand.questions, settings)
    if demand.waiting < wanted:
        return Change(publish=0 if demand.draining else wanted - demand.waiting)
    # A few too many do no harm. Without this margin, every answered question and every new one
    # would take back or publish a HIT. The ceiling is strict, though.
    few = -(-wanted // 4)
    most = min(wanted + few, settings.crowd.hits_ceiling[stage])
    return Change(take_back=demand.waiting - wanted) if demand.waiting > most else Change()


def _save(
    demands: Mapping[Stage, Demand],
    changes: Mapping[Stage, Change],
    short_cents: int,
    settings: Settings,
) -> dict[Stage, Change]:
    """Publish nothing, and take back HITs until the budget suffices: early stages first."""
    cost = {stage: stage_cost(stage, settings) for stage in demands}
    take_back = {stage: changes[stage].take_back for stage in demands}
    short_cents -= sum(number * cost[stage] for stage, number in take_back.items())
    stages = [stage for stage in Stage if stage in demands and cost[stage]]
    for stage in stages:
        needed = -(-max(0, short_cents) // cost[stage])
        more = min(needed, demands[stage].waiting - take_back[stage])
        take_back[stage] += more
        short_cents -= more * cost[stage]
    # The last HIT may have saved more than needed: leave the others where they are.
    for stage in reversed(stages):
        spared = min(-short_cents // cost[stage], take_back[stage] - changes[stage].take_back)
        if spared > 0:
            take_back[stage] -= spared
            short_cents += spared * cost[stage]
    return {stage: Change(take_back=number) for stage, number in take_back.items()}
