"""Rejecting an assignment that is not paid yet, for a reason that the worker is told."""

from django.db import transaction

from annotation import models
from annotation.actions.outbox import call_queue
from annotation.models import AssignmentStatus, CallStatus, Operation


class RejectionRefusedError(ValueError):
    """It is too late to reject the assignment, or there is no reason given."""


@transaction.atomic
def assignment_reject(*, assignment: models.Assignment, reason: str) -> None:
    """Have the marketplace reject an assignment instead of paying it.

    Its judgments stay: whether they count is a matter of trust, not of money.
    """
    if not reason.strip():
        raise RejectionRefusedError("a rejection needs a reason, which the worker is told")
    assignment = (
        models.Assignment.objects.select_for_update(of=("self",))
        .select_related("hit__campaign", "worker")
        .get(pk=assignment.pk)
    )
    if assignment.status != AssignmentStatus.SUBMITTED:
        raise RejectionRefusedError(f"it is {assignment.status} already")
    if assignment.payments.exists():
        raise RejectionRefusedError("it is paid already")
    calls = models.OutboxCall.objects.select_for_update().filter(assignment=assignment)
    for call in calls.filter(operation=Operation.APPROVE, status=CallStatus.WAITING):
        # Once somebody has tried, the marketplace may have paid without our hearing of it.
        if call.attempts:
            raise RejectionRefusedError("its payment is under way")
        call.status, call.next_try_at = CallStatus.DROPPED, None
        call.save(update_fields=["status", "next_try_at"])
    call_queue(
        campaign=assignment.hit.campaign,
        operation=Operation.REJECT,
        key=f"reject/{assignment.pk}",
        hit=assignment.hit,
        assignment=assignment,
        worker=assignment.worker,
        stage=assignment.hit.stage,
        reason=reason.strip(),
    )
