"""A worker's own assignments, qualifications and messages."""

from datetime import datetime

import msgspec
from django.db.models import Count, Q, QuerySet, Sum

from common.rows import only_row
from marketplace.models import (
    Assignment,
    Message,
    Qualification,
    QualificationRequest,
    QualificationType,
    TestAttempt,
    Worker,
)
from marketplace.rules.ids import is_id
from marketplace.rules.lifecycle import HELD, AssignmentStatus
from marketplace.rules.qualifications import percent_approved


class Record(msgspec.Struct, frozen=True):
    """The numbers of a worker's assignments by outcome."""

    accepted: int
    submitted: int
    approved: int
    rejected: int

    @property
    def percent(self) -> int:
        return percent_approved(self.approved, self.approved + self.rejected)


def assignment_find(worker: Worker, assignment_id: str) -> Assignment | None:
    """Return the worker's own newest assignment with that id."""
    if not is_id(assignment_id):
        return None
    return (
        Assignment.objects.select_related("hit__hit_type", "hit__requester", "worker")
        .filter(worker=worker, assignment_id=assignment_id)
        .order_by("-pk")
        .first()
    )


def holder_find(assignment_id: str) -> Assignment | None:
    """Return the assignment that holds this id now, for any worker; else the last one."""
    if not is_id(assignment_id):
        return None
    found = Assignment.objects.select_related("hit__hit_type", "worker").filter(
        assignment_id=assignment_id
    )
    return only_row(found.filter(status__in=HELD)) or found.order_by("-pk").first()


def others_had(assignment: Assignment) -> bool:
    """Tell whether other workers know this assignment's id because they had the place before."""
    named = Assignment.objects.filter(assignment_id=assignment.assignment_id)
    return named.exclude(worker=assignment.worker_id).exists()


def assignments_in_progress(worker: Worker, now: datetime) -> list[Assignment]:
    """Return the assignments that the worker can continue, most urgent first."""
    return list(
        worker.assignments.filter(status=AssignmentStatus.ACCEPTED, deadline__gt=now)
        .select_related("hit__hit_type__requester")
        .order_by("deadline")
    )


def assignments_done(worker: Worker, status: str = "") -> QuerySet[Assignment]:
    """Return the worker's submitted assignments, newest first, with their bonuses."""
    done = [one.value for one in HELD if one != AssignmentStatus.ACCEPTED]
    wanted = [status] if status in done else done
    return (
        worker.assignments.filter(status__in=wanted)
        .select_related("hit__hit_type__requester")
        .annotate(bonus_cents=Sum("bonuses__cents"))
        .order_by("-submitted_at", "-pk")
    )


def record_of(worker: Worker) -> Record:
    """Count a worker's assignments by status, in one statement."""
    status = AssignmentStatus
    return Record(
        **worker.assignments.aggregate(
            accepted=Count("pk", filter=Q(status=status.ACCEPTED)),
            submitted=Count("pk", filter=Q(status=status.SUBMITTED)),
            approved=Count("pk", filter=Q(status=status.APPROVED)),
            rejected=Count("pk", filter=Q(status=status.REJECTED)),
        )
    )


def messages_of(worker: Worker) -> QuerySet[Message]:
    return worker.messages.select_related("requester").order_by("-created_at", "-pk")


def unread_count(worker: Worker) -> int:
    return worker.messages.filter(read_at=None).count()


def qualifications_held(worker: Worker) -> list[Qualification]:
    return list(
        worker.qualifications.filter(is_granted=True)
        .select_related("qualification_type__requester")
        .order_by("-granted_at")
    )


def requests_of(worker: Worker) -> list[QualificationRequest]:
    """Return the worker's requests that are not granted, newest first."""
    return list(
        worker.qualification_requests.exclude(status=QualificationRequest.GRANTED)
        .select_related("qualification_type__requester")
        .order_by("-submitted_at")
    )


def qualification_types_offered(worker: Worker, text: str = "") -> QuerySet[QualificationType]:
    """Return the types that a worker can request and has not, by name."""
    found = QualificationType.objects.filter(is_active=True, disposed_at=None).exclude(
        pk__in=worker.qualifications.filter(is_granted=True).values("qualification_type")
    )
    found = found.exclude(
        pk__in=worker.qualification_requests.filter(status=QualificationRequest.PENDING).values(
            "qualification_type"
        )
    )
    for word in text.split():
        found = found.filter(
            Q(name__icontains=word)
            | Q(description__icontains=word)
            | Q(keywords__icontains=word)
            | Q(requester__name__icontains=word)
        )
    return found.select_related("requester").order_by("name", "pk")


def qualification_type_find(number: str) -> QualificationType | None:
    if not is_id(number):
        return None
    return only_row(
        QualificationType.objects.select_related("requester").filter(
            qualification_type_id=number, disposed_at=None
        )
    )


def attempt_open(
    worker: Worker, qualification_type: QualificationType, now: datetime
) -> TestAttempt | None:
    """Return the test that the worker has begun and can still hand in."""
    return (
        worker.test_attempts.filter(
            qualification_type=qualification_type, finished_at=None, deadline__gt=now
        )
        .order_by("-pk")
        .first()
    )


def qualification_of(worker: Worker, qualification_type: QualificationType) -> Qualification | None:
    """Return the worker's qualification of a type, if granted."""
    return only_row(
        worker.qualifications.filter(qualification_type=qualification_type, is_granted=True)
    )
