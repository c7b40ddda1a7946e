"""Actions that are due. Any process may run them at any time, so no single one has to be up."""

import logging
from datetime import timedelta

from django.db import DatabaseError, transaction

from common.clock import database_now
from marketplace.actions.assignments import assignment_settle
from marketplace.actions.hits import hit_dispose, hit_lock, hit_refresh
from marketplace.models import HIT, Assignment
from marketplace.rules.errors import RequestError
from marketplace.rules.lifecycle import HITStatus

# HITs that nobody touches are disposed of after this time, as on MTurk.
KEPT_DAYS = 120
# An assignment that could not be settled is tried again after this time, so it holds up no other.
TRIED_AGAIN_AFTER = timedelta(hours=1)

log = logging.getLogger(__name__)


def sweep(*, most: int = 200) -> int:
    """Expire HITs, abandon and auto-approve assignments that are due; return how many.

    Every API call begins with this, so a failure is logged and must not stop the others.
    """
    now = database_now()
    done = 0
    for assignment in Assignment.objects.filter(due_at__lte=now).order_by("due_at")[:most]:
        try:
            done += assignment_settle(assignment=assignment)
        except (RequestError, DatabaseError):
            log.exception("Assignment %s could not be settled", assignment.assignment_id)
            Assignment.objects.filter(pk=assignment.pk).update(due_at=now + TRIED_AGAIN_AFTER)
    expired = HIT.objects.filter(status=HITStatus.ASSIGNABLE, expires_at__lte=now)
    for hit_id in expired.values_list("pk", flat=True)[:most]:
        try:
            with transaction.atomic():
                hit_refresh(hit=hit_lock(hit_id=hit_id), now=database_now())
            done += 1
        except (RequestError, DatabaseError):
            log.exception("HIT %s could not be expired", hit_id)
    return done


def old_hits_dispose(*, most: int = 200) -> int:
    """Dispose of finished HITs that nobody has touched for 120 days."""
    before = database_now() - timedelta(days=KEPT_DAYS)
    old = HIT.objects.filter(
        status__in=[HITStatus.REVIEWABLE, HITStatus.REVIEWING], expires_at__lte=before
    )
    done = 0
    for hit in old[:most]:
        try:
            hit_dispose(hit=hit)
            done += 1
        except RequestError:
            continue  # one of its assignments still waits for a decision
    return done
