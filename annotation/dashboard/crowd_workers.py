"""A campaign's workers: their trust by stage, and researchers' decisions about it."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation import models
from annotation.actions.trust.standing import (
    AppealRefusedError,
    appeal_decide,
    trust_reinstate,
    trust_revoke,
)
from annotation.dashboard.crowd import may_change, require_change
from annotation.dashboard.trust_words import TRUST, event_lines, standing_row
from annotation.dashboard.words import STAGES
from annotation.pipeline.crowd.money import dollars
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust
from annotation.selectors.crowd.workers import standings_of, worker_history, workers_page
from common.web.access import researchers_only

MOST_WORDS = 2000


@login_required
@researchers_only
@require_safe
def workers(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """All workers with a standing in the campaign."""
    campaign = get_object_or_404(models.Campaign, pk=campaign_id)
    trust, stage = request.GET.get("trust", ""), request.GET.get("stage", "")
    trust = trust if trust in TRUST else ""
    stage = stage if stage in STAGES else ""
    name = request.GET.get("name", "").strip()[:100]
    page = workers_page(
        campaign, trust=trust, stage=stage, name=name, page=request.GET.get("page", "1")
    )
    standings = standings_of(campaign, page)
    context = {
        "campaign": campaign,
        "tab": "workers",
        "trust": trust,
        "stage": stage,
        "name": name,
        "is_filtered": bool(trust or stage or name),
        "trusts": [(value.value, words) for value, words in TRUST.items()],
        "stages": [(value.value, words) for value, words in STAGES.items()],
        "page": page,
        "page_numbers": page.paginator.get_elided_page_range(page.number, on_each_side=1),
        "query": urlencode({"trust": trust, "stage": stage, "name": name}),
        "rows": [
            (worker, [standing_row(line) for line in standings.get(worker.pk, ())])
            for worker in page
        ],
    }
    return render(request, "dashboard/crowd_workers.html", context)


@login_required
@researchers_only
@require_safe
def worker(request: HttpRequest, campaign_id: int, worker_id: int) -> HttpResponse:
    """One worker: standings, sittings, payments, history."""
    campaign = get_object_or_404(models.Campaign, pk=campaign_id)
    found = _worker(campaign, worker_id)
    history = worker_history(found, campaign)
    context = {
        "campaign": campaign,
        "tab": "workers",
        "worker": found,
        "may_change": may_change(request),
        "history": history,
        "standings": [standing_row(line) for line in history.standings],
        "events": event_lines(history.events),
        "sittings": [(count, STAGES[count.stage]) for count in history.sittings],
        "paid": dollars(history.paid_cents),
        "payments": [
            (payment, STAGES[Stage(payment.stage)], dollars(payment.cents))
            for payment in history.payments
        ],
        "revoked": Trust.REVOKED,
    }
    return render(request, "dashboard/crowd_worker.html", context)


@login_required
@researchers_only
@require_POST
def trust(request: HttpRequest, campaign_id: int, worker_id: int) -> HttpResponse:
    """Revoke or reinstate a worker at a stage."""
    require_change(request)
    campaign = get_object_or_404(
        models.Campaign.objects.select_related("current_settings"), pk=campaign_id
    )
    found = _worker(campaign, worker_id)
    do, stage = request.POST.get("do", ""), request.POST.get("stage", "")
    reason = request.POST.get("reason", "").strip()[:MOST_WORDS]
    by = request.user.get_username()
    if stage not in STAGES or do not in {"revoke", "reinstate", "trust"}:
        messages.error(request, "There is no such stage or action.")
    elif do == "revoke" and not reason:
        messages.error(request, "Give a reason: the worker will see it.")
    elif do == "revoke":
        at = Stage(stage)
        trust_revoke(campaign=campaign, worker=found, stage=at, reason=reason, by=by)
        messages.success(request, f"{found.name} is no longer trusted with {STAGES[at]}.")
    else:
        at = Stage(stage)
        trust_reinstate(campaign=campaign, worker=found, stage=at, trusted=do == "trust", by=by)
        how = "trusted" if do == "trust" else "on probation"
        messages.success(request, f"{found.name} is {how} at {STAGES[at]} again.")
    return redirect("crowd-worker", campaign_id=campaign.pk, worker_id=found.pk)


@login_required
@researchers_only
@require_POST
def appeal(request: HttpRequest, campaign_id: int, appeal_id: int) -> HttpResponse:
    """Answer an appeal."""
    require_change(request)
    found = get_object_or_404(models.Appeal, pk=appeal_id, standing__campaign_id=campaign_id)
    do = request.POST.get("do", "")
    reply = request.POST.get("reply", "").strip()[:MOST_WORDS]
    if do not in {"reinstate", "refuse"} or not reply:
        messages.error(request, "Choose a decision and write a message to the worker.")
    else:
        try:
            appeal_decide(
                appeal=found,
                reinstate=do == "reinstate",
                reply=reply,
                by=request.user.get_username(),
            )
        except AppealRefusedError as error:
            messages.error(request, str(error))
        else:
            messages.success(request, "The appeal is answered. The worker will get your message.")
    return redirect("crowd", campaign_id=campaign_id)


def _worker(campaign: models.Campaign, worker_id: int) -> models.Worker:
    """Return a worker of the campaign; workers of other campaigns are not found."""
    return get_object_or_404(
        models.Worker.objects.filter(standings__campaign=campaign).distinct(), pk=worker_id
    )
