"""Supply: publishing as many HITs as open questions justify, and taking back surplus ones.

Only rows are written here: HITs, and the calls in the outbox that publish and take them back.
"""

import shlex
from collections.abc import Collection, Sequence

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.crowd.hits import hit_planned, hits_publish, hits_take_back
from annotation.actions.crowd.terms import TermsByTask, terms_now
from annotation.models import HitStatus, SittingKind, SupplyStatus
from annotation.pipeline.crowd.money import campaign_fees, hit_cost
from annotation.pipeline.crowd.supply import Change, Demand, plan_supply, plan_tests
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.selectors.crowd.money import campaign_spent
from annotation.selectors.crowd.supply import (
    WaitingHit,
    cents_coming_back,
    demand_ceiling,
    hits_waiting,
    questions_waiting,
)
from common.clock import database_now


class SupplyError(ValueError):
    """The supply cannot be changed like this."""


class _Plan(msgspec.Struct):
    """The input and the result of one round of planning."""

    campaign: models.Campaign
    settings: Settings
    status: dict[Stage, SupplyStatus]
    terms: TermsByTask
    publish: list[models.Hit] = []
    take_back: list[WaitingHit] = []


@transaction.atomic
def supply_set(
    *, campaign: models.Campaign, status: SupplyStatus, stages: Collection[Stage] = tuple(Stage)
) -> dict[Stage, Change]:
    """Let stages run, pause or drain, and return what that changed at once.

    Workers can always finish what they have accepted.
    """
    rows = _lock(campaign)
    wanted = [row for row in rows if Stage(row.stage) in stages]
    if not wanted:
        raise SupplyError(
            f"campaign {campaign.name!r} is not launched; launch it with "
            f"`manage.py campaign_launch --campaign {shlex.quote(campaign.name)}`"
        )
    now = database_now()
    models.StageSupply.objects.filter(
        pk__in=[row.pk for row in wanted if row.status != status]
    ).update(status=status, changed_at=now)
    return hits_plan(campaign=campaign)


@transaction.atomic
def hits_plan(*, campaign: models.Campaign) -> dict[Stage, Change]:
    """Publish and take back HITs of a launched campaign until supply is what it should be.

    A lock makes planners of a campaign take turns. The money promised is read under it and grows
    only here (and by bonuses, which people decide on), so the budgets hold. The number of
    statements does not grow with the corpus.
    """
    status = {Stage(row.stage): SupplyStatus(row.status) for row in _lock(campaign)}
    if not status:
        return {}
    # Read under the lock, so that settings changed while we waited count.
    campaign = models.Campaign.objects.select_related("current_settings").get(pk=campaign.pk)
    settings = campaign.settings
    plan = _Plan(campaign, settings, status, terms_now(campaign=campaign, settings=settings))
    now = database_now()
    waiting = hits_waiting(campaign, now)
    left = campaign_spent(campaign).left(settings)

    plan.take_back = [hit for hit in waiting if _is_outdated(hit, plan)]
    waiting = [hit for hit in waiting if not _is_outdated(hit, plan)]
    if left < 0:
        # Count the money of HITs already being taken back, so that no more than needed are. It
        # never allows new HITs.
        left = min(0, left + cents_coming_back(campaign) + _cents(plan.take_back))
    left = _plan_tests(plan, [hit for hit in waiting if hit.kind == SittingKind.TEST], left)
    changes = _plan_work(plan, [hit for hit in waiting if hit.kind == SittingKind.WORK], left)
    hits_publish(campaign=campaign, hits=plan.publish)
    hits_take_back(campaign=campaign, hits=plan.take_back, now=now)
    return changes


def _lock(campaign: models.Campaign) -> list[models.StageSupply]:
    return list(
        models.StageSupply.objects.filter(campaign=campaign).order_by("pk").select_for_update()
    )


def _is_outdated(hit: WaitingHit, plan: _Plan) -> bool:
    """Tell whether a HIT has outdated terms, so that another should replace it."""
    if plan.status.get(hit.stage) is SupplyStatus.DRAINING:
        return False
    current = plan.terms.get((hit.stage, hit.kind))
    return current is None or hit.terms != current.pk


def _plan_tests(plan: _Plan, waiting: Sequence[WaitingHit], left: int) -> int:
    """Plan the tests' HITs, as many per stage as a worker may try; return the money left."""
    for hit in reversed(waiting):
        # Where a budget was cut, tests go before work does, the newest first.
        is_too_dear = left < 0 and hit.held_cents > 0
        if is_too_dear or plan.status.get(hit.stage) is SupplyStatus.PAUSED:
            plan.take_back.append(hit)
            left = min(0, left + _cents([hit])) if left < 0 else left
    if left < 0:
        return left
    tries = plan.settings.crowd.test_tries
    missing = {
        stage: tries - sum(hit.stage is stage for hit in waiting)
        for stage in Stage
        if plan.status.get(stage) is SupplyStatus.RUNNING
        and (stage, SittingKind.TEST) in plan.terms
    }
    # One of each stage before a second of any, in case the money is not enough for all.
    stages = [stage for turn in range(tries) for stage in missing if turn < missing[stage]]
    cost = hit_cost(plan.settings.crowd.test_price_cents, campaign_fees(plan.settings))
    for stage, places in zip(stages, plan_tests(len(stages), left, cost), strict=False):
        test = plan.terms[stage, SittingKind.TEST]
        plan.publish.append(hit_planned(terms=test, places=places))
        left -= places * cost
    return left


def _plan_work(plan: _Plan, waiting: Sequence[WaitingHit], left: int) -> dict[Stage, Change]:
    """Plan the HITs with work, and return what changes at each stage."""
    hits = {stage: [hit for hit in waiting if hit.stage is stage] for stage in plan.status}
    demands = {
        stage: Demand(
            questions=questions_waiting(plan.campaign, stage, demand_ceiling(stage, plan.settings)),
            waiting=len(hits[stage]),
            paused=status is SupplyStatus.PAUSED,
            draining=status is SupplyStatus.DRAINING,
        )
        for stage, status in plan.status.items()
    }
    changes = plan_supply(demands, left, plan.settings)
    for stage, change in changes.items():
        terms = plan.terms[stage, SittingKind.WORK]
        plan.publish += [hit_planned(terms=terms, places=1) for _ in range(change.publish)]
        # The newest first, but HITs that the marketplace has not confirmed last.
        hits[stage].sort(key=lambda hit: (hit.status == HitStatus.CREATING, -hit.pk))
        plan.take_back += hits[stage][: change.take_back]
    return changes


def _cents(hits: Sequence[WaitingHit]) -> int:
    return sum(hit.held_cents for hit in hits)
