"""What follows from what the marketplace has done: HITs published and closed, money paid.

Everything here is noted once, however often we hear of it.
"""

from datetime import datetime

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.crowd.outbox import call_queue, messages_send
from annotation.actions.work.leases import sittings_lapse
from annotation.models import AssignmentStatus, HitStatus, Operation, PaymentKind
from annotation.pipeline.crowd.money import bonus_cost, campaign_fees
from annotation.selectors.crowd.hits import LOOK_EVERY
from common.clock import database_now
from common.waking import wake

_DECIDED = (AssignmentStatus.APPROVED, AssignmentStatus.REJECTED)


class BonusError(ValueError):
    """The bonus cannot be paid; the message says why."""


@transaction.atomic
def hit_published(*, hit: models.Hit, hit_id: str, expires_at: datetime) -> None:
    """Note that the marketplace has a HIT of ours, and under which name."""
    locked = hit_lock(hit)
    if locked.hit_id is not None:
        return
    locked.hit_id = hit_id
    locked.expires_at = expires_at
    locked.look_at = database_now() + LOOK_EVERY
    if locked.status == HitStatus.CREATING:
        locked.status = HitStatus.OPEN
    locked.save(update_fields=["hit_id", "expires_at", "look_at", "status"])


@transaction.atomic
def hit_expired(*, hit: models.Hit) -> None:
    """Note that nobody can begin a HIT any more; whoever is at it can finish."""
    locked = hit_lock(hit)
    if locked.status == HitStatus.CLOSED:
        return
    locked.status = HitStatus.CLOSING
    locked.is_free = False
    # Soon: whether it is over, and what is still held for it, only the marketplace knows.
    locked.look_at = database_now()
    locked.save(update_fields=["status", "is_free", "look_at"])


@transaction.atomic
def hit_close(*, hit: models.Hit) -> None:
    """Note that nothing will be paid for a HIT any more."""
    _close(hit_lock(hit))


@transaction.atomic
def hit_places_seen(*, hit: models.Hit, available: int, pending: int, expires_at: datetime) -> None:
    """Note what the marketplace says of a HIT's places, and hold no more than can be paid."""
    locked = hit_lock(hit)
    if locked.status == HitStatus.CLOSED:
        return
    if locked.status == HitStatus.OPEN and expires_at <= database_now():
        locked.status = HitStatus.CLOSING
    undecided = locked.assignments.filter(status=AssignmentStatus.SUBMITTED).count()
    locked.is_free = available > 0 and locked.status == HitStatus.OPEN
    if locked.status == HitStatus.CLOSING:
        # Only ever less: what was submitted since we asked is in neither number.
        still = (available + pending + undecided) * locked.terms.cost_cents
        locked.held_cents = min(locked.held_cents, still)
    locked.save(update_fields=["status", "is_free", "held_cents"])


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
    # What was rejected before is held no longer.
    held = terms.cost_cents if locked.status == AssignmentStatus.SUBMITTED else 0
    _decide(locked, hit, AssignmentStatus.APPROVED, held)
    assignment.status = locked.status


@transaction.atomic
def reward_refused(*, assignment: models.Assignment, reason: str = "") -> None:
    """Note that the marketplace has rejected an assignment: nothing is paid for it."""
    locked, hit = _lock(assignment)
    if locked.status in _DECIDED:
        return
    if reason and not locked.reason:
        locked.reason = reason
        locked.save(update_fields=["reason"])
    _decide(locked, hit, AssignmentStatus.REJECTED, hit.terms.cost_cents)
    assignment.status = locked.status


@transaction.atomic
def bonus_queue(*, assignment: models.Assignment, cents: int, reason: str, key: str) -> None:
    """Pay a worker more for an assignment, soon; the same key pays once (BonusError)."""
    if cents < 1:
        raise BonusError(f"A bonus is at least a cent, not {cents}.")
    if not reason.strip():
        raise BonusError("A bonus needs a reason: the worker reads it.")
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


def hit_lock(hit: models.Hit) -> models.Hit:
    """Lock a HIT until the transaction ends; its assignments are locked after it."""
    return models.Hit.objects.select_for_update(of=("self",)).select_related("terms").get(pk=hit.pk)


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
    hit.held_cents = max(0, hit.held_cents - held)
    decided = hit.assignments.filter(status__in=_DECIDED).count()
    if decided >= hit.places:
        _close(hit)
    else:
        hit.save(update_fields=["held_cents"])


def _close(hit: models.Hit) -> None:
    if hit.status != HitStatus.CLOSED:
        hit.status = HitStatus.CLOSED
        hit.closed_at = database_now()
    hit.is_free, hit.held_cents, hit.look_at = False, 0, None
    hit.save(update_fields=["status", "closed_at", "is_free", "held_cents", "look_at"])
    # Who gave it back within the second they began was taken for still being at it.
    sittings_lapse(sittings=models.Sitting.objects.filter(hit_id=hit.hit_id))
    # What was held for it can be promised again.
    wake("crowd_supply")
