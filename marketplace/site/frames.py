"""A requester's page in a frame: its address, its height, and its permissions."""

import time

import msgspec
from django.core import signing
from django.http import HttpRequest
from django.urls import reverse
from django.utils.crypto import salted_hmac

from common.clock import CLOCK_TOLERANCE_SECONDS
from marketplace.models import HIT, Assignment
from marketplace.rules.acceptance import Accepted, acceptance_claim
from marketplace.rules.questions import (
    ExternalQuestion,
    HTMLQuestion,
    QuestionForm,
    frame_url,
    parse_question,
)
from marketplace.selectors.keys import secrets_of
from marketplace.selectors.work import others_had
from marketplace.site.policy import sandbox_for

SALT = "marketplace.question"
PREVIEW_SECONDS = 3600


class Frame(msgspec.Struct, frozen=True):
    """What the page needs to show a frame. Height 0: as high as the window."""

    url: str
    height: int
    sandbox: str


class Shown(msgspec.Struct, frozen=True):
    """The contents of the signed address of an HTMLQuestion."""

    hit: int
    assignment_id: str
    until: int
    proof: str = ""


def question_of(hit: HIT) -> ExternalQuestion | HTMLQuestion | QuestionForm:
    """Read a HIT's question; it was checked when the HIT was made."""
    return parse_question(hit.question)


def submit_to(request: HttpRequest, proof: str = "") -> str:
    """Return turkSubmitTo: pages append "/mturk/externalSubmit" directly to it."""
    here = request.build_absolute_uri(reverse("marketplace:browse"))
    return f"{here}by/{proof}" if proof else here.rstrip("/")


def proof_for(assignment: Assignment) -> str:
    """Return proof that a page was made for this sitting; empty if the id alone proves it.

    Earlier workers know an id that was returned.
    """
    if not others_had(assignment):
        return ""
    return salted_hmac(SALT, f"submit/{assignment.pk}", algorithm="sha256").hexdigest()


def frame_for(
    request: HttpRequest,
    hit: HIT,
    question: ExternalQuestion | HTMLQuestion | QuestionForm,
    assignment: Assignment | None = None,
) -> Frame | None:
    """Return the frame of a HIT, for a preview or for work; None: it is a form of ours."""
    if isinstance(question, QuestionForm):
        return None
    proof = proof_for(assignment) if assignment else ""
    if isinstance(question, HTMLQuestion):
        path = reverse("marketplace:question", kwargs={"token": _token(hit, assignment, proof)})
        address = request.build_absolute_uri(path)
    else:
        address = question.url
    url = frame_url(
        address,
        hit_id=hit.hit_id,
        assignment_id=assignment.assignment_id if assignment else None,
        worker_id=assignment.worker.worker_id if assignment else None,
        submit_to=submit_to(request, proof) if assignment else None,
        acceptance=_acceptance(assignment) if assignment else None,
    )
    return Frame(url=url, height=question.frame_height, sandbox=sandbox_for(request, url))


def _acceptance(assignment: Assignment) -> str | None:
    """Return the claim that proves the worker's acceptance to the requester; None: no keys."""
    secrets = secrets_of(assignment.hit.requester)
    if not secrets:
        return None
    accepted = Accepted(
        assignment_id=assignment.assignment_id,
        hit_id=assignment.hit.hit_id,
        worker_id=assignment.worker.worker_id,
        accepted_at=assignment.accepted_at,
        deadline=assignment.deadline,
    )
    return acceptance_claim(accepted, secrets)


def token_read(token: str) -> Shown | None:
    """Return the contents of a token; None if it is not ours or has expired."""
    try:
        shown = msgspec.convert(signing.loads(token, salt=SALT), Shown)
    except (signing.BadSignature, msgspec.ValidationError):
        return None
    # Nothing can be submitted after the deadline, by the database's clock.
    return shown if shown.until + CLOCK_TOLERANCE_SECONDS > time.time() else None


def _token(hit: HIT, assignment: Assignment | None, proof: str) -> str:
    until = assignment.deadline.timestamp() if assignment else time.time() + PREVIEW_SECONDS
    shown = Shown(
        hit=hit.pk,
        assignment_id=assignment.assignment_id if assignment else "",
        until=int(until) + 1,
        proof=proof,
    )
    return signing.dumps(msgspec.to_builtins(shown), salt=SALT)
