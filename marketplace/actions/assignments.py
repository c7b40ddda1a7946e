"""Assignments: accepted, returned, submitted, approved, rejected, abandoned."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet

from common.clock import database_now
from common.rows import only_row
from marketplace.actions.hits import hit_lock, hit_refresh
from marketplace.actions.ledger import accounts_lock, hold_adjust, reward_pay
from marketplace.actions.notices.events import event_record
from marketplace.models import HIT, Assignment, HITType, Worker
from marketplace.rules.errors import invalid_state
from marketplace.rules.lifecycle import HELD, AssignmentStatus, HITStatus
from marketplace.selectors.eligibility import may_accept

OVERRIDE_DAYS = 30


class WorkRefusedError(ValueError):
    """The worker cannot accept, return or submit this; the message is for them."""


@transaction.atomic
def assignment_accept(*, hit_id: int, worker: Worker, qualified_for: int = 0) -> Assignment:
    """Give the worker a place at a HIT. Accepting again gives the same place.

    `qualified_for` is the HIT type for which the caller has just found the worker qualified.
    """
    hit = hit_lock(hit_id=hit_id)
    now = database_now()
    places = hit_refresh(hit=hit, now=now)
    own = only_row(hit.assignments.filter(worker=worker, status__in=HELD))
    if own is not None:
        if own.status == AssignmentStatus.ACCEPTED and own.deadline > now:
            return own
        raise WorkRefusedError("You have already worked on this HIT.")
    if hit.status != HITStatus.ASSIGNABLE or not places.free or not hit.requester.is_active:
        raise WorkRefusedError("All assignments of this HIT have been taken.")
    # The HIT's type may have changed in the meantime.
    if hit.hit_type_id != qualified_for:
        refusal = may_accept(hit.hit_type, worker)
        if refusal:
            raise WorkRefusedError(refusal)
    assignment = Assignment(
        hit=hit,
        worker=worker,
        accepted_at=now,
        deadline=now + timedelta(seconds=hit.hit_type.assignment_duration),
    )
    assignment.due_at = assignment.deadline
    left = _id_given_back(hit)
    if left:
        assignment.assignment_id = left
    assignment.save()
    hit_refresh(hit=hit, now=now)
    event_record(
        hit=hit, event_type="AssignmentAccepted", now=now, assignment_id=assignment.assignment_id
    )
    return assignment


def assignment_accept_any(*, hit_type_id: int, worker: Worker) -> Assignment:
    """Give the worker a place at some HIT of a group."""
    refusal = may_accept(HITType.objects.get(pk=hit_type_id), worker)
    if refusal:
        raise WorkRefusedError(refusal)
    taken = _accept_unlocked(hit_type_id, worker)
    if taken is not None:
        return taken
    # Other workers are taking or returning all remaining HITs right now: wait for each in turn.
    for hit_id in _open_hits(hit_type_id, worker).values_list("pk", flat=True):
        try:
            return assignment_accept(hit_id=hit_id, worker=worker, qualified_for=hit_type_id)
        except WorkRefusedError:
            continue
    raise WorkRefusedError("There are no more HITs in this group for you.")


@transaction.atomic
def _accept_unlocked(hit_type_id: int, worker: Worker) -> Assignment | None:
    """Take a HIT that nobody else is taking right now, without waiting for a lock."""
    hit = _open_hits(hit_type_id, worker).select_for_update(skip_locked=True, of=("self",)).first()
    if hit is None:
        return None
    return assignment_accept(hit_id=hit.pk, worker=worker, qualified_for=hit_type_id)


def _open_hits(hit_type_id: int, worker: Worker) -> QuerySet[HIT]:
    own = Assignment.objects.filter(worker=worker, status__in=HELD)
    return (
        HIT.objects.filter(
            hit_type_id=hit_type_id,
            status=HITStatus.ASSIGNABLE,
            expires_at__gt=database_now(),
            requester__is_active=True,
        )
        .exclude(assignments__in=own)
        .order_by("pk")
    )


@transaction.atomic
def assignment_return(*, assignment: Assignment) -> None:
    """Return a place, without a penalty for anybody."""
    hit, assignment = _lock(assignment)
    if assignment.status != AssignmentStatus.ACCEPTED:
        raise WorkRefusedError("You cannot return this assignment: it is no longer yours.")
    now = database_now()
    _close(assignment, AssignmentStatus.RETURNED)
    hit_refresh(hit=hit, now=now)
    event_record(
        hit=hit, event_type="AssignmentReturned", now=now, assignment_id=assignment.assignment_id
    )


@transaction.atomic
def assignment_submit(*, assignment: Assignment, answer: str) -> None:
    """Take the worker's answers, if the time has not run out."""
    hit, assignment = _lock(assignment)
    now = database_now()
    if assignment.status != AssignmentStatus.ACCEPTED:
        raise WorkRefusedError(
            "This assignment was already submitted or returned, or its time ran out."
        )
    if assignment.deadline <= now:
        raise WorkRefusedError("The time for this assignment has run out.")
    assignment.status = AssignmentStatus.SUBMITTED
    assignment.answer = answer
    assignment.submitted_at = now
    assignment.auto_approval_at = now + timedelta(seconds=hit.hit_type.auto_approval_delay)
    assignment.due_at = assignment.auto_approval_at
    assignment.save()
    hit_refresh(hit=hit, now=now)
    event_record(
        hit=hit, event_type="AssignmentSubmitted", now=now, assignment_id=assignment.assignment_id
    )


@transaction.atomic
def assignment_approve(
    *, assignment: Assignment, feedback: str = "", override_rejection: bool = False
) -> None:
    """Approve and pay, once. A rejection can be overridden for thirty days from the submission."""
    hit, assignment = _lock(assignment)
    now = database_now()
    overridable = (
        override_rejection
        and assignment.status == AssignmentStatus.REJECTED
        and assignment.submitted_at is not None
        and assignment.submitted_at > now - timedelta(days=OVERRIDE_DAYS)
        and hit.disposed_at is None
    )
    if assignment.status != AssignmentStatus.SUBMITTED and not overridable:
        raise invalid_state("Assignment", "Submitted")
    accounts_lock(hit=hit, worker=assignment.worker)
    if overridable:
        # The money for a rejected assignment went back to the requester, so hold it again.
        price = hit.hit_type.reward_cents + hit.fee_cents
        hold_adjust(hit=hit, cents=hit.held_cents + price)
    _approve(hit, assignment, now, feedback)


@transaction.atomic
def assignment_reject(*, assignment: Assignment, feedback: str) -> None:
    """Reject with a reason; the money held for the assignment goes back to the requester."""
    hit, assignment = _lock(assignment)
    if assignment.status != AssignmentStatus.SUBMITTED:
        raise invalid_state("Assignment", "Submitted")
    now = database_now()
    assignment.feedback = feedback
    assignment.rejected_at = now
    _close(assignment, AssignmentStatus.REJECTED)
    hit_refresh(hit=hit, now=now)
    event_record(
        hit=hit, event_type="AssignmentRejected", now=now, assignment_id=assignment.assignment_id
    )


@transaction.atomic
def assignment_settle(*, assignment: Assignment) -> bool:
    """Abandon the assignment if its time has run out; approve it if the delay is over."""
    hit, assignment = _lock(assignment)
    now = database_now()
    if assignment.due_at is None or assignment.due_at > now:
        return False
    if assignment.status == AssignmentStatus.ACCEPTED:
        _close(assignment, AssignmentStatus.ABANDONED)
        hit_refresh(hit=hit, now=now)
        event_record(
            hit=hit,
            event_type="AssignmentAbandoned",
            now=now,
            assignment_id=assignment.assignment_id,
        )
    elif assignment.status == AssignmentStatus.SUBMITTED:
        accounts_lock(hit=hit, worker=assignment.worker)
        _approve(hit, assignment, now, "")
    return True


def _approve(hit: HIT, assignment: Assignment, now: datetime, feedback: str) -> None:
    assignment.feedback = feedback or assignment.feedback
    assignment.approved_at = now
    reward_pay(hit=hit, worker=assignment.worker, assignment_id=assignment.assignment_id)
    _close(assignment, AssignmentStatus.APPROVED)
    hit_refresh(hit=hit, now=now)
    event_record(
        hit=hit, event_type="AssignmentApproved", now=now, assignment_id=assignment.assignment_id
    )


def _close(assignment: Assignment, status: AssignmentStatus) -> None:
    assignment.status = status
    assignment.due_at = None
    assignment.save()


def _lock(assignment: Assignment) -> tuple[HIT, Assignment]:
    hit = hit_lock(hit_id=assignment.hit_id)
    locked = (
        Assignment.objects.select_for_update(of=("self",))
        .select_related("worker")
        .get(pk=assignment.pk)
    )
    return hit, locked


def _id_given_back(hit: HIT) -> str | None:
    """Return the id of a returned or abandoned place that nobody has taken since."""
    ids = hit.assignments.filter(~Q(status__in=HELD)).values_list("assignment_id", flat=True)
    taken = set(hit.assignments.filter(status__in=HELD).values_list("assignment_id", flat=True))
    return next((one for one in ids.order_by("pk") if one not in taken), None)
