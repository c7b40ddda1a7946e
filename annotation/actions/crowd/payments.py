"""Money: rewards paid or refused, and bonuses.

Everything here is noted once, however often we hear of it.
"""

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.crowd.hits import DECIDED, hit_decided, hit_lock
from annotation.actions.crowd.outbox import call_queue, messages_send
from annotation.models import AssignmentStatus, Operation, PaymentKind
from annotation.pipeline.crowd.money import bonus_cost, campaign_fees


class BonusError(ValueError):
    """The bonus cannot be paid; the message says why."""


@transaction.atomic
def reward_paid(*, assignment: models.Assignment) -> None:
    """Note that the marketplace has approved an assignment and paid its reward."""
    locked, hit = _lock(assignment)
    if locked.status == AssignmentStatus.APPROVED:
        return
    terms = hit.terms
    models.Payment.objects.create(
        campaign_id=hit.campaign_id,
        stage=hit.stage,
        kind=PaymentKind.REWARD,
        assignment=locked,
        key=f"reward/{locked.pk}",
        cents=terms.reward_cents,
        fee_cents=terms.cost_cents - terms.reward_cents,
    )
    # Nothing is held for an assignment that was rejected before.
    held = terms.cost_cents if locked.status == AssignmentStatus.SUBMITTED else 0
    _decide(locked, hit, AssignmentStatus.APPROVED, held)
    assignment.status = locked.status


@transaction.atomic
def reward_refused(*, assignment: models.Assignment, reason: str = "") -> None:
    """Note that the marketplace has rejected an assignment: nothing is paid for it."""
    locked, hit = _lock(assignment)
    if locked.status in DECIDED:
        return
    if reason and not locked.reason:
        locked.reason = reason
        locked.save(update_fields=["reason"])
    _decide(locked, hit, AssignmentStatus.REJECTED, hit.terms.cost_cents)
    assignment.status = locked.status


@transaction.atomic
def bonus_queue(*, assignment: models.Assignment, cents: int, reason: str, key: str) -> None:
    """Queue a bonus for an assignment; the same key pays once (BonusError)."""
    if cents < 1:
        raise BonusError(f"A bonus must be at least one cent, not {cents}.")
    if not reason.strip():
        raise BonusError("A bonus needs a reason; the worker reads it.")
    campaign = assignment.hit.campaign
    call_queue(
        campaign=campaign,
        operation=Operation.BONUS,
        key=f"bonus/{key}",
        assignment=assignment,
        stage=assignment.hit.stage,
        cents=bonus_cost(cents, campaign_fees(campaign.settings)),
        bonus_cents=cents,
        reason=reason.strip(),
    )


@transaction.atomic
def bonus_paid(*, call: models.OutboxCall) -> None:
    """Note that the marketplace has paid a bonus."""
    assert call.assignment is not None  # a bonus is always for one
    cents = msgspec.json.decode(call.details)["bonus_cents"]
    models.Payment.objects.get_or_create(
        key=f"bonus/{call.pk}",
        defaults={
            "campaign_id": call.campaign_id,
            "stage": call.stage,
            "kind": PaymentKind.BONUS,
            "assignment": call.assignment,
            "cents": cents,
            "fee_cents": call.cents - cents,
        },
    )


def _lock(assignment: models.Assignment) -> tuple[models.Assignment, models.Hit]:
    hit = hit_lock(assignment.hit)
    return models.Assignment.objects.select_for_update().get(pk=assignment.pk), hit


def _decide(
    assignment: models.Assignment, hit: models.Hit, status: AssignmentStatus, held: int
) -> None:
    """Set the status of a locked assignment, and close its locked HIT if that was the last."""
    assignment.status = status
    assignment.save(update_fields=["status"])
    messages_send(worker=assignment.worker_id)
    hit_decided(hit=hit, cents=held)
