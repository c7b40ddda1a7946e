"""A campaign's estimated costs: start an estimate, and show the latest on the crowd page."""

from typing import Any

import msgspec
from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from annotation import models
from annotation.actions.campaign.estimates import EstimateUnderWayError, estimate_ask
from annotation.dashboard.words import STAGES
from annotation.pipeline.crowd.money import Costs, dollars
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.campaign.estimates import campaign_estimates
from annotation.simulation.estimate_job import SAMPLE_IMAGES, SAMPLE_RUNS
from annotation.simulation.estimates import CampaignEstimate
from common.web.access import researchers_only

PERMISSION = "annotation.estimate_campaign"


@login_required
@researchers_only
@permission_required(PERMISSION, raise_exception=True)
@require_POST
def estimate(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Start an estimate in the background."""
    campaigns = models.Campaign.objects.select_related("current_settings")
    campaign = get_object_or_404(campaigns, pk=campaign_id)
    assert isinstance(request.user, User)  # the decorators require it
    try:
        estimate_ask(campaign=campaign, by=request.user)
    except EstimateUnderWayError:
        messages.info(request, "An estimate for this campaign is already running.")
    return redirect(f"{reverse('crowd', args=[campaign.pk])}#estimate")


def estimate_shown(campaign: models.Campaign, user: Any) -> dict[str, Any]:
    """Return what the page shows about the costs: the last estimate, and the one under way."""
    under_way, last = campaign_estimates(campaign)
    return {
        "under_way": under_way,
        "last": last,
        "result": _result(last) if last and last.body else None,
        "is_outdated": bool(last and last.settings_id != campaign.current_settings_id),
        "may_ask": under_way is None and user.has_perm(PERMISSION),
        "images": SAMPLE_IMAGES,
        "runs": SAMPLE_RUNS,
    }


def _result(stored: models.StoredEstimate) -> dict[str, Any]:
    found = msgspec.json.decode(stored.body, type=CampaignEstimate)
    crowd = stored.settings.settings.crowd
    rows = []
    for stage in Stage:
        questions, judgments = found.questions[stage].mean, found.judgments[stage].mean
        rows.append(
            {
                "name": STAGES[stage],
                "questions": questions,
                "each": f"{judgments / questions:.2f}" if questions else "–",
                "hits": found.estimate.hits[stage].mean,
                "price": dollars(crowd.price_cents[stage]),
                "cost": dollars(found.estimate.cents[stage].mean),
                "range": _range(found.estimate.cents[stage]),
            }
        )
    return {
        "rows": rows,
        "total": dollars(found.total_cents.mean),
        "range": _range(found.total_cents),
        "images": found.images,
        "sample": found.sample,
        "runs": len(found.seeds),
        "guessed": f"{1 - found.from_key:.0%}" if found.from_key < 1 else "",
        "fee": crowd.fee_percent,
    }


def _range(costs: Costs) -> str:
    return f"{dollars(costs.low)} to {dollars(costs.high)}"
