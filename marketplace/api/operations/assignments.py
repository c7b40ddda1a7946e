"""Operations on assignments, and bonuses for them."""

from typing import Any

from marketplace.actions.assignments import assignment_approve, assignment_reject
from marketplace.actions.bonuses import bonus_send
from marketplace.actions.settlement import hit_settle
from marketplace.api.operations import present
from marketplace.api.operations.paging import listing
from marketplace.models import Assignment, BonusPayment, Requester
from marketplace.rules.errors import RequestError, does_not_exist, invalid_value
from marketplace.rules.money import cents
from marketplace.selectors.owned import SUBMITTED, own_assignment, own_hit, worker_named

# MTurk's words for the states in which an operation is allowed.
TO_READ = "Reviewable,Approved,Rejected"
TO_DECIDE = "null"


def get_assignment(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    assignment = _settled(caller, params["AssignmentId"], TO_READ)
    return {
        "Assignment": present.assignment(assignment, assignment.hit.hit_id),
        "HIT": present.hit(assignment.hit),
    }


def list_assignments_for_hit(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    hit = own_hit(caller, params["HITId"])
    hit_settle(hit=hit)
    statuses = params.get("AssignmentStatuses") or [status.value for status in SUBMITTED]
    rows = hit.assignments.filter(status__in=statuses).select_related("worker")
    page, answer = listing(
        caller, "ListAssignmentsForHIT", params, rows, order=("submitted_at", "pk")
    )
    return answer | {"Assignments": [present.assignment(row, hit.hit_id) for row in page]}


def approve_assignment(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    assignment_approve(
        assignment=_settled(caller, params["AssignmentId"], TO_DECIDE),
        feedback=params.get("RequesterFeedback", ""),
        override_rejection=bool(params.get("OverrideRejection")),
    )
    return {}


def reject_assignment(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    assignment_reject(
        assignment=_settled(caller, params["AssignmentId"], TO_DECIDE),
        feedback=params["RequesterFeedback"],
    )
    return {}


def send_bonus(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    amount = cents(params["BonusAmount"])
    if not amount:
        raise invalid_value("BonusAmount", params["BonusAmount"])
    bonus_send(
        requester=caller,
        assignment=_submitted_by(caller, params["AssignmentId"], params["WorkerId"]),
        cents=amount,
        reason=params["Reason"],
        token=params.get("UniqueRequestToken"),
    )
    return {}


def list_bonus_payments(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    rows = BonusPayment.objects.filter(requester=caller).select_related("worker", "assignment")
    if "HITId" not in params and "AssignmentId" not in params:
        raise RequestError("InvalidParameterValue", "Either HITId or AssignmentId must be given.")
    if "HITId" in params:
        rows = rows.filter(assignment__hit=own_hit(caller, params["HITId"]))
    if "AssignmentId" in params:
        number = params["AssignmentId"]
        if not Assignment.objects.filter(assignment_id=number, hit__requester=caller).exists():
            raise does_not_exist("Assignment", number)
        rows = rows.filter(assignment__assignment_id=number)
    page, answer = listing(caller, "ListBonusPayments", params, rows)
    return answer | {"BonusPayments": [present.bonus_payment(row) for row in page]}


def get_file_upload_url(caller: Requester, params: dict[str, Any]) -> dict[str, Any]:
    """MTurk withdrew uploads in 2017, so there is never a file to return."""
    own_assignment(caller, params["AssignmentId"], allowed=TO_READ)
    raise RequestError(
        "InvalidParameterValue",
        "FileUploadAnswer questions are no longer offered, so no assignment has uploaded files.",
    )


def _submitted_by(caller: Requester, assignment_id: str, worker_id: str) -> Assignment:
    """Return the assignment if this worker has submitted it; an id alone does not name a worker."""
    worker = worker_named(worker_id)
    submitted = (
        Assignment.objects.filter(
            assignment_id=assignment_id, hit__requester=caller, status__in=SUBMITTED
        )
        .select_related("worker")
        .first()
    )
    if submitted is None:
        raise does_not_exist("Assignment", assignment_id)
    if submitted.worker_id != worker.pk:
        raise invalid_value("WorkerId", worker_id)
    return submitted


def _settled(caller: Requester, assignment_id: str, allowed: str) -> Assignment:
    """Return one of the caller's submitted assignments, approved if that was due."""
    assignment = own_assignment(caller, assignment_id, allowed=allowed)
    hit_settle(hit=assignment.hit)
    assignment.refresh_from_db(fields=["status", "approved_at", "due_at"])
    return assignment
