"""What the marketplace tells us by itself: at least once, in any order, without names.

Nothing is believed but that it is worth a look: who submitted what comes from asking back.
"""

from collections.abc import Sequence
from datetime import datetime

import msgspec
from django.db import transaction
from django.db.models.functions import Now

from annotation import models
from annotation.actions.leases import sittings_lapse
from annotation.models import HitStatus, SittingKind
from config.waking import wake

ACCEPTED = "AssignmentAccepted"
GIVEN_BACK = ("AssignmentReturned", "AssignmentAbandoned")
# These change what we would find if we asked.
WORTH_A_LOOK = (
    *("AssignmentSubmitted", "AssignmentApproved", "AssignmentRejected"),
    *("HITReviewable", "HITExpired", "HITDisposed"),
)


class PlatformEvent(msgspec.Struct, frozen=True):
    """One event of a notification."""

    type: str
    hit_id: str
    assignment_id: str
    at: datetime


def events_take(*, events: Sequence[PlatformEvent]) -> None:
    """Act on events: HITs get a look, and what was given back goes to others at once."""
    look = {event.hit_id for event in events if event.type in WORTH_A_LOOK}
    with transaction.atomic():
        if look:
            # Not those that are due already: many notifications about one HIT are one look.
            later = models.Hit.objects.filter(hit_id__in=look, look_at__gt=Now())
            if later.exclude(status=HitStatus.CLOSED).update(look_at=Now()):
                wake("crowd_look")
        for event in events:
            if event.type == ACCEPTED or event.type in GIVEN_BACK:
                _place_note(event)


def _place_note(event: PlatformEvent) -> None:
    """Note when a HIT's place was taken or given back: the latest of each tells how it is."""
    hit = (
        models.Hit.objects.select_for_update()
        .filter(hit_id=event.hit_id, kind=SittingKind.WORK)
        .first()
    )
    if hit is None:
        return
    if event.type == ACCEPTED:
        hit.accepted_at = max(event.at, hit.accepted_at or event.at)
    else:
        hit.given_back_at = max(event.at, hit.given_back_at or event.at)
    hit.is_free = hit.accepted_at is None or (
        hit.given_back_at is not None and hit.given_back_at >= hit.accepted_at
    )
    hit.save(update_fields=["accepted_at", "given_back_at", "is_free"])
    if event.type in GIVEN_BACK:
        # Times are whole seconds: who opened a sitting within this one may be the next worker.
        # If not, its questions come back when its time is up.
        sittings_lapse(
            sittings=models.Sitting.objects.filter(
                assignment_id=event.assignment_id,
                hit_id=event.hit_id,
                kind=SittingKind.WORK,
                opened_at__lt=event.at,
            )
        )
        wake("crowd_supply")
