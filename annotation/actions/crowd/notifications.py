"""Notifications from the marketplace: they come at least once, in any order, without names.

They are only hints to look: we then ask the marketplace who submitted what.
"""

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotation import models
from annotation.actions.crowd.hits import hits_lock, hits_look_now, places_note
from annotation.actions.work.leases import sittings_lapse
from annotation.models import HitStatus, SittingKind, SittingStatus
from common.waking import wake

# How long after the return of a place the news of its next worker may arrive.
NEWS_DELAY = timedelta(minutes=2)
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


@transaction.atomic
def events_take(*, events: Sequence[PlatformEvent]) -> None:
    """Act on events: look at HITs, and give returned questions to others at once.

    In a constant few statements. Old news changes nothing and is not written again.
    """
    look = {event.hit_id for event in events if event.type in WORTH_A_LOOK}
    taken = _latest(event for event in events if event.type == ACCEPTED)
    given_back = _latest(event for event in events if event.type in GIVEN_BACK)
    # Skip HITs that are already due: many notifications about one HIT cause only one look.
    later = Q(hit_id__in=look, look_at__gt=Now()) & ~Q(status=HitStatus.CLOSED)
    places = Q(hit_id__in=taken.keys() | given_back.keys(), kind=SittingKind.WORK)
    hits = hits_lock(later | places)
    if not hits:
        return
    # Only locked HITs: a HIT that was due may have been looked at since.
    if look:
        hits_look_now(hits=models.Hit.objects.filter(later, pk__in=[hit.pk for hit in hits]))
    changed = places_note(hits=hits, taken=taken, given_back=given_back)
    free = {hit.hit_id for hit in hits if hit.is_free and hit.places == 1}
    if _give_back([event for event in events if event.type in GIVEN_BACK], free) or changed:
        wake("crowd_supply")


def _latest(events: Iterable[PlatformEvent]) -> dict[str, datetime]:
    """Return the latest time of each HIT's events."""
    found: dict[str, datetime] = {}
    for event in events:
        found[event.hit_id] = max(event.at, found.get(event.hit_id, event.at))
    return found


def _give_back(events: Sequence[PlatformEvent], free: Collection[str | None]) -> int:
    """End the sittings of assignments that were given back; return how many there were.

    Two times are compared only if they come from the same clock: the marketplace's may be wrong,
    and news of a return may arrive after the next worker. `free` are the HITs whose one place
    nobody has taken since, as far as we know.
    """
    at: dict[tuple[str, str], datetime] = {}
    for event in events:
        place = (event.hit_id, event.assignment_id)
        at[place] = max(event.at, at.get(place, event.at))
    still_open = models.Sitting.objects.filter(
        hit_id__in={hit_id for hit_id, _ in at}, kind=SittingKind.WORK, status=SittingStatus.OPEN
    )
    # Times are whole seconds: somebody who accepted within this one may be the next worker. If not,
    # the questions come back when the sitting's time is up.
    over = [
        sitting.pk
        for sitting in still_open.annotate(now=Now())
        if (place := (sitting.hit_id, sitting.assignment_id)) in at
        and (
            sitting.accepted_at < at[place]
            if sitting.accepted_at
            else sitting.hit_id in free and sitting.opened_at < sitting.now - NEWS_DELAY
        )
    ]
    return sittings_lapse(sittings=models.Sitting.objects.filter(pk__in=over)) if over else 0
