"""Rejecting an assignment that is not paid yet, for a reason that the worker reads."""

from django.db import transaction

from annotation import models
from annotation.actions.crowd.hits import hit_lock
from annotation.actions.crowd.outbox import call_queue
from annotation.models import AssignmentStatus, CallStatus, Operation


class RejectionRefusedError(ValueError):
    """It is too late to reject the assignment, or no reason is given."""


@transaction.atomic
def assignment_reject(*, assignment: models.Assignment, reason: str) -> None:
    """Have the marketplace reject an assignment instead of paying it.

    Its judgments stay: whether they count is a matter of trust, not of money.
    """
    if not reason.strip():
        raise RejectionRefusedError("a rejection needs a reason; the worker reads it")
    # Locked in the same order as when the marketplace has answered.
    approvals = list(
        models.OutboxCall.objects.select_for_update().filter(
            assignment=assignment, operation=Operation.APPROVE
        )
    )
    hit = hit_lock(assignment.hit)
    assignment = models.Assignment.objects.select_for_update().get(pk=assignment.pk)
    if assignment.status != AssignmentStatus.SUBMITTED:
        raise RejectionRefusedError(f"it is already {assignment.status}")
    for call in approvals:
        # Once the call was tried, the marketplace may have paid without our knowing.
        if call.status == CallStatus.DONE or (call.status == CallStatus.WAITING and call.attempts):
            raise RejectionRefusedError("it is already being paid")
    models.OutboxCall.objects.filter(
        pk__in=[call.pk for call in approvals], status=CallStatus.WAITING
    ).update(status=CallStatus.DROPPED, next_try_at=None)
    call_queue(
        campaign=hit.campaign,
        operation=Operation.REJECT,
        key=f"reject/{assignment.pk}",
        assignment=assignment,
        stage=hit.stage,
        reason=reason.strip(),
    )
