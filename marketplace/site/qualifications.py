"""Qualifications: held, requested, on offer; requesting one, and tests against the clock."""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.clock import database_now
from marketplace.actions.assignments import WorkRefusedError
from marketplace.actions.requests import attempt_start, qualification_request, request_refusal
from marketplace.models import QualificationType, TestAttempt, Worker
from marketplace.rules.questions import Problem, check_form_answers, parse_test
from marketplace.selectors.work import (
    attempt_open,
    qualification_of,
    qualification_type_find,
    qualification_types_offered,
    qualifications_held,
    requests_of,
)
from marketplace.site.access import notice, page, worker_required
from marketplace.site.formpage import FormPage, fields_of
from marketplace.site.policy import allow_media

PER_PAGE = 25
NONE = "There is no such qualification"
NONE_TEXT = "Its requester may have withdrawn it."


@worker_required
@require_safe
def qualifications(request: HttpRequest, worker: Worker) -> HttpResponse:
    """The qualifications that the worker holds, has requested, and could request."""
    text = request.GET.get("text", "")[:100].replace("\0", "")
    offered = Paginator(qualification_types_offered(worker, text), PER_PAGE).get_page(
        request.GET.get("page")
    )
    kept = request.GET.copy()
    kept.pop("page", None)
    context = {
        "held": qualifications_held(worker),
        "requests": requests_of(worker),
        "offered": offered,
        "pages": offered.paginator.get_elided_page_range(offered.number, on_each_side=1),
        "kept": kept.urlencode(),
        "text": text,
        "section": "qualifications",
    }
    return page(request, worker, "qualifications.html", context)


@worker_required
@require_safe
def qualification(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """One qualification, and how to get it."""
    found = qualification_type_find(number)
    if found is None:
        return notice(request, worker, NONE, NONE_TEXT, status=404)
    context = {
        "type": found,
        "held": qualification_of(worker, found),
        "attempt": attempt_open(worker, found, database_now()),
        "refusal": request_refusal(qualification_type=found, worker=worker),
        "section": "qualifications",
    }
    return page(request, worker, "qualification.html", context)


@worker_required
@require_POST
def request_make(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """Request a qualification; if it has a test, begin it."""
    found = qualification_type_find(number)
    if found is None:
        return notice(request, worker, NONE, NONE_TEXT, status=404)
    try:
        if found.test:
            attempt_start(qualification_type=found, worker=worker)
            return redirect("marketplace:test", number=number)
        outcome = qualification_request(qualification_type=found, worker=worker)
    except WorkRefusedError as error:
        messages.warning(request, str(error))
    else:
        if outcome.is_granted:
            messages.success(request, f"You now have this qualification: {outcome.value}.")
        else:
            messages.success(request, "Your request was sent to the requester.")
    return redirect("marketplace:qualification", number=number)


@worker_required
@require_http_methods(["GET", "HEAD", "POST"])
def qualification_test(request: HttpRequest, worker: Worker, number: str) -> HttpResponse:
    """The test of a qualification that the worker has begun."""
    found = qualification_type_find(number)
    if found is None or not found.test:
        return notice(request, worker, NONE, NONE_TEXT, status=404)
    attempt = attempt_open(worker, found, database_now())
    if attempt is None:
        return notice(
            request,
            worker,
            "This test is not open",
            "You have not started it, you have already submitted it, or its time has run out.",
            status=410,
        )
    if request.method != "POST":
        return _show(request, worker, found, attempt, None, [])
    fields = fields_of(request.POST)
    problems = check_form_answers(parse_test(found.test), fields)
    if problems:
        return _show(request, worker, found, attempt, fields, problems)
    try:
        outcome = qualification_request(qualification_type=found, worker=worker, fields=fields)
    except WorkRefusedError as error:
        return notice(request, worker, "Your answers were not accepted", str(error), status=409)
    if outcome.is_granted:
        messages.success(request, f"Your test has been graded. Your score is {outcome.value}.")
    else:
        messages.success(request, "Your answers were sent to the requester, who will decide.")
    return redirect("marketplace:qualification", number=number)


def _show(
    request: HttpRequest,
    worker: Worker,
    found: QualificationType,
    attempt: TestAttempt,
    fields: list[tuple[str, str]] | None,
    problems: list[Problem],
) -> HttpResponse:
    context = {
        "type": found,
        "attempt": attempt,
        "seconds_left": int((attempt.deadline - database_now()).total_seconds()),
        "form_page": FormPage(parse_test(found.test), fields, problems),
        "section": "qualifications",
    }
    status = 400 if problems else 200
    return allow_media(page(request, worker, "test.html", context, status=status))
