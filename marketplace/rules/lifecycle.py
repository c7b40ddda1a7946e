"""The states of HITs and assignments, and the transitions between them."""

from enum import StrEnum

import msgspec


class HITStatus(StrEnum):
    ASSIGNABLE = "Assignable"
    UNASSIGNABLE = "Unassignable"
    REVIEWABLE = "Reviewable"
    REVIEWING = "Reviewing"
    DISPOSED = "Disposed"


class AssignmentStatus(StrEnum):
    """Accepted, Returned and Abandoned are internal; requesters see the other three."""

    ACCEPTED = "Accepted"
    SUBMITTED = "Submitted"
    APPROVED = "Approved"
    REJECTED = "Rejected"
    RETURNED = "Returned"
    ABANDONED = "Abandoned"


# Assignments under way or done; a returned or abandoned one leaves its place to another worker.
HELD = (
    AssignmentStatus.ACCEPTED,
    AssignmentStatus.SUBMITTED,
    AssignmentStatus.APPROVED,
    AssignmentStatus.REJECTED,
)
COMPLETED = (AssignmentStatus.APPROVED, AssignmentStatus.REJECTED)

ASSIGNMENT_STEPS: dict[AssignmentStatus, tuple[AssignmentStatus, ...]] = {
    AssignmentStatus.ACCEPTED: (
        AssignmentStatus.SUBMITTED,
        AssignmentStatus.RETURNED,
        AssignmentStatus.ABANDONED,
    ),
    AssignmentStatus.SUBMITTED: (AssignmentStatus.APPROVED, AssignmentStatus.REJECTED),
    # A rejection can be overridden.
    AssignmentStatus.REJECTED: (AssignmentStatus.APPROVED,),
    AssignmentStatus.APPROVED: (),
    AssignmentStatus.RETURNED: (),
    AssignmentStatus.ABANDONED: (),
}
HIT_STEPS: dict[HITStatus, tuple[HITStatus, ...]] = {
    HITStatus.ASSIGNABLE: (HITStatus.UNASSIGNABLE, HITStatus.REVIEWABLE),
    # A return frees a place; more assignments or more time make a finished HIT assignable again.
    HITStatus.UNASSIGNABLE: (HITStatus.ASSIGNABLE, HITStatus.REVIEWABLE),
    HITStatus.REVIEWABLE: (
        HITStatus.ASSIGNABLE,
        HITStatus.REVIEWING,
        HITStatus.DISPOSED,
    ),
    HITStatus.REVIEWING: (
        HITStatus.ASSIGNABLE,
        HITStatus.REVIEWABLE,
        HITStatus.DISPOSED,
    ),
    HITStatus.DISPOSED: (),
}


class Places(msgspec.Struct, frozen=True):
    """The number of a HIT's assignments in each kind of state."""

    maximum: int
    accepted: int
    submitted: int
    completed: int

    @property
    def free(self) -> int:
        return max(0, self.maximum - self.accepted - self.submitted - self.completed)


def hit_status(
    places: Places, *, expired: bool, reviewing: bool = False, disposed: bool = False
) -> HITStatus:
    """Return a HIT's status from its clock and its assignments.

    Reviewable: nobody is working on it, and nobody can start. The requester sets Reviewing.
    """
    if disposed:
        return HITStatus.DISPOSED
    if places.free and not expired:
        return HITStatus.ASSIGNABLE
    if places.accepted:
        return HITStatus.UNASSIGNABLE
    return HITStatus.REVIEWING if reviewing else HITStatus.REVIEWABLE
