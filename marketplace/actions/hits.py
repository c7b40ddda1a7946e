"""HIT types and HITs: create, extend, expire, review, dispose."""

import hashlib
import json
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Q

from common.clock import database_now
from marketplace.actions.ledger import hold_adjust
from marketplace.actions.notices.events import event_record
from marketplace.models import HIT, HITType, Requester
from marketplace.rules.errors import RequestError, invalid_hit_state
from marketplace.rules.lifecycle import (
    COMPLETED,
    HELD,
    AssignmentStatus,
    HITStatus,
    Places,
    hit_status,
)
from marketplace.rules.money import fee

FEW_ASSIGNMENTS = 9


def hit_type_make(
    *,
    requester: Requester,
    title: str,
    description: str,
    keywords: str,
    reward_cents: int,
    assignment_duration: int,
    auto_approval_delay: int,
    requirements: list[dict[str, Any]],
) -> HITType:
    """Return the type with these properties; create it if there is none."""
    properties = {
        "title": title,
        "description": description,
        "keywords": keywords,
        "reward_cents": reward_cents,
        "assignment_duration": assignment_duration,
        "auto_approval_delay": auto_approval_delay,
        "requirements": requirements,
    }
    # The order of the requirements does not make a different type.
    alike = {**properties, "requirements": sorted(requirements, key=_as_text)}
    return HITType.objects.get_or_create(
        requester=requester,
        fingerprint=hashlib.sha256(_as_text(alike).encode()).hexdigest(),
        defaults=properties,
    )[0]


@transaction.atomic
def hit_create(
    *,
    hit_type: HITType,
    question: str,
    max_assignments: int,
    lifetime: int,
    annotation: str = "",
) -> HIT:
    """Publish a HIT and hold the money for it (RequestError InsufficientFunds)."""
    now = database_now()
    hit = HIT.objects.create(
        requester=hit_type.requester,
        hit_type=hit_type,
        question=question,
        max_assignments=max_assignments,
        first_max_assignments=max_assignments,
        annotation=annotation,
        expires_at=now + timedelta(seconds=lifetime),
        fee_cents=fee(hit_type.reward_cents, settings.MARKETPLACE_FEE_PERCENT),
        created_at=now,
    )
    hit_refresh(hit=hit, now=now)
    event_record(hit=hit, event_type="HITCreated", now=now)
    return hit


def hit_lock(*, hit_id: int) -> HIT:
    """Lock a HIT until the transaction ends."""
    # Lock the row first, then read it. A joined query would miss a HIT whose type changed while we
    # waited for the lock.
    HIT.objects.select_for_update().only("pk").get(pk=hit_id)
    return HIT.objects.select_related("hit_type", "requester").get(pk=hit_id)


def places_of(hit: HIT) -> Places:
    """Count a HIT's assignments in the groups that decide its status."""
    status = AssignmentStatus
    counted = hit.assignments.aggregate(
        accepted=Count("pk", filter=Q(status=status.ACCEPTED)),
        submitted=Count("pk", filter=Q(status=status.SUBMITTED)),
        completed=Count("pk", filter=Q(status__in=COMPLETED)),
    )
    return Places(maximum=hit.max_assignments, **counted)


def hit_refresh(*, hit: HIT, now: datetime) -> Places:
    """Update a locked HIT's status and held money from the clock and its assignments."""
    places = places_of(hit)
    expired = hit.expires_at <= now
    before, was_reviewing = hit.status, hit.reviewing
    hit.status = hit_status(
        places,
        expired=expired,
        reviewing=hit.reviewing,
        disposed=hit.disposed_at is not None,
    ).value
    if hit.status in (HITStatus.ASSIGNABLE, HITStatus.UNASSIGNABLE):
        hit.reviewing = False
    # Most calls change neither, and a needless write leaves a dead row to clean up.
    if (hit.status, hit.reviewing) != (before, was_reviewing):
        hit.save(update_fields=["status", "reviewing"])
    open_places = places.accepted + places.submitted
    if not expired and hit.disposed_at is None:
        open_places += places.free
    hold_adjust(hit=hit, cents=open_places * (hit.hit_type.reward_cents + hit.fee_cents))
    if before == HITStatus.ASSIGNABLE and expired:
        event_record(hit=hit, event_type="HITExpired", now=now)
    if hit.status == HITStatus.REVIEWABLE and before in (
        HITStatus.ASSIGNABLE,
        HITStatus.UNASSIGNABLE,
    ):
        event_record(hit=hit, event_type="HITReviewable", now=now)
    return places


@transaction.atomic
def hit_extend(*, hit: HIT, more: int) -> None:
    """Add assignments; a HIT made with fewer than ten never grows to ten."""
    hit = hit_lock(hit_id=hit.pk)
    if hit.disposed_at is not None:
        raise invalid_hit_state(hit.status, "Assignable", "Unassignable", "Reviewable")
    total = hit.max_assignments + more
    if hit.first_max_assignments <= FEW_ASSIGNMENTS < total:
        raise RequestError(
            "InvalidMaximumAssignmentsIncrease",
            f"HIT {hit.hit_id} was made with {hit.first_max_assignments} assignments; "
            "HITs made with fewer than 10 cannot have 10 or more.",
        )
    hit.max_assignments = total
    hit.save(update_fields=["max_assignments"])
    now = database_now()
    hit_refresh(hit=hit, now=now)
    event_record(hit=hit, event_type="HITExtended", now=now)


@transaction.atomic
def hit_expire_at(*, hit: HIT, when: datetime) -> None:
    """Move a HIT's expiry; a time in the past means now."""
    hit = hit_lock(hit_id=hit.pk)
    if hit.disposed_at is not None:
        raise invalid_hit_state(hit.status, "Assignable", "Unassignable", "Reviewable")
    now = database_now()
    hit.expires_at = max(when, now)
    hit.save(update_fields=["expires_at"])
    hit_refresh(hit=hit, now=now)


@transaction.atomic
def hit_review(*, hit: HIT, revert: bool) -> None:
    """Mark a Reviewable HIT as Reviewing, or undo that."""
    hit = hit_lock(hit_id=hit.pk)
    wanted = HITStatus.REVIEWING if revert else HITStatus.REVIEWABLE
    if hit.status != wanted:
        raise invalid_hit_state(hit.status, wanted.value)
    hit.reviewing = not revert
    hit.save(update_fields=["reviewing"])
    hit_refresh(hit=hit, now=database_now())


@transaction.atomic
def hit_retype(*, hit: HIT, hit_type: HITType) -> None:
    """Change the type of a HIT that nobody has accepted; the held money follows the new reward."""
    hit = hit_lock(hit_id=hit.pk)
    if hit.disposed_at is not None or hit.assignments.filter(status__in=HELD).exists():
        raise invalid_hit_state(hit.status, "Assignable", "Unassignable", "Reviewable")
    hit.hit_type = hit_type
    hit.fee_cents = fee(hit_type.reward_cents, settings.MARKETPLACE_FEE_PERCENT)
    hit.save(update_fields=["hit_type", "fee_cents"])
    hit_refresh(hit=hit, now=database_now())


@transaction.atomic
def hit_dispose(*, hit: HIT) -> None:
    """Delete a HIT whose assignments are all approved or rejected and that nobody can take."""
    hit = hit_lock(hit_id=hit.pk)
    now = database_now()
    places = hit_refresh(hit=hit, now=now)
    if hit.status not in (HITStatus.REVIEWABLE, HITStatus.REVIEWING) or places.submitted:
        raise invalid_hit_state(hit.status, "Reviewing", "Reviewable")
    hit.disposed_at = now
    hit.save(update_fields=["disposed_at"])
    hit_refresh(hit=hit, now=now)
    event_record(hit=hit, event_type="HITDisposed", now=now)


def _as_text(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
