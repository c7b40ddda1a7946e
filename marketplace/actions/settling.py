"""Bringing one HIT up to date before a requester looks at it or changes it."""

from marketplace.actions.assignments import assignment_settle
from marketplace.clock import database_now
from marketplace.models import HIT, Assignment


def hit_settle(*, hit: HIT) -> None:
    """Abandon and approve what is due at this HIT, as the sweeper would a little later."""
    due = Assignment.objects.filter(hit=hit, due_at__lte=database_now()).order_by("due_at")
    for assignment in due:
        assignment_settle(assignment=assignment)
