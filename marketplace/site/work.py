"""At work: the page with the question and the clock, returning, and our own forms."""

from datetime import datetime
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import database_now
from marketplace.actions.assignments import (
    WorkRefusedError,
    assignment_accept_any,
    assignment_return,
    assignment_settle,
    assignment_submit,
)
from marketplace.models import Assignment, Worker
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.rules.questions import QuestionForm, check_form_answers, form_answers_xml
from marketplace.selectors.browse import group_find
from marketplace.selectors.work import assignment_find
from marketplace.site.access import notice, page, worker_required
from marketplace.site.formpage import FormPage, fields_of
from marketplace.site.frames import frame_for, question_of
from marketplace.site.policy import allow_frame, allow_media

NOT_YOURS = "You have no such assignment"
NOT_YOURS_TEXT = "Open “My work” to see the HITs you have accepted."
OVER = {
    AssignmentStatus.RETURNED: "You have returned this HIT. This does not count against you.",
    AssignmentStatus.ABANDONED: "The time for this HIT ran out, and it went to somebody else.",
    AssignmentStatus.ACCEPTED: "The time for this HIT has run out.",
}


@worker_required
@require_http_methods(["GET", "HEAD", "POST"])
def work(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """The question of an assignment, and the address that a form of ours posts to."""
    assignment = assignment_find(worker, number)
    if assignment is None:
        return notice(request, worker, NOT_YOURS, NOT_YOURS_TEXT, status=404)
    now = database_now()
    if assignment.status in (
        AssignmentStatus.SUBMITTED,
        AssignmentStatus.APPROVED,
        AssignmentStatus.REJECTED,
    ):
        return _done(request, worker, assignment)
    if assignment.status != AssignmentStatus.ACCEPTED or assignment.deadline <= now:
        text = OVER[AssignmentStatus(assignment.status)]
        assignment_settle(assignment=assignment)
        return notice(request, worker, "This HIT is no longer yours", text, status=410)
    question = question_of(assignment.hit)
    if isinstance(question, QuestionForm):
        return _form(request, worker, assignment, question, now)
    if request.method == "POST":
        return redirect("marketplace:work", number=number)
    frame = frame_for(request, assignment.hit, question, assignment)
    assert frame is not None
    response = page(
        request, worker, "work.html", _context(request, assignment, now) | {"frame": frame}
    )
    return allow_frame(response, frame.url)


def _form(
    request: HttpRequest,
    worker: Worker,
    assignment: Assignment,
    question: QuestionForm,
    now: datetime,
) -> HttpResponse:
    problems = []
    fields: list[tuple[str, str]] | None = None
    if request.method == "POST":
        fields = fields_of(request.POST)
        problems = check_form_answers(question, fields)
        if not problems:
            try:
                assignment_submit(assignment=assignment, answer=form_answers_xml(question, fields))
            except WorkRefusedError as error:
                return notice(
                    request, worker, "Your answers were not submitted", str(error), status=409
                )
            return _go_on(request, worker, assignment)
    context = _context(request, assignment, now)
    context["form_page"] = FormPage(question, fields, problems)
    status = 400 if problems else 200
    return allow_media(page(request, worker, "work.html", context, status=status))


def _go_on(request: HttpRequest, worker: Worker, assignment: Assignment) -> HttpResponse:
    """After a form: go to the next HIT if the worker wants that, else show the result."""
    if request.POST.get("auto"):
        try:
            made = assignment_accept_any(hit_type_id=assignment.hit.hit_type_id, worker=worker)
        except WorkRefusedError as error:
            messages.warning(request, str(error))
        else:
            path = reverse("marketplace:work", kwargs={"number": made.assignment_id})
            return redirect(f"{path}?auto=1")
    return redirect("marketplace:work", number=assignment.assignment_id)


def _done(request: HttpRequest, worker: Worker, assignment: Assignment) -> HttpResponse:
    context = {
        "assignment": assignment,
        "group": group_find(worker, assignment.hit.hit_type),
        "section": "work",
    }
    return page(request, worker, "submitted.html", context)


def _context(request: HttpRequest, assignment: Assignment, now: datetime) -> dict[str, Any]:
    given = request.POST if request.method == "POST" else request.GET
    return {
        "assignment": assignment,
        "hit_type": assignment.hit.hit_type,
        "seconds_left": int((assignment.deadline - now).total_seconds()),
        "auto": bool(given.get("auto")),
        "section": "work",
    }


@worker_required
@require_POST
def give_back(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """Return an assignment."""
    assignment = assignment_find(worker, number)
    if assignment is None:
        return notice(request, worker, NOT_YOURS, NOT_YOURS_TEXT, status=404)
    try:
        assignment_return(assignment=assignment)
    except WorkRefusedError as error:
        return notice(request, worker, "The HIT was not returned", str(error), status=409)
    messages.success(request, "You have returned the HIT. This does not count against you.")
    return redirect("marketplace:group", number=assignment.hit.hit_type.hit_type_id)


@worker_required
@require_safe
def status(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """Tell the work page, which asks every few seconds, whether the frame has submitted."""
    assignment = assignment_find(worker, number)
    if assignment is None:
        return JsonResponse({"status": "unknown"}, status=404)
    left = (assignment.deadline - database_now()).total_seconds()
    response = JsonResponse({"status": assignment.status, "seconds_left": max(0, int(left))})
    response.headers["Cache-Control"] = "no-store"
    return response
