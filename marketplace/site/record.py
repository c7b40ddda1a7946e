"""A worker's own record: work under way and done, earnings, messages."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common.clock import database_now
from marketplace.actions.workers import messages_mark_read
from marketplace.models import Worker
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.selectors.earnings import (
    balance_of,
    bonuses_of,
    earned_in_all,
    earnings_by_day,
)
from marketplace.selectors.work import (
    assignments_done,
    assignments_in_progress,
    messages_of,
    record_of,
)
from marketplace.site.access import page, worker_required

PER_PAGE = 25
SHOWN_BONUSES = 100
STATUSES = {
    "": "All",
    AssignmentStatus.SUBMITTED.value: "Waiting",
    AssignmentStatus.APPROVED.value: "Approved",
    AssignmentStatus.REJECTED.value: "Rejected",
}


@worker_required
@require_safe
def dashboard(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Work under way, and the outcome of submitted work."""
    status = request.GET.get("status", "")
    if status not in STATUSES:
        status = ""
    record = record_of(worker)
    totals = {
        "": record.submitted + record.approved + record.rejected,
        AssignmentStatus.SUBMITTED.value: record.submitted,
        AssignmentStatus.APPROVED.value: record.approved,
        AssignmentStatus.REJECTED.value: record.rejected,
    }
    done = Paginator(assignments_done(worker, status), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "record": record,
        "balance": balance_of(worker),
        "in_progress": assignments_in_progress(worker, database_now()),
        "done": done,
        "pages": done.paginator.get_elided_page_range(done.number, on_each_side=1),
        "kept": f"status={status}" if status else "",
        "status": status,
        "filters": [(key, label, totals[key]) for key, label in STATUSES.items()],
        "section": "work",
    }
    return page(request, worker, "dashboard.html", context)


@worker_required
@require_safe
def earnings(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Earnings: in total, by day, and bonuses with their reasons."""
    rewards, bonuses = earned_in_all(worker)
    context = {
        "balance": balance_of(worker),
        "rewards": rewards,
        "bonuses": bonuses,
        "total": rewards + bonuses,
        "days": earnings_by_day(worker),
        "bonus_list": list(bonuses_of(worker)[:SHOWN_BONUSES]),
        "section": "earnings",
    }
    return page(request, worker, "earnings.html", context)


@worker_required
@require_safe
def inbox(request: HttpRequest, worker: Worker) -> HttpResponse:
    """Messages from requesters; showing them marks them as read."""
    shown = Paginator(messages_of(worker), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "inbox": shown,
        "pages": shown.paginator.get_elided_page_range(shown.number, on_each_side=1),
        "kept": "",
        "section": "messages",
    }
    response = page(request, worker, "messages.html", context)
    if request.method == "GET":
        messages_mark_read(worker=worker, ids=[message.pk for message in shown])
    return response
