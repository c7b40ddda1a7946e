"""Find a requester's objects by id. Other requesters' objects do not exist for them."""

from django.db.models import Q

from common.rows import only_row
from marketplace.models import (
    HIT,
    Assignment,
    HITType,
    QualificationRequest,
    QualificationType,
    Requester,
    Worker,
)
from marketplace.rules.errors import (
    RequestError,
    does_not_exist,
    invalid_state,
    invalid_value,
)
from marketplace.rules.lifecycle import HELD, AssignmentStatus
from marketplace.rules.qualifications import SYSTEM_TYPES

# The assignments that requesters see: those that have been submitted.
SUBMITTED = (AssignmentStatus.SUBMITTED, AssignmentStatus.APPROVED, AssignmentStatus.REJECTED)


def own_hit(requester: Requester, hit_id: str) -> HIT:
    """Return the requester's HIT, disposed or not (HITDoesNotExist)."""
    hit = only_row(
        HIT.objects.select_related("hit_type", "requester").filter(
            requester=requester, hit_id=hit_id
        )
    )
    if hit is None:
        raise does_not_exist("HIT", hit_id)
    return hit


def own_hit_type(requester: Requester, hit_type_id: str) -> HITType:
    """Return the requester's HIT type (InvalidParameterValue, as MTurk answered)."""
    hit_type = only_row(
        HITType.objects.select_related("requester").filter(
            requester=requester, hit_type_id=hit_type_id
        )
    )
    if hit_type is None:
        raise invalid_value("HITTypeId", hit_type_id)
    return hit_type


def own_assignment(requester: Requester, assignment_id: str, *, allowed: str) -> Assignment:
    """Return the submitted assignment that has this id now.

    AssignmentDoesNotExist; InvalidAssignmentState with the allowed states in MTurk's words if it
    has not been submitted. Several rows can share an id that was returned; at most one of them is
    held.
    """
    named = Assignment.objects.select_related("worker", "hit__hit_type", "hit__requester").filter(
        assignment_id=assignment_id, hit__requester=requester
    )
    assignment = only_row(named.filter(status__in=HELD))
    if assignment is not None and assignment.status in SUBMITTED:
        return assignment
    if assignment is None and not named.exists():
        raise does_not_exist("Assignment", assignment_id)
    raise invalid_state("Assignment", allowed)


def worker_named(worker_id: str) -> Worker:
    """Return the worker (WorkerDoesNotExist, in the words of the old service)."""
    worker = only_row(Worker.objects.filter(worker_id=worker_id))
    if worker is None:
        raise RequestError(
            "WorkerDoesNotExist",
            f'The value "{worker_id}" is not valid for the parameter WorkerId.',
        )
    return worker


def permission_denied() -> RequestError:
    return RequestError(
        "PermissionDeniedException",
        "This user is not authorized to perform the requested operation.",
    )


def qualification_type_named(requester: Requester, type_id: str) -> QualificationType:
    """Return a qualification type that is listed for the requester: theirs, or an active one.

    QualificationTypeDoesNotExist; InvalidQualificationTypeState if it is theirs and disposed of.
    """
    found = only_row(
        QualificationType.objects.filter(qualification_type_id=type_id).filter(
            Q(requester=requester) | Q(disposed_at=None, is_active=True)
        )
    )
    if found is None:
        raise does_not_exist("QualificationType", type_id)
    if found.disposed_at is not None:
        raise invalid_state("QualificationType", "Active,Inactive")
    return found


def own_qualification_type(requester: Requester, type_id: str) -> QualificationType:
    """Return the requester's own qualification type, not one that is only listed for them."""
    if type_id in SYSTEM_TYPES:
        raise permission_denied()
    found = qualification_type_named(requester, type_id)
    if found.requester_id != requester.pk:
        raise permission_denied()
    return found


def own_request(requester: Requester, request_id: str) -> QualificationRequest:
    """Return a request for one of the requester's types (QualificationRequestDoesNotExist)."""
    found = only_row(
        QualificationRequest.objects.filter(
            request_id=request_id, qualification_type__requester=requester
        )
    )
    if found is None:
        raise does_not_exist("QualificationRequest", request_id)
    return found
