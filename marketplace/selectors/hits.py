"""HITs as they are at this moment, whether or not the sweep has run."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, TextField
from django.db.models.functions import Cast

from marketplace.models import HIT, Assignment, Requester
from marketplace.rules.lifecycle import COMPLETED, AssignmentStatus, HITStatus, Places, hit_status


def places_by_hit(hits: Iterable[HIT], now: datetime) -> dict[int, Places]:
    """Count the assignments of several HITs in one statement.

    A worker whose time has run out no longer has a place, even before the sweep records it.
    """
    maximum = {hit.pk: hit.max_assignments for hit in hits}
    counted = {
        row["hit_id"]: Places(
            maximum=maximum[row["hit_id"]],
            accepted=row["accepted"],
            submitted=row["submitted"],
            completed=row["completed"],
        )
        for row in Assignment.objects.filter(hit__in=list(maximum))
        .values("hit_id")
        .annotate(
            accepted=Count("pk", filter=Q(status=AssignmentStatus.ACCEPTED, deadline__gt=now)),
            submitted=Count("pk", filter=Q(status=AssignmentStatus.SUBMITTED)),
            completed=Count("pk", filter=Q(status__in=COMPLETED)),
        )
        .order_by()
    }
    return {
        hit: counted.get(hit) or Places(maximum=most, accepted=0, submitted=0, completed=0)
        for hit, most in maximum.items()
    }


def status_now(hit: HIT, places: Places, now: datetime) -> HITStatus:
    """Return a HIT's status by the clock."""
    return hit_status(
        places,
        expired=hit.expires_at <= now,
        reviewing=hit.reviewing,
        disposed=hit.disposed_at is not None,
    )


def hits_of(requester: Requester) -> QuerySet[HIT]:
    """Return the requester's HITs that have not been disposed of, with their types."""
    return HIT.objects.filter(requester=requester, disposed_at=None).select_related("hit_type")


def reviewable_hits(requester: Requester, now: datetime) -> QuerySet[HIT]:
    """Return the HITs that are Reviewable now.

    These are the HITs marked so, and those that have expired since with nobody at work.
    """
    at_work = Assignment.objects.filter(
        hit=OuterRef("pk"), status=AssignmentStatus.ACCEPTED, deadline__gt=now
    )
    return hits_of(requester).filter(
        Q(status=HITStatus.REVIEWABLE)
        | Q(
            ~Exists(at_work),
            status__in=[HITStatus.ASSIGNABLE, HITStatus.UNASSIGNABLE],
            expires_at__lte=now,
        )
    )


def reviewing_hits(requester: Requester) -> QuerySet[HIT]:
    return hits_of(requester).filter(status=HITStatus.REVIEWING)


def hits_requiring(requester: Requester, qualification_type_id: str) -> QuerySet[HIT]:
    """Return the requester's HITs with a requirement on a qualification type."""
    # Ids consist of capitals and digits, so a quoted id in the list's text can only be that id.
    return (
        hits_of(requester)
        .annotate(required=Cast("hit_type__requirements", TextField()))
        .filter(required__contains=f'"{qualification_type_id}"')
    )
