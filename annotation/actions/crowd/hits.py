"""The life of a HIT. Every change of its status, dates and places is made here.

| status   | meaning                                       | next, and what brings it there     |
|----------|-----------------------------------------------|------------------------------------|
| creating | queued by `hits_publish`, not confirmed yet   | open: `hit_published`              |
|          |                                               | closing: `hits_take_back`, if sent |
|          |                                               | closed: `hits_take_back`, if not   |
| open     | on the marketplace; workers can accept it     | closing: `hits_take_back`          |
|          |                                               | closing: `hit_places_seen`, if     |
|          |                                               | its time is up                     |
|          |                                               | closed: `hit_decided`, `hit_close` |
| closing  | nobody can begin; somebody may still be at it | closing: `hit_expired` confirms it |
|          |                                               | closed: `hit_decided`, `hit_close` |
|          |                                               | closed: `hit_cancel`, if it never  |
|          |                                               | got to the marketplace             |
| closed   | nothing more will be paid for it              |                                    |

A HIT that is taken back while its call is on its way stays closing when it is published. Until it
is closed, `look_at` is when to ask the marketplace about it next: `hits_claim` takes the HITs that
are due, `hit_look_again` and `hits_give_back` return them, `hit_look_soon` and `hits_look_now`
bring a look forward. `places_note` and `hit_places_seen` keep track of whether it `is_free`.
Everything is noted once, however often we hear of it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from annotation import models
from annotation.actions.crowd.outbox import (
    call_cancel,
    creations_cancel,
    hit_calls_queue,
)
from annotation.actions.work.leases import sittings_lapse
from annotation.models import AssignmentStatus, HitStatus, Operation, SittingKind
from annotation.selectors.crowd.hits import LOOK_EVERY, LOOK_SOON
from annotation.selectors.crowd.supply import LIVE, WaitingHit
from common.clock import database_now
from common.waking import wake

# A claim to look at a HIT lasts this long; then others may look.
CLAIM = timedelta(seconds=45)
DECIDED = (AssignmentStatus.APPROVED, AssignmentStatus.REJECTED)


def hit_lock(hit: models.Hit) -> models.Hit:
    """Lock a HIT until the transaction ends; its assignments are locked after it."""
    return models.Hit.objects.select_for_update(of=("self",)).select_related("terms").get(pk=hit.pk)


def hits_lock(wanted: Q) -> list[models.Hit]:
    """Lock HITs, all at once and in one order, so that no two transactions wait in a circle."""
    return list(models.Hit.objects.filter(wanted).order_by("pk").select_for_update())


# Publishing, and taking back


def hit_planned(*, terms: models.HitTerms, places: int) -> models.Hit:
    """Return a new HIT with these terms, not saved yet."""
    return models.Hit(
        campaign_id=terms.campaign_id,
        stage=terms.stage,
        kind=terms.kind,
        terms=terms,
        places=places,
        held_cents=terms.cost_cents * places,
    )


def hits_publish(*, campaign: models.Campaign, hits: Sequence[models.Hit]) -> None:
    """Save new HITs, and queue the calls that publish them."""
    if not hits:
        return
    models.Hit.objects.bulk_create(hits)
    hit_calls_queue(campaign=campaign, operation=Operation.CREATE_HIT, hits=hits)


def hits_take_back(*, campaign: models.Campaign, hits: Sequence[WaitingHit], now: datetime) -> None:
    """Take back HITs that nobody has, and tests with places left. Workers keep their places."""
    if not hits:
        return
    # Skip a HIT that another transaction is changing now, for example because a worker accepts it:
    # that transaction may be waiting for a row of ours. The next round takes it.
    rows = list(
        models.Hit.objects.filter(
            pk__in=[hit.pk for hit in hits], status__in=LIVE, is_free=True
        ).select_for_update(skip_locked=True)
    )
    # A HIT that we never sent to the marketplace need not be taken back there.
    unsent = creations_cancel(hits=[row for row in rows if row.status == HitStatus.CREATING])
    models.Hit.objects.filter(pk__in=unsent).update(
        status=HitStatus.CLOSED, is_free=False, held_cents=0, look_at=None, closed_at=now
    )
    sent = [row for row in rows if row.pk not in unsent]
    models.Hit.objects.filter(pk__in=[row.pk for row in sent]).update(status=HitStatus.CLOSING)
    hit_calls_queue(campaign=campaign, operation=Operation.EXPIRE_HIT, hits=sent)


@transaction.atomic
def hit_cancel(*, hit: models.Hit) -> str | None:
    """Close a HIT that was never published, and drop the call that would publish it.

    If it was published meanwhile, return its name on the marketplace and change nothing. Raises
    CallUnderWayError while the marketplace is being asked to publish it.
    """
    create = (
        models.OutboxCall.objects.select_for_update()
        .filter(hit=hit, operation=Operation.CREATE_HIT)
        .first()
    )
    fresh = models.Hit.objects.get(pk=hit.pk)
    if fresh.hit_id is not None:
        return fresh.hit_id
    if create is not None:
        call_cancel(call=create)
    hit_close(hit=fresh)
    return None


# What the marketplace has done


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
    """Note that nobody can begin a HIT any more; workers who have begun can finish."""
    locked = hit_lock(hit)
    if locked.status == HitStatus.CLOSED:
        return
    locked.status = HitStatus.CLOSING
    locked.is_free = False
    # Ask at once: only the marketplace knows if the HIT is over, and so how much to hold for it.
    locked.look_at = database_now()
    locked.save(update_fields=["status", "is_free", "look_at"])


@transaction.atomic
def hit_places_seen(*, hit: models.Hit, available: int, pending: int, expires_at: datetime) -> None:
    """Note how the marketplace counts a HIT's places, and hold no more than can be paid."""
    locked = hit_lock(hit)
    if locked.status == HitStatus.CLOSED:
        return
    if locked.status == HitStatus.OPEN and expires_at <= database_now():
        locked.status = HitStatus.CLOSING
    undecided = locked.assignments.filter(status=AssignmentStatus.SUBMITTED).count()
    locked.is_free = available > 0 and locked.status == HitStatus.OPEN
    if locked.status == HitStatus.CLOSING:
        # Only reduce it: work submitted since we asked is in neither number.
        still = (available + pending + undecided) * locked.terms.cost_cents
        locked.held_cents = min(locked.held_cents, still)
    locked.save(update_fields=["status", "is_free", "held_cents"])


def places_note(
    *,
    hits: Sequence[models.Hit],
    taken: Mapping[str, datetime],
    given_back: Mapping[str, datetime],
) -> list[models.Hit]:
    """Note when the places of locked HITs were last taken and given back, by the HITs' names.

    Returns the HITs for which that is news.
    """
    changed = [hit for hit in hits if _place_note(hit, taken, given_back)]
    if changed:
        models.Hit.objects.bulk_update(changed, ["accepted_at", "given_back_at", "is_free"])
    return changed


def _place_note(
    hit: models.Hit, taken: Mapping[str, datetime], given_back: Mapping[str, datetime]
) -> bool:
    if hit.kind != SittingKind.WORK:
        return False
    before = (hit.accepted_at, hit.given_back_at)
    hit.accepted_at = _later(hit.accepted_at, taken.get(hit.hit_id or ""))
    hit.given_back_at = _later(hit.given_back_at, given_back.get(hit.hit_id or ""))
    if before == (hit.accepted_at, hit.given_back_at):
        return False
    hit.is_free = hit.accepted_at is None or (
        hit.given_back_at is not None and hit.given_back_at >= hit.accepted_at
    )
    return True


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other


# The end


def hit_decided(*, hit: models.Hit, cents: int) -> None:
    """Hold this much less for a locked HIT, and close it if its last assignment was decided on."""
    hit.held_cents = max(0, hit.held_cents - cents)
    decided = hit.assignments.filter(status__in=DECIDED).count()
    if decided >= hit.places:
        _close(hit)
    else:
        hit.save(update_fields=["held_cents"])


@transaction.atomic
def hit_close(*, hit: models.Hit) -> None:
    """Note that nothing more will be paid for a HIT."""
    _close(hit_lock(hit))


def _close(hit: models.Hit) -> None:
    if hit.status != HitStatus.CLOSED:
        hit.status = HitStatus.CLOSED
        hit.closed_at = database_now()
    hit.is_free, hit.held_cents, hit.look_at = False, 0, None
    hit.save(update_fields=["status", "closed_at", "is_free", "held_cents", "look_at"])
    # If a worker gave it back within the second they began, we still counted them as working.
    sittings_lapse(sittings=models.Sitting.objects.filter(hit_id=hit.hit_id))
    # The money that was held for it can be promised again.
    wake("crowd_supply")


# When to ask the marketplace about it


@transaction.atomic
def hits_claim(*, most: int) -> list[models.Hit]:
    """Take HITs that are due, the longest due first, and keep others from them for a while."""
    now = database_now()
    due = list(
        models.Hit.objects.select_for_update(skip_locked=True)
        .filter(look_at__lte=now, hit_id__isnull=False)
        .order_by("look_at", "pk")
        .values_list("pk", flat=True)[:most]
    )
    if not due:
        return []
    models.Hit.objects.filter(pk__in=due).update(look_at=now + CLAIM)
    return list(
        models.Hit.objects.filter(pk__in=due)
        .select_related("campaign__current_settings", "terms")
        .order_by("pk")
    )


def hits_give_back(*, hits: Sequence[models.Hit]) -> None:
    """Let others look at HITs that were claimed and not looked at."""
    for hit in hits:
        hit_look_again(hit=hit, after=timedelta())


def hit_look_again(*, hit: models.Hit, after: timedelta) -> None:
    """Ask about a HIT again at that time, unless we have news of it since it was claimed."""
    models.Hit.objects.filter(pk=hit.pk, look_at=hit.look_at).update(look_at=database_now() + after)


def hit_look_soon(*, hit_id: str) -> None:
    """Ask about a HIT soon: a worker has submitted it, even if no notification arrives."""
    soon = database_now() + LOOK_SOON
    models.Hit.objects.filter(hit_id=hit_id, look_at__gt=soon).update(look_at=soon)


def hits_look_now(*, hits: QuerySet[models.Hit]) -> None:
    """Ask about these HITs at once."""
    if hits.update(look_at=Now()):
        wake("crowd_look")
