"""Campaigns whose HITs are supplied, and what the marketplace and workers do with them."""

from pathlib import Path
from typing import Any

import msgspec

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.crowd.supply import hits_plan
from annotation.actions.crowd.workers import worker_ensure
from annotation.models import (
    AssignmentStatus,
    CallStatus,
    HitStatus,
    Operation,
    PaymentKind,
    SittingKind,
    SupplyStatus,
)
from annotation.pipeline.protocol.questions import Stage
from common.clock import database_now
from tests.web.campaigns import small_campaign

RICH = 1_000_000
# What an image of a small campaign asks at first: about the men, and about the horse.
BEGINNING = (Stage.LINKS, Stage.REQUIREMENT)


def supplied(
    folder: Path, images: int, status: SupplyStatus = SupplyStatus.RUNNING, **crowd: Any
) -> models.Campaign:
    """Make a launched campaign without checking what a launch needs."""
    campaign = small_campaign(folder, [f"image-{number}" for number in range(images)])
    crowd_change(campaign, **({"budget_cents": RICH, "daily_budget_cents": RICH} | crowd))
    models.StageSupply.objects.bulk_create(
        [models.StageSupply(campaign=campaign, stage=stage.value, status=status) for stage in Stage]
    )
    return fresh(campaign)


def fresh(campaign: models.Campaign) -> models.Campaign:
    return models.Campaign.objects.select_related("current_settings").get(pk=campaign.pk)


def crowd_change(campaign: models.Campaign, **crowd: Any) -> None:
    """Give the campaign other settings of its crowd."""
    version = fresh(campaign).current_settings
    assert version is not None
    values = msgspec.to_builtins(version.settings.crowd)
    campaign_settings_change(campaign=campaign, crowd=values | crowd)


def work_hits(campaign: models.Campaign, *status: HitStatus) -> list[models.Hit]:
    rows = models.Hit.objects.filter(campaign=campaign, kind=SittingKind.WORK)
    if status:
        rows = rows.filter(status__in=status)
    return list(rows.order_by("pk"))


def published(campaign: models.Campaign) -> list[models.Hit]:
    """Plan, and let the marketplace confirm the HITs to be created."""
    hits_plan(campaign=campaign)
    for hit in work_hits(campaign, HitStatus.CREATING):
        confirm(hit)
    return work_hits(campaign, HitStatus.OPEN)


def confirm(hit: models.Hit) -> None:
    models.OutboxCall.objects.filter(hit=hit, operation=Operation.CREATE_HIT).update(
        status=CallStatus.DONE, next_try_at=None, attempts=1
    )
    hit.hit_id = f"H{hit.pk}"
    if hit.status == HitStatus.CREATING:
        hit.status = HitStatus.OPEN
    hit.save()


def accept(hit: models.Hit) -> None:
    hit.is_free = False
    hit.accepted_at = database_now()
    hit.save()


def submit(hit: models.Hit, worker: str = "A1") -> models.Assignment:
    hit.is_free = False
    hit.save()
    return models.Assignment.objects.create(
        hit=hit,
        assignment_id=f"of-{hit.pk}-{worker}",
        worker=worker_ensure(name=worker),
        submitted_at=database_now(),
    )


def pay(assignment: models.Assignment) -> None:
    """Record that the marketplace has paid: held money becomes paid. In a transaction."""
    hit = models.Hit.objects.select_for_update().select_related("terms").get(pk=assignment.hit_id)
    terms = hit.terms
    models.Payment.objects.create(
        campaign_id=hit.campaign_id,
        stage=hit.stage,
        kind=PaymentKind.REWARD,
        assignment=assignment,
        key=f"reward/{assignment.pk}",
        cents=terms.reward_cents,
        fee_cents=terms.cost_cents - terms.reward_cents,
    )
    models.Assignment.objects.filter(pk=assignment.pk).update(status=AssignmentStatus.APPROVED)
    hit.held_cents -= terms.cost_cents
    if hit.places == 1:
        close(hit)
    else:
        hit.save()


def close(hit: models.Hit) -> None:
    hit.status, hit.is_free, hit.held_cents = HitStatus.CLOSED, False, 0
    hit.closed_at = database_now()
    hit.save()


def calls(campaign: models.Campaign, operation: Operation, status: CallStatus) -> int:
    return models.OutboxCall.objects.filter(
        campaign=campaign, operation=operation, status=status
    ).count()
