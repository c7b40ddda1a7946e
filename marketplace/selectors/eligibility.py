"""Whether a worker qualifies for a HIT type."""

from django.db.models import Count, Q

from marketplace.models import HITType, Qualification, Worker, WorkerBlock
from marketplace.rules.lifecycle import COMPLETED, AssignmentStatus
from marketplace.rules.qualifications import (
    ADULT,
    NUMBER_HITS_APPROVED,
    PERCENT_ASSIGNMENTS_APPROVED,
    Action,
    Standing,
    applies,
    is_met,
    percent_approved,
)

BLOCKED = "This requester has asked that you no longer work on their HITs."
NOT_QUALIFIED = "You do not have the qualifications that this HIT asks for."


def standing_of(worker: Worker) -> Standing:
    """Return everything that requirements can ask about a worker, in two statements."""
    values = dict(
        Qualification.objects.filter(worker=worker, is_granted=True).values_list(
            "qualification_type__qualification_type_id", "value"
        )
    )
    counted = worker.assignments.aggregate(
        approved=Count("pk", filter=Q(status=AssignmentStatus.APPROVED)),
        decided=Count("pk", filter=Q(status__in=COMPLETED)),
    )
    values[NUMBER_HITS_APPROVED] = counted["approved"]
    values[PERCENT_ASSIGNMENTS_APPROVED] = percent_approved(counted["approved"], counted["decided"])
    values[ADULT] = int(worker.is_adult)
    return Standing(values=values, country=worker.country, subdivision=worker.subdivision)


def blocking_requesters(worker: Worker) -> set[int]:
    return set(WorkerBlock.objects.filter(worker=worker).values_list("requester_id", flat=True))


def refusal(
    hit_type: HITType, standing: Standing, blocked_by: set[int], action: Action
) -> str | None:
    """Say why the worker may not do this with HITs of the type, or None if they may."""
    if hit_type.requester_id in blocked_by:
        return BLOCKED
    for requirement in hit_type.requirements:
        if applies(requirement, action) and not is_met(requirement, standing):
            return NOT_QUALIFIED
    return None


def may_accept(hit_type: HITType, worker: Worker) -> str | None:
    """Say why the worker may not accept, or None if they may."""
    return refusal(hit_type, standing_of(worker), blocking_requesters(worker), Action.ACCEPT)
