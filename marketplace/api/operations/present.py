"""The API's data structures, built from our rows. Members without a value are left out."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Any

from common.clock import database_now
from marketplace.models import (
    HIT,
    Assignment,
    BonusPayment,
    Qualification,
    QualificationRequest,
    QualificationType,
    Requester,
)
from marketplace.rules.groups import group_id
from marketplace.rules.lifecycle import Places
from marketplace.rules.money import dollars
from marketplace.rules.qualifications import SYSTEM_TYPES
from marketplace.selectors.hits import places_by_hit, status_now

Structure = dict[str, Any]
# The system's own types are as old as the API.
SYSTEM_TYPES_SINCE = datetime(2017, 1, 17, tzinfo=UTC)


def hits(rows: Iterable[HIT]) -> list[Structure]:
    """Present HITs as they are now, with one statement for all the counters."""
    listed = list(rows)
    if not listed:
        return []
    now = database_now()
    places = places_by_hit(listed, now)
    return [_hit(hit, places[hit.pk], now) for hit in listed]


def hit(row: HIT) -> Structure:
    return hits([row])[0]


def _hit(row: HIT, places: Places, now: datetime) -> Structure:
    kind = row.hit_type
    is_open = row.expires_at > now and row.disposed_at is None
    return _given(
        HITId=row.hit_id,
        HITTypeId=kind.hit_type_id,
        HITGroupId=group_id(kind.hit_type_id),
        CreationTime=row.created_at,
        Title=kind.title,
        Description=kind.description,
        Question=row.question,
        Keywords=kind.keywords or None,
        HITStatus=status_now(row, places, now).value,
        MaxAssignments=row.max_assignments,
        Reward=dollars(kind.reward_cents),
        AutoApprovalDelayInSeconds=kind.auto_approval_delay,
        Expiration=row.expires_at,
        AssignmentDurationInSeconds=kind.assignment_duration,
        RequesterAnnotation=row.annotation or None,
        QualificationRequirements=kind.requirements,
        HITReviewStatus="NotReviewed",
        NumberOfAssignmentsPending=places.accepted,
        NumberOfAssignmentsAvailable=places.free if is_open else 0,
        NumberOfAssignmentsCompleted=places.completed,
    )


def assignment(row: Assignment, hit_id: str) -> Structure:
    return _given(
        AssignmentId=row.assignment_id,
        WorkerId=row.worker.worker_id,
        HITId=hit_id,
        AssignmentStatus=row.status,
        AutoApprovalTime=row.auto_approval_at,
        AcceptTime=row.accepted_at,
        SubmitTime=row.submitted_at,
        ApprovalTime=row.approved_at,
        RejectionTime=row.rejected_at,
        Deadline=row.deadline,
        Answer=row.answer,
        RequesterFeedback=row.feedback or None,
    )


def qualification_type(row: QualificationType, caller: Requester) -> Structure:
    """Present a qualification type; its test and answer key are for its owner only."""
    shown = _given(
        QualificationTypeId=row.qualification_type_id,
        CreationTime=row.created_at,
        Name=row.name,
        Description=row.description,
        Keywords=row.keywords or None,
        QualificationTypeStatus="Active" if row.is_active else "Inactive",
        TestDurationInSeconds=row.test_duration,
        RetryDelayInSeconds=row.retry_delay,
        IsRequestable=True,
        AutoGranted=row.auto_granted,
        AutoGrantedValue=row.auto_granted_value,
    )
    if row.requester_id == caller.pk:
        shown |= _given(Test=row.test or None, AnswerKey=row.answer_key or None)
    return shown


def system_type(type_id: str) -> Structure:
    return {
        "QualificationTypeId": type_id,
        "CreationTime": SYSTEM_TYPES_SINCE,
        "Name": SYSTEM_TYPES[type_id],
        "Description": f"{SYSTEM_TYPES[type_id]}: kept by the marketplace for every worker.",
        "QualificationTypeStatus": "Active",
        "IsRequestable": False,
        "AutoGranted": False,
    }


def qualification(row: Qualification, type_id: str) -> Structure:
    return {
        "QualificationTypeId": type_id,
        "WorkerId": row.worker.worker_id,
        "GrantTime": row.granted_at,
        "IntegerValue": row.value,
        "Status": "Granted" if row.is_granted else "Revoked",
    }


def qualification_request(row: QualificationRequest) -> Structure:
    return _given(
        QualificationRequestId=row.request_id,
        QualificationTypeId=row.qualification_type.qualification_type_id,
        WorkerId=row.worker.worker_id,
        Test=row.test or None,
        Answer=row.answer or None,
        SubmitTime=row.submitted_at,
    )


def bonus_payment(row: BonusPayment) -> Structure:
    return {
        "WorkerId": row.worker.worker_id,
        "BonusAmount": dollars(row.cents),
        "AssignmentId": row.assignment.assignment_id,
        "Reason": row.reason,
        "GrantTime": row.granted_at,
    }


def _given(**members: Any) -> Structure:
    return {name: value for name, value in members.items() if value is not None}
