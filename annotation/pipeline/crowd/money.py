"""Money: fees, the costs of HITs and campaigns, and hourly wages.

Whole cents only. Costs are rounded up and wages are rounded down, so no estimate is too favourable.
"""

from collections.abc import Mapping, Sequence
from statistics import median_low

import msgspec

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of

HOUR = 3_600_000  # milliseconds


class Fees(msgspec.Struct, frozen=True):
    """The fees that a marketplace charges on top of each payment."""

    # On rewards and bonuses ...
    percent: int = 0
    # ... and again on rewards, if a HIT has many assignments.
    many_percent: int = 0
    many_from: int = 10
    # The minimum fee for an assignment or a bonus.
    least_cents: int = 0


# The fees of the old Mechanical Turk.
MTURK_FEES = Fees(percent=20, many_percent=20, many_from=10, least_cents=1)


def campaign_fees(settings: Settings) -> Fees:
    """Return the fees of the marketplace that the campaign uses: a plain percentage."""
    return Fees(percent=settings.crowd.fee_percent)


def fee(reward_cents: int, fees: Fees, *, assignments: int = 1) -> int:
    """Return the fee for one assignment of a HIT with this many assignments, rounded up.

    >>> fee(25, MTURK_FEES), fee(25, MTURK_FEES, assignments=10), fee(1, MTURK_FEES)
    (5, 10, 1)
    """
    percent = fees.percent + (fees.many_percent if assignments >= fees.many_from else 0)
    return max(_divided_up(reward_cents * percent, 100), fees.least_cents)


def hit_cost(reward_cents: int, fees: Fees, *, assignments: int = 1) -> int:
    """Return what a HIT costs if all its assignments are approved.

    >>> hit_cost(25, MTURK_FEES), hit_cost(25, Fees(percent=10), assignments=2)
    (30, 56)
    """
    return assignments * (reward_cents + fee(reward_cents, fees, assignments=assignments))


def bonus_cost(bonus_cents: int, fees: Fees) -> int:
    """Return what a bonus costs; the surcharge for many assignments does not apply.

    >>> bonus_cost(100, MTURK_FEES)
    120
    """
    return bonus_cents + fee(bonus_cents, fees)


def stage_cost(stage: Stage, settings: Settings) -> int:
    """Return what a HIT of the stage costs: one assignment, with its fee."""
    return hit_cost(settings.crowd.price_cents[stage], campaign_fees(settings))


# Before launch


class Costs(msgspec.Struct, frozen=True):
    """An expected value with its range: the mean of all runs, rounded up, the least, the most."""

    mean: int
    low: int
    high: int


class Estimate(msgspec.Struct, frozen=True):
    """The expected costs of a campaign, by stage and in total."""

    hits: dict[Stage, Costs]
    cents: dict[Stage, Costs]
    total_cents: Costs


def estimate(
    runs: Sequence[Mapping[Stage, int]], settings: Settings, *, newcomers: int = 0
) -> Estimate:
    """Return the costs of a campaign, given each stage's judgments in simulated runs.

    All questions of a HIT yield judgments, except its gold questions. `newcomers` workers first go
    through probation at every stage; that costs the same in every run.
    """
    if not runs:
        raise ValueError("an estimate needs at least one simulated run")
    hits = {
        stage: [hits_for(stage, run.get(stage, 0), settings, newcomers=newcomers) for run in runs]
        for stage in Stage
    }
    cents = {
        stage: [number * stage_cost(stage, settings) for number in numbers]
        for stage, numbers in hits.items()
    }
    return Estimate(
        hits={stage: _costs(numbers) for stage, numbers in hits.items()},
        cents={stage: _costs(numbers) for stage, numbers in cents.items()},
        total_cents=_costs([sum(of_run) for of_run in zip(*cents.values(), strict=True)]),
    )


def hits_for(stage: Stage, judgments: int, settings: Settings, *, newcomers: int = 0) -> int:
    """Return how many full HITs it takes to get this many judgments.

    >>> hits_for(Stage.LINKS, 980, Settings()), hits_for(Stage.DRAWING, 980, Settings())
    (100, 196)
    """
    size = settings.questions_per_hit[stage]
    if not spec_of(stage).has_gold:
        # Drawing has no known answers to check: newcomers draw boxes that are needed.
        return _divided_up(judgments, size)
    # In millionths, so that 2% of 10 questions is 0.2 and not a little more.
    real_parts = round((1 - settings.crowd.check_share) * size * _PARTS)
    if judgments and not real_parts:
        raise ValueError(f"no {stage.value} question is real: `crowd.check_share` must be below 1")
    probation = newcomers * _divided_up(settings.crowd.probation_items, size)
    return probation + (_divided_up(judgments * _PARTS, real_parts) if judgments else 0)


_PARTS = 1_000_000


def _costs(numbers: Sequence[int]) -> Costs:
    return Costs(mean=_divided_up(sum(numbers), len(numbers)), low=min(numbers), high=max(numbers))


# Wages


def median_time(milliseconds: Sequence[int]) -> int | None:
    """Return the median time of a HIT; None if nothing was measured.

    A time of 0 was not measured. Of an even number of times, the lower middle one counts.
    """
    times = [time for time in milliseconds if time > 0]
    return median_low(times) if times else None


def hourly_wage(price_cents: int, milliseconds: Sequence[int]) -> int | None:
    """Return the hourly wage in cents, rounded down, by the median time of a HIT.

    None if nothing was measured.

    >>> hourly_wage(25, [75_000, 60_000, 200_000, 0])
    1200
    """
    median = median_time(milliseconds)
    return None if median is None else price_cents * HOUR // median


def fair_price(wage_cents: int, milliseconds: Sequence[int]) -> int | None:
    """Return the lowest price of a HIT at which workers earn at least this much an hour.

    >>> fair_price(1200, [75_000])
    25
    """
    median = median_time(milliseconds)
    return None if median is None else _divided_up(wage_cents * median, HOUR)


def wage_problem(stage: Stage, milliseconds: Sequence[int], settings: Settings) -> str | None:
    """Say that a stage pays less per hour than the campaign's floor, and what would be enough.

    >>> wage_problem(Stage.LINKS, [180_000], Settings())
    'links pays $5.00 an hour, less than $8.00; a HIT would have to pay $0.40'
    """
    floor = settings.crowd.wage_floor_cents
    wage = hourly_wage(settings.crowd.price_cents[stage], milliseconds)
    price = fair_price(floor, milliseconds)
    if wage is None or price is None or wage >= floor:
        return None
    return (
        f"{stage.value} pays {dollars(wage)} an hour, less than {dollars(floor)}; "
        f"a HIT would have to pay {dollars(price)}"
    )


def dollars(cents: int) -> str:
    """Write cents for people to read.

    >>> dollars(123456), dollars(-5)
    ('$1,234.56', '-$0.05')
    """
    sign = "-" if cents < 0 else ""
    return f"{sign}${abs(cents) // 100:,}.{abs(cents) % 100:02d}"


def _divided_up(number: int, by: int) -> int:
    return -(-number // by)
