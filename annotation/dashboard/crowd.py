"""A campaign's crowd page: published HITs, costs, warnings."""

from typing import Any

import msgspec
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from annotation import models
from annotation.actions.campaign.launch import LaunchRefusedError, campaign_launch
from annotation.actions.crowd.supply import SupplyError, supply_set
from annotation.dashboard.bars import Segment, stacked
from annotation.dashboard.crowd_estimate import estimate_shown
from annotation.dashboard.trust_words import BADGES, TRUST, standing_row
from annotation.dashboard.words import STAGES
from annotation.models import CallStatus, SupplyStatus
from annotation.pipeline.crowd.money import dollars
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust
from annotation.selectors.campaign.launch import launch_checks
from annotation.selectors.crowd.heartbeat import LATE_SECONDS, heartbeat_age
from annotation.selectors.crowd.money import CampaignMoney, StageMoney, campaign_money
from annotation.selectors.crowd.outbox import calls_count, calls_failed
from annotation.selectors.crowd.supply import StageSupplyRow, stage_supplies
from annotation.selectors.crowd.workers import appeals_open, standing_lines, standings_count
from common.redis_service import redis_is_away
from common.web.access import researchers_only

STATUSES: dict[SupplyStatus, str] = {
    SupplyStatus.RUNNING: "Running",
    SupplyStatus.PAUSED: "Paused",
    SupplyStatus.DRAINING: "Draining",
}
BADGE_OF: dict[SupplyStatus, str] = {
    SupplyStatus.RUNNING: "finished",
    SupplyStatus.PAUSED: "review",
    SupplyStatus.DRAINING: "open",
}
# The buttons' effects, and the message that follows.
CHANGES: dict[str, tuple[SupplyStatus, str]] = {
    "resume": (SupplyStatus.RUNNING, "running"),
    "pause": (SupplyStatus.PAUSED, "paused: waiting HITs are being withdrawn"),
    "drain": (SupplyStatus.DRAINING, "draining: no HITs are added"),
}
PEOPLE_ORDER = (Trust.TRUSTED, Trust.PROBATION, Trust.TESTING, Trust.NEW, Trust.REVOKED)


class StageLine(msgspec.Struct, frozen=True):
    """A stage as the page shows it."""

    name: str
    supply: StageSupplyRow
    status: str
    badge: str
    # The buttons shown for it: value and label.
    changes: tuple[tuple[str, str], ...]
    money: StageMoney
    price: str
    paid: str
    promised: str
    median: str
    wage: str
    people: tuple[tuple[str, str, int], ...]


def may_change(request: HttpRequest) -> bool:
    return request.user.has_perm("annotation.change_campaign")


def require_change(request: HttpRequest) -> None:
    """Refuse accounts that may only view."""
    if not may_change(request):
        raise PermissionDenied


@login_required
@researchers_only
@require_safe
def crowd(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """The crowd page."""
    campaign = _campaign(campaign_id)
    supplies = stage_supplies(campaign)
    money = campaign_money(campaign)
    counts = calls_count(campaign)
    is_launched = any(row.status is not None for row in supplies)
    checks = () if is_launched else launch_checks(campaign)
    appeals = appeals_open(campaign)
    context: dict[str, Any] = {
        "campaign": campaign,
        "tab": "crowd",
        "may_change": may_change(request),
        "is_launched": is_launched,
        "status": _status(supplies),
        "changes": _changes({row.status for row in supplies}),
        "checks": checks,
        "lacking": sum(not check.is_fine for check in checks),
        "stages": _stages(supplies, money, standings_count(campaign)),
        "money": _money(money),
        "warnings": [stage.warning for stage in money.stages if stage.warning],
        "appeals": [
            (appeal, standing_row(line))
            for appeal, line in zip(
                appeals, standing_lines(a.standing for a in appeals), strict=True
            )
        ],
        "calls": counts,
        "failed": calls_failed(campaign) if counts[CallStatus.FAILED] else [],
        "alive": _alive(),
        "estimate": estimate_shown(campaign, request.user),
    }
    return render(request, "dashboard/crowd.html", context)


@login_required
@researchers_only
@require_POST
def supply(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """Launch, pause, resume or drain: the campaign, or one stage of it."""
    require_change(request)
    campaign = _campaign(campaign_id)
    do, stage = request.POST.get("do", ""), request.POST.get("stage", "")
    if do == "launch":
        _launch(request, campaign)
    elif do not in CHANGES or (stage and stage not in STAGES):
        messages.error(request, "There is no such stage or action.")
    else:
        status, words = CHANGES[do]
        stages = (Stage(stage),) if stage else tuple(Stage)
        try:
            supply_set(campaign=campaign, stages=stages, status=status)
        except SupplyError as error:
            messages.error(request, f"Nothing has changed: {error}.")
        else:
            what = STAGES[Stage(stage)] if stage else "The campaign"
            messages.success(request, f"{what} is {words}.")
    return redirect("crowd", campaign_id=campaign.pk)


def _launch(request: HttpRequest, campaign: models.Campaign) -> None:
    try:
        campaign_launch(campaign=campaign)
    except LaunchRefusedError as error:
        messages.error(request, f"Not launched: {'; '.join(error.problems)}.")
    else:
        messages.success(request, "Launched: HITs for all stages are being published.")


def _campaign(campaign_id: int) -> models.Campaign:
    campaigns = models.Campaign.objects.select_related("current_settings")
    return get_object_or_404(campaigns, pk=campaign_id)


def _status(supplies: tuple[StageSupplyRow, ...]) -> tuple[str, str]:
    """Return the campaign's status in words, and the badge's colour."""
    found = {row.status for row in supplies}
    if found == {None}:
        return "Not launched", "new"
    if len(found) > 1:
        return "Partly running", "open"
    (status,) = found
    assert status is not None
    return STATUSES[status], BADGE_OF[status]


def _changes(found: set[SupplyStatus | None]) -> tuple[tuple[str, str], ...]:
    """Return the buttons that would change something for stages in these states."""
    words = {"resume": "Resume", "pause": "Pause", "drain": "Drain"}
    return tuple(
        (name, words[name])
        for name, (status, _) in CHANGES.items()
        if found - {None} and found != {status}
    )


def _stages(
    supplies: tuple[StageSupplyRow, ...],
    money: CampaignMoney,
    people: dict[Stage, dict[Trust, int]],
) -> list[StageLine]:
    return [
        StageLine(
            name=STAGES[row.stage],
            supply=row,
            status=STATUSES[row.status] if row.status else "Not launched",
            badge=BADGE_OF[row.status] if row.status else "new",
            changes=_changes({row.status}),
            money=paid,
            price=dollars(paid.price),
            paid=dollars(paid.paid),
            promised=dollars(paid.promised),
            wage="–" if paid.wage is None else dollars(paid.wage),
            median="–" if paid.median_seconds is None else f"{paid.median_seconds:.0f} s",
            people=tuple(
                (TRUST[trust], BADGES[trust], people[row.stage][trust])
                for trust in PEOPLE_ORDER
                if people[row.stage].get(trust)
            ),
        )
        for row, paid in zip(supplies, money.stages, strict=True)
    ]


def _money(money: CampaignMoney) -> dict[str, Any]:
    unspent = max(0, money.budget - money.paid - money.promised)
    bar: list[Segment] = stacked(
        [
            ("paid", "Paid", money.paid),
            ("promised", "Promised", money.promised),
            ("unspent", "Unspent", unspent),
        ],
        max(money.budget, money.paid + money.promised),
    )
    return {
        "bar": [(part, dollars(part.count)) for part in bar],
        "budget": dollars(money.budget),
        "daily_budget": dollars(money.daily_budget),
        "paid": dollars(money.paid),
        "paid_today": dollars(money.paid_today),
        "promised": dollars(money.promised),
        "left": dollars(max(0, money.left)),
        "is_short": money.left <= 0,
        "floor": dollars(money.stages[0].floor),
    }


def _alive() -> dict[str, Any]:
    if redis_is_away():
        return {"is_late": True, "words": "cannot run while Redis is not responding"}
    age = heartbeat_age()
    if age is None:
        return {"is_late": True, "words": "does not seem to have run yet"}
    if age < LATE_SECONDS:
        return {"is_late": False, "words": f"ran {age:.0f} seconds ago"}
    minutes = int(age // 60)
    words = f"{minutes:,} minutes" if minutes < 120 else f"{minutes // 60:,} hours"
    return {"is_late": True, "words": f"last ran {words} ago"}
