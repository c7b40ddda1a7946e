"""How a worker arrives at a task page: checks what the platform appended to its address."""

import re
import time

import msgspec
from django.conf import settings
from django.http import QueryDict
from msgspec.structs import replace

from annotation.actions.crowd.workers import OWN_NAMES
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.acceptance import Acceptance, BadAcceptanceError, acceptance_read
from annotation.selectors.work.arrivals import is_proof_required
from annotation.selectors.work.sittings import Claim
from common.web.origins import origin_of

PREVIEW_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
AGAIN = "Open the HIT again from your list of HITs on the marketplace."
SUBMIT_PATH = "/mturk/externalSubmit"
# The platforms' ids consist of letters, digits and a few other characters.
_ID = re.compile(r"[A-Za-z0-9._~:-]{1,64}")
_SUBMIT_TO = re.compile(r"https?://[A-Za-z0-9.:\[\]-]+(/[A-Za-z0-9._~-]*)*")


class ArrivalError(ValueError):
    """The platform would not make such an address; the message is for the worker."""


class Arrival(msgspec.Struct, frozen=True):
    """A worker with an assignment, and where to submit the finished form."""

    claim: Claim
    submit_url: str


def arrival_read(
    query: QueryDict, campaign_id: int, stage: Stage, kind: SittingKind
) -> Arrival | None:
    """Read what the platform appended; None if this is a preview before accepting the HIT."""
    assignment_id = query.get("assignmentId", "")
    if assignment_id in ("", PREVIEW_ASSIGNMENT):
        return None
    worker = _id(query, "workerId")
    if worker.startswith(OWN_NAMES):
        raise ArrivalError("The workerId in the address is not valid.")
    claim = Claim(
        campaign=campaign_id,
        stage=stage,
        kind=kind,
        assignment_id=_id(query, "assignmentId"),
        hit_id=_id(query, "hitId") if query.get("hitId") else "",
        worker=worker,
    )
    submit_url = _submit_url(query.get("turkSubmitTo", ""))
    if is_proof_required():
        claim = replace(claim, acceptance=_acceptance(query.get("acceptance", ""), claim))
    return Arrival(claim=claim, submit_url=submit_url)


def _acceptance(text: str, claim: Claim) -> Acceptance:
    """Return the marketplace's proof that the worker has accepted the assignment."""
    if not text:
        raise ArrivalError(
            f"The address of this page does not show that you have accepted the HIT. {AGAIN}"
        )
    try:
        acceptance = acceptance_read(
            text,
            assignment_id=claim.assignment_id,
            hit_id=claim.hit_id,
            worker=claim.worker,
            key_id=settings.CHAINBOX_CROWD_KEY_ID,
            secret=settings.CHAINBOX_CROWD_SECRET,
        )
    except BadAcceptanceError:
        raise ArrivalError(
            f"The marketplace did not make the address of this page for you. {AGAIN}"
        ) from None
    if acceptance.is_over(int(time.time() * 1000)):
        raise ArrivalError("Your time for this HIT has run out.")
    return acceptance


def _id(query: QueryDict, name: str) -> str:
    value = query.get(name, "")
    if not value:
        raise ArrivalError(f"The address of this page has no {name}.")
    if not _ID.fullmatch(value):
        raise ArrivalError(f"The {name} in the address is not valid.")
    return value


def _submit_url(submit_to: str) -> str:
    """Return where to submit the form, if that is a known marketplace: answers must not leak."""
    if not submit_to:
        raise ArrivalError("The address of this page has no turkSubmitTo.")
    base = submit_to.rstrip("/")
    if len(base) > 300 or not _SUBMIT_TO.fullmatch(base) or "/.." in base:
        raise ArrivalError("The turkSubmitTo in the address is not valid.")
    try:
        origin = origin_of(base)
    except ValueError:
        raise ArrivalError("The turkSubmitTo in the address is not valid.") from None
    if origin not in settings.CHAINBOX_MARKETPLACE_ORIGINS:
        raise ArrivalError("The turkSubmitTo in the address is not a marketplace we work with.")
    return base + SUBMIT_PATH
