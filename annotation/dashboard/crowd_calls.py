"""The outbox: our calls to the marketplace, and those it refused."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation import models
from annotation.actions.crowd.outbox import call_retry
from annotation.dashboard.crowd import may_change, require_change
from annotation.models import CallStatus, Operation
from annotation.selectors.crowd.outbox import calls_count, calls_page
from common.web.access import researchers_only

STATUSES = {
    CallStatus.FAILED.value: "Failed",
    CallStatus.WAITING.value: "Waiting",
    CallStatus.DONE.value: "Done",
    CallStatus.DROPPED.value: "Dropped",
}
# The purpose of a call.
OPERATIONS: dict[str, str] = {
    Operation.CREATE_HIT.value: "Publish a HIT",
    Operation.EXPIRE_HIT.value: "Withdraw a HIT",
    Operation.APPROVE.value: "Pay an assignment",
    Operation.REJECT.value: "Reject an assignment",
    Operation.BONUS.value: "Pay a bonus",
    Operation.QUALIFY.value: "Set a qualification",
    Operation.MESSAGE.value: "Message a worker",
}


@login_required
@researchers_only
@require_safe
def calls(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """All calls of the campaign, newest first."""
    campaign = get_object_or_404(models.Campaign, pk=campaign_id)
    counts = calls_count(campaign)
    status = request.GET.get("status", "")
    status = status if status in STATUSES else ""
    page = calls_page(campaign, counts=counts, status=status, page=request.GET.get("page", "1"))
    shown = [("", "All", sum(counts.values()))]
    shown += [(value, words, counts[value]) for value, words in STATUSES.items()]
    context = {
        "campaign": campaign,
        "tab": "calls",
        "may_change": may_change(request),
        "status": status,
        "filters": [(value, words, count, value == status) for value, words, count in shown],
        "page": page,
        "page_numbers": page.paginator.get_elided_page_range(page.number, on_each_side=1),
        "rows": [(call, OPERATIONS[call.operation], STATUSES[call.status]) for call in page],
    }
    return render(request, "dashboard/crowd_calls.html", context)


@login_required
@researchers_only
@require_POST
def retry(request: HttpRequest, campaign_id: int, call_id: int) -> HttpResponse:
    """Retry a failed call."""
    require_change(request)
    call = get_object_or_404(models.OutboxCall, pk=call_id, campaign_id=campaign_id)
    if call.status != CallStatus.FAILED:
        messages.info(request, f"{call.key} has not failed: it is {call.status}.")
    else:
        call_retry(call=call)
        messages.success(request, f"{call.key} will be sent again.")
    return redirect("crowd-calls", campaign_id=campaign_id)
