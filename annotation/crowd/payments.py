"""Approving and rejecting assignments, and paying bonuses."""

from annotation import models
from annotation.actions.crowd.payments import bonus_paid, reward_paid, reward_refused
from annotation.actions.crowd.workers import OWN_NAMES
from annotation.crowd.client import MTurk
from annotation.crowd.errors import RefusedError, TryAgainError
from annotation.crowd.steps import Batch, Step, details, nothing_follows
from annotation.models import AssignmentStatus

APPROVED, REJECTED = "Approved", "Rejected"
# Enough of the token to tell an assignment's bonuses apart, and short enough for workers to ignore.
REFERENCE_LETTERS = 10


def approve(call: models.OutboxCall, batch: Batch) -> Step:
    """Approve an assignment. If it was approved already, that counts as success."""
    assignment = _assignment(call)
    number, client = assignment.assignment_id, batch.client
    if assignment.status == AssignmentStatus.APPROVED:
        return Step(ask=lambda: None, apply=nothing_follows)

    def ask() -> str:
        try:
            client.assignment_approve(number)
        except RefusedError as error:
            return _decided(client, number, error)
        return APPROVED

    def apply(status: str) -> str:
        if status == APPROVED:
            reward_paid(assignment=assignment)
            return ""
        reward_refused(assignment=assignment)
        return "The marketplace has rejected it."

    return Step(ask=ask, apply=apply)


def reject(call: models.OutboxCall, batch: Batch) -> Step:
    """Reject an assignment, with a reason that the worker reads."""
    assignment = _assignment(call)
    number, client = assignment.assignment_id, batch.client
    reason = str(details(call)["reason"])
    if assignment.status == AssignmentStatus.REJECTED:
        return Step(ask=lambda: None, apply=nothing_follows)

    def ask() -> str:
        try:
            client.assignment_reject(number, reason=reason)
        except RefusedError as error:
            return _decided(client, number, error)
        return REJECTED

    def apply(status: str) -> str:
        if status == REJECTED:
            reward_refused(assignment=assignment, reason=reason)
            return ""
        reward_paid(assignment=assignment)
        return "It was already approved and paid, so it can no longer be rejected."

    return Step(ask=ask, apply=apply)


def bonus(call: models.OutboxCall, batch: Batch) -> Step:
    """Pay a bonus once: at first its token ensures this, later the list of paid bonuses."""
    assignment, client = _assignment(call), batch.client
    number, worker = assignment.assignment_id, assignment.worker.name
    asked = details(call)
    known = not worker.startswith(OWN_NAMES)
    repeatable = batch.may_repeat(call)

    def ask() -> None:
        if not repeatable and _is_paid(client, number, call.token):
            return
        try:
            client.bonus_send(
                assignment_id=number,
                # We have erased the worker's id, but the marketplace still has it.
                worker=worker if known else client.assignment_get(number).worker,
                cents=int(asked["bonus_cents"]),
                reason=bonus_reason(str(asked["reason"]), call.token),
                token=call.token,
            )
        except RefusedError as error:
            if error.code != "DuplicateRequest":
                raise
            if not _is_paid(client, number, call.token):
                raise TryAgainError(f"The bonus is not listed as paid: {error.message}") from error

    def apply(_: object) -> str:
        bonus_paid(call=call)
        return ""

    return Step(ask=ask, apply=apply)


def bonus_reason(reason: str, token: str) -> str:
    """Return the reason as the worker reads it, with a reference that identifies the bonus."""
    return f"{reason} [{token[:REFERENCE_LETTERS]}]"


def _is_paid(client: MTurk, assignment_id: str, token: str) -> bool:
    ending = bonus_reason("", token).strip()
    return any(paid.reason.endswith(ending) for paid in client.bonuses(AssignmentId=assignment_id))


def _decided(client: MTurk, assignment_id: str, error: RefusedError) -> str:
    """Return the earlier decision; raise the refusal if it has a different cause."""
    if error.code != "InvalidAssignmentState":
        raise error
    status = client.assignment_get(assignment_id).status
    if status in (APPROVED, REJECTED):
        return status
    raise error


def _assignment(call: models.OutboxCall) -> models.Assignment:
    assert call.assignment is not None
    return call.assignment
