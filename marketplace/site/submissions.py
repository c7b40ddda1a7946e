"""Addresses for frames: externalSubmit, and the pages of HTMLQuestions. They need no cookies."""

from django.core.exceptions import BadRequest, RequestDataTooBig, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.shortcuts import render
from django.templatetags.static import static
from django.utils.crypto import constant_time_compare
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

from common.clock import database_now
from common.rows import only_row
from marketplace.actions.assignments import WorkRefusedError, assignment_submit
from marketplace.models import HIT, Assignment
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.rules.questions import (
    PREVIEW_ASSIGNMENT,
    HTMLQuestion,
    QuestionForm,
    answers_xml,
)
from marketplace.rules.questions.answers import RESERVED
from marketplace.selectors.work import holder_find
from marketplace.site.access import account_of
from marketplace.site.frames import proof_for, question_of, submit_to, token_read
from marketplace.site.htmlpage import page_for_frame
from marketplace.site.policy import allow_framing, confine_html

# Larger than any form that people fill in.
MAX_BYTES = 2_000_000
STILL_YOURS = "If you have accepted this HIT, it is still assigned to you: try again, or return it."
PROBLEM = "There was a problem submitting your results for this HIT"


# The assignment id is the permission: the requester's frame has no cookies, and its form cannot
# send a token of ours. If other workers have had the id, it is not enough: then turkSubmitTo, to
# which the form is sent, holds the proof.
@csrf_exempt
@xframe_options_exempt
def external_submit(request: HttpRequest, proof: str = "") -> HttpResponse:
    """Accept the answers that the page in the frame posts for the worker."""
    if request.method != "POST":
        response = _result(request, PROBLEM, "The page must send a form by POST.", 405)
        response.headers["Allow"] = "POST"
        return response
    try:
        fields = _fields(request)
    except (RequestDataTooBig, TooManyFieldsSent):
        return _result(request, PROBLEM, f"It was too large. {STILL_YOURS}", 413)
    except (BadRequest, MultiPartParserError):
        return _result(request, PROBLEM, f"The form could not be read. {STILL_YOURS}", 400)
    assignment_id = next((value for name, value in fields if name == "assignmentId"), "")
    if assignment_id == PREVIEW_ASSIGNMENT:
        return _result(
            request, "This was a preview", "Accept the HIT before you submit anything.", 409
        )
    if not assignment_id:
        return _result(request, PROBLEM, f"The form had no assignmentId. {STILL_YOURS}", 400)
    if all(name in RESERVED for name, _ in fields):
        return _result(request, PROBLEM, f"The form had no answers in it. {STILL_YOURS}", 400)
    assignment = holder_find(assignment_id)
    if assignment is None or _is_another(request, assignment, fields, proof):
        return _result(request, PROBLEM, "You have no such assignment.", 404)
    return _submit(request, assignment, fields)


def _submit(
    request: HttpRequest, assignment: Assignment, fields: list[tuple[str, str]]
) -> HttpResponse:
    if assignment.status in (AssignmentStatus.RETURNED, AssignmentStatus.ABANDONED):
        return _result(request, PROBLEM, "This assignment was returned, or its time ran out.", 410)
    if assignment.status != AssignmentStatus.ACCEPTED:
        return _result(
            request, "Already submitted", "Your first answers count. Nothing has changed.", 409
        )
    if assignment.deadline <= database_now():
        return _result(request, PROBLEM, "The time for this assignment has run out.", 410)
    if isinstance(question_of(assignment.hit), QuestionForm):
        # The form's own view checks its answers.
        return _result(
            request, PROBLEM, f"This HIT has its own form; submit that one. {STILL_YOURS}", 409
        )
    try:
        assignment_submit(assignment=assignment, answer=answers_xml(fields))
    except WorkRefusedError as error:
        return _result(request, PROBLEM, str(error), 409)
    return _result(
        request,
        "Submitted",
        "Your answers have been sent to the requester. Thank you.",
        200,
        assignment,
    )


def _fields(request: HttpRequest) -> list[tuple[str, str]]:
    """Return all fields in their order, those of the address first."""
    # Files are not accepted; a body with large ones must not even be read.
    length = str(request.META.get("CONTENT_LENGTH") or 0)
    if not length.isdecimal() or len(length) > 9 or int(length) > MAX_BYTES:
        raise RequestDataTooBig
    return [
        (name, value)
        for given in (request.GET, request.POST)
        for name, values in given.lists()
        for value in values
    ]


def _is_another(
    request: HttpRequest, assignment: Assignment, fields: list[tuple[str, str]], proof: str
) -> bool:
    """Tell whether somebody other than the assignment's worker sent this.

    A returned id may belong to another worker by now, and its earlier workers know it. Then the id
    is not enough: the page's own address, the opaque workerId or the session must match too.
    """
    worker = assignment.worker
    claimed = {value for name, value in fields if name == "workerId" and value}
    user = account_of(request)
    if claimed - {worker.worker_id} or (user is not None and user.pk != worker.user_id):
        return True
    wanted = proof_for(assignment)
    if proof:
        return not constant_time_compare(proof.rstrip("/"), wanted)
    return bool(wanted) and not claimed and user is None


def _result(
    request: HttpRequest, title: str, text: str, status: int, done: Assignment | None = None
) -> HttpResponse:
    context = {"title": title, "text": text, "done": done, "is_good": status == 200}
    response = render(request, "marketplace/frame_result.html", context, status=status)
    response.headers["Cache-Control"] = "no-store"
    return allow_framing(response)


@xframe_options_exempt
@require_safe
def question(request: HttpRequest, token: str) -> HttpResponse:
    """The page of an HTMLQuestion, for our frame. The signed address is the permission."""
    shown = token_read(token)
    hit = only_row(HIT.objects.filter(pk=shown.hit, disposed_at=None)) if shown else None
    if shown is None or hit is None:
        return _result(request, "This page has expired", "Reload the whole page.", 410)
    asked = question_of(hit)
    if not isinstance(asked, HTMLQuestion):
        return _result(request, "There is no such page", "This HIT has no page of its own.", 404)
    html = page_for_frame(
        asked.html,
        submit_url=submit_to(request, shown.proof) + "/mturk/externalSubmit",
        assignment_id=shown.assignment_id or PREVIEW_ASSIGNMENT,
        old_script=request.build_absolute_uri(static("marketplace/external-hit.js")),
        crowd_script=request.build_absolute_uri(static("marketplace/crowd-form.js")),
    )
    response = HttpResponse(html, content_type="text/html; charset=utf-8")
    confine_html(response)
    response.headers["Cache-Control"] = "no-store"
    return response
