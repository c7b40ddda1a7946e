"""Doing what is due. Anybody may call it at any time; nothing depends on a process being up."""

from datetime import timedelta

from django.db import transaction

from marketplace.actions.assignments import assignment_settle
from marketplace.actions.hits import hit_dispose, hit_lock, hit_refresh
from marketplace.clock import database_now
from marketplace.models import HIT, Assignment
from marketplace.rules.errors import RequestError
from marketplace.rules.lifecycle import HITStatus

# HITs that nobody touches are disposed of after this time, as MTurk did.
KEPT_DAYS = 120


def sweep(*, most: int = 200) -> int:
    """Expire HITs, abandon and auto-approve assignments that are due; return how many."""
    now = database_now()
    done = 0
    for assignment in Assignment.objects.filter(due_at__lte=now).order_by("due_at")[:most]:
        done += assignment_settle(assignment=assignment)
    expired = HIT.objects.filter(status=HITStatus.ASSIGNABLE, expires_at__lte=now)
    for hit_id in expired.values_list("pk", flat=True)[:most]:
        with transaction.atomic():
            hit_refresh(hit=hit_lock(hit_id=hit_id), now=database_now())
        done += 1
    return done


def old_hits_dispose(*, most: int = 200) -> int:
    """Dispose of finished HITs that have been left alone for 120 days."""
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
            continue  # an assignment of it still waits for a decision
    return done
