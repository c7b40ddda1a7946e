"""Bring one HIT up to date before a requester reads or changes it."""

from django.db import transaction

from common.clock import database_now
from marketplace.actions.assignments import assignment_settle
from marketplace.actions.hits import hit_lock, hit_refresh
from marketplace.models import HIT, Assignment
from marketplace.rules.lifecycle import HITStatus


def hit_settle(*, hit: HIT) -> None:
    """Abandon, approve and expire whatever is due for this HIT, without waiting for the sweep."""
    now = database_now()
    due = Assignment.objects.filter(hit=hit, due_at__lte=now).order_by("due_at")
    for assignment in due:
        assignment_settle(assignment=assignment)
    if hit.status == HITStatus.ASSIGNABLE and hit.expires_at <= now:
        with transaction.atomic():
            hit_refresh(hit=hit_lock(hit_id=hit.pk), now=now)
