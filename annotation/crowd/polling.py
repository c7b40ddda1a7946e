"""Asking the marketplace about HITs: confirming submitted work, and closing finished HITs.

Notifications only make this happen sooner. Only the answers to these questions are trusted.
"""

import logging
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Never
from xml.etree import ElementTree

from annotation import models
from annotation.actions.crowd.hits import (
    hit_close,
    hit_look_again,
    hit_places_seen,
    hits_claim,
    hits_give_back,
)
from annotation.actions.crowd.payments import reward_paid, reward_refused
from annotation.actions.work.confirmations import Submitted, assignment_confirm
from annotation.crowd.client import AssignmentShown, HitShown, MTurk
from annotation.crowd.errors import RefusedError, TryAgainError, UnreachableError
from annotation.models import AssignmentStatus
from annotation.selectors.crowd.hits import (
    LOOK_EVERY,
    LOOK_RARELY,
    LOOK_SOON,
    hit_is_settled,
    hits_are_due,
    known_assignments,
    next_look,
)

log = logging.getLogger(__name__)

CLAIMED_AT_ONCE = 20
FRESH_SECONDS = 5.0
UNREACHABLE_IN_A_ROW = 3
# Our own page submits at most a quarter of this, and XML may write a character as six.
LARGEST_ANSWER = 2**20
STATUS = {
    "Submitted": AssignmentStatus.SUBMITTED,
    "Approved": AssignmentStatus.APPROVED,
    "Rejected": AssignmentStatus.REJECTED,
}
_SETTLE: dict[AssignmentStatus, Callable[[models.Assignment], None]] = {
    AssignmentStatus.APPROVED: lambda assignment: reward_paid(assignment=assignment),
    AssignmentStatus.REJECTED: lambda assignment: reward_refused(assignment=assignment),
}


def hits_look(*, client: MTurk, most: int = 200) -> int:
    """Look at the HITs that are due; return how many were looked at."""
    looked = silent = 0
    while looked < most and silent < UNREACHABLE_IN_A_ROW and hits_are_due():
        hits = hits_claim(most=min(CLAIMED_AT_ONCE, most - looked))
        if not hits:
            break
        until = time.monotonic() + FRESH_SECONDS
        while hits and silent < UNREACHABLE_IN_A_ROW and time.monotonic() < until:
            hit = hits.pop(0)
            looked += 1
            reached, pause = _look_safely(client, hit)
            silent = 0 if reached else silent + 1
            hit_look_again(hit=hit, after=pause)
        hits_give_back(hits=hits)
    return looked


def _look_safely(client: MTurk, hit: models.Hit) -> tuple[bool, timedelta]:
    """Look at one HIT; return whether the marketplace answered, and when to look again."""
    try:
        _look(client, hit)
        return True, next_look(hit)
    except TryAgainError as error:
        log.info("hit %s could not be checked: %s", hit.pk, error)
        return not isinstance(error, UnreachableError), LOOK_SOON
    except RefusedError as error:
        log.warning("hit %s could not be checked: %s", hit.pk, error)
        return True, LOOK_RARELY
    except Exception:
        # A problem with one HIT must not keep the others from being paid.
        log.exception("hit %s could not be checked", hit.pk)
        return True, LOOK_EVERY


def _look(client: MTurk, hit: models.Hit) -> None:
    assert hit.hit_id is not None
    found = list(client.assignments(hit.hit_id)) if hit.places == 1 else []
    shown: HitShown | None = None
    if not found:
        # First the HIT, then its assignments: if nobody was working, the list is complete.
        shown = client.hit_get(hit.hit_id)
        if shown.available + shown.pending < hit.places:
            found = list(client.assignments(hit.hit_id))
    known = known_assignments(hit)
    trouble: Exception | None = None
    for one in found:
        try:
            _take(hit, one, known.get((one.assignment_id, one.worker)))
        except Exception as error:
            # A problem with one assignment must not keep the others from being paid.
            log.exception("assignment %s could not be confirmed", one.assignment_id)
            trouble = error
    if trouble is not None:
        raise trouble
    if shown is not None:
        hit_places_seen(
            hit=hit,
            available=shown.available,
            pending=shown.pending,
            expires_at=shown.expires_at,
        )
        if shown.is_over and hit_is_settled(hit):
            hit_close(hit=hit)


def _take(hit: models.Hit, one: AssignmentShown, known: models.Assignment | None) -> None:
    """Confirm an assignment, and record a decision that the marketplace made automatically."""
    status = STATUS[one.status]
    if known is None:
        known = assignment_confirm(
            hit=hit,
            submitted=Submitted(
                assignment_id=one.assignment_id,
                worker=one.worker,
                status=status,
                submitted_at=one.submitted_at,
                fields=form_fields(one.answer),
            ),
        )
    settle = _SETTLE.get(status)
    if settle is not None and known.status != status:
        settle(known)


class _PlainTree(ElementTree.TreeBuilder):
    """A tree without a document type, and so without entities that expand."""

    def doctype(self, name: str, public: str | None, system: str | None) -> Never:
        raise ElementTree.ParseError("a document type is not allowed")


def form_fields(answer: str) -> dict[str, str]:
    """Return the form fields of the page from the XML in which the marketplace stores them.

    Return none if it cannot be a form: too large, with a document type, or not XML.
    """
    if len(answer) > LARGEST_ANSWER:
        return {}
    try:
        root = ElementTree.fromstring(answer, ElementTree.XMLParser(target=_PlainTree()))
    except ElementTree.ParseError:
        return {}
    fields: dict[str, str] = {}
    for item in root.iterfind("{*}Answer"):
        name = item.findtext("{*}QuestionIdentifier")
        if name:
            fields[name] = item.findtext("{*}FreeText") or ""
    return fields
