"""What a campaign has paid, what it has promised, and what workers earn an hour."""

from datetime import datetime

import msgspec
from django.db.models import F, IntegerField, OuterRef, QuerySet, Subquery, Sum, Value
from django.db.models.functions import Coalesce

from annotation import models
from annotation.models import CallStatus, HitStatus, Operation, SittingKind
from annotation.pipeline.crowd.money import hourly_wage, median_time, stage_cost, wage_problem
from annotation.pipeline.crowd.supply import money_left
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from common.clock import database_now

# How many sittings a wage is measured from: the latest ones, so that it follows page changes.
MEASURED_SITTINGS = 200

_PAID = Sum(F("cents") + F("fee_cents"))


class Spent(msgspec.Struct, frozen=True):
    """What was paid, in total and today, and what may still have to be paid; all with fees."""

    paid: int
    paid_today: int
    promised: int

    def left(self, settings: Settings) -> int:
        """Return the cents that may still be promised; below zero if too much already is."""
        return money_left(
            settings, paid=self.paid, paid_today=self.paid_today, committed=self.promised
        )


class Wage(msgspec.Struct, frozen=True):
    """What a stage's workers earn an hour by the median of their latest times."""

    # None: nothing was measured.
    cents: int | None
    median_seconds: float | None
    # What is wrong, and what a HIT would have to pay; None: nothing is wrong.
    warning: str | None


class StageMoney(msgspec.Struct, frozen=True):
    """A stage's money, in cents."""

    stage: Stage
    # What a HIT pays, and costs with its fee.
    price: int
    cost: int
    paid: int
    promised: int
    # An hour's earnings, by measured times; None: nothing was measured.
    wage: int | None
    floor: int
    warning: str | None
    median_seconds: float | None


class CampaignMoney(msgspec.Struct, frozen=True):
    """A campaign's money, in cents, fees included."""

    paid: int
    paid_today: int
    # HITs that wait or are under way, work that was handed in, bonuses on their way.
    promised: int
    budget: int
    daily_budget: int
    # What supply may still promise today; below zero if a budget was cut.
    left: int
    stages: tuple[StageMoney, ...]


def campaign_spent(campaign: models.Campaign) -> Spent:
    """Return what a campaign has paid and promised.

    One statement reads all sums: a payment made at this moment is counted as promised or as paid,
    never as neither. The day is the database's, in UTC.
    """
    day = _day(database_now())
    payments = models.Payment.objects.filter(campaign=OuterRef("pk"))
    sums = models.Campaign.objects.filter(pk=campaign.pk).values_list(
        _sum(payments, _PAID),
        _sum(payments.filter(created_at__gte=day), _PAID),
        _sum(_held().filter(campaign=OuterRef("pk")), Sum("held_cents")),
        _sum(_bonuses().filter(campaign=OuterRef("pk")), Sum("cents")),
    )
    paid, today, held, bonuses = sums.get()
    return Spent(paid=paid, paid_today=today, promised=held + bonuses)


def _day(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0)


def _held() -> QuerySet[models.Hit]:
    return models.Hit.objects.exclude(status=HitStatus.CLOSED)


def _bonuses() -> QuerySet[models.OutboxCall]:
    return models.OutboxCall.objects.filter(operation=Operation.BONUS, status=CallStatus.WAITING)


def _sum(
    rows: QuerySet[models.Payment] | QuerySet[models.Hit] | QuerySet[models.OutboxCall], what: Sum
) -> Coalesce:
    # Grouped by a value that all of them share: one sum.
    total = rows.order_by().values("campaign").annotate(total=what).values("total")
    return Coalesce(Subquery(total, output_field=IntegerField()), Value(0))


def campaign_money(campaign: models.Campaign) -> CampaignMoney:
    """Return a campaign's money by stage, in a constant few statements."""
    settings = campaign.settings
    spent = campaign_spent(campaign)
    paid = dict(
        models.Payment.objects.filter(campaign=campaign).values_list("stage").annotate(paid=_PAID)
    )
    held = dict(_held().filter(campaign=campaign).values_list("stage").annotate(Sum("held_cents")))
    bonuses = dict(
        _bonuses()
        .filter(campaign=campaign)
        .values_list("assignment__hit__stage")
        .annotate(Sum("cents"))
    )
    earned = wages(campaign)
    return CampaignMoney(
        paid=spent.paid,
        paid_today=spent.paid_today,
        promised=spent.promised,
        budget=settings.crowd.budget_cents,
        daily_budget=settings.crowd.daily_budget_cents,
        left=spent.left(settings),
        stages=tuple(
            StageMoney(
                stage=stage,
                price=settings.crowd.price_cents[stage],
                cost=stage_cost(stage, settings),
                paid=paid.get(stage.value, 0),
                promised=held.get(stage.value, 0) + bonuses.get(stage.value, 0),
                wage=earned[stage].cents,
                floor=settings.crowd.wage_floor_cents,
                warning=earned[stage].warning,
                median_seconds=earned[stage].median_seconds,
            )
            for stage in Stage
        ),
    )


def wages(campaign: models.Campaign) -> dict[Stage, Wage]:
    """Return what each stage's workers earn an hour: one statement per stage, of few rows each."""
    settings = campaign.settings
    earned = {}
    for stage in Stage:
        times = list(
            models.Sitting.objects.filter(
                campaign=campaign,
                stage=stage.value,
                kind=SittingKind.WORK,
                confirmed_at__isnull=False,
                milliseconds__gt=0,
            )
            .order_by("-pk")
            .values_list("milliseconds", flat=True)[:MEASURED_SITTINGS]
        )
        median = median_time(times)
        earned[stage] = Wage(
            cents=hourly_wage(settings.crowd.price_cents[stage], times),
            median_seconds=None if median is None else median / 1000,
            warning=wage_problem(stage, times, settings),
        )
    return earned
