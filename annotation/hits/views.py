"""The task pages: the task or its preview, its qualification test, its examples.

Opening a page writes nothing and uses no cookies; the script opens the sitting.
"""

from collections.abc import Callable
from functools import wraps
from typing import Literal

import msgspec
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe
from msgspec.structs import replace

from annotation import models
from annotation.hits import wire
from annotation.hits.arrivals import Arrival, ArrivalError, arrival_read
from annotation.hits.presentation import consent_text, guide_shown, lesson_items
from annotation.hits.tokens import sitting_key, ticket_seconds, ticket_write
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.guides import StageGuide
from annotation.selectors.work.guides import consent_guide, stage_guide
from annotation.selectors.work.sittings import campaign_find, has_consented
from common.web.csp import policy_set

RETURN_IT = "You can return the HIT; this does not count against you."


class _Task(msgspec.Struct, frozen=True):
    campaign: models.Campaign
    stage: Stage
    guide: StageGuide


Mode = Literal["work", "test", "preview", "examples", "problem"]
View = Callable[[HttpRequest, _Task], HttpResponse]


def _task_page(view: View) -> Callable[[HttpRequest, int, str], HttpResponse]:
    @require_safe
    @xframe_options_exempt
    @wraps(view)
    def wrapped(request: HttpRequest, campaign_id: int, stage: str) -> HttpResponse:
        task = _find(campaign_id, stage)
        return _with_headers(view(request, task) if task else _nothing_here())

    return wrapped


@_task_page
def page(request: HttpRequest, task: _Task) -> HttpResponse:
    """The task itself, or a preview with one example before the HIT is accepted."""
    return _work_page(request, task, SittingKind.WORK)


@_task_page
def test(request: HttpRequest, task: _Task) -> HttpResponse:
    """The stage's qualification test, in the same interface."""
    if not task.guide.test:
        problem = wire.PageProblem(
            title="There is no test", text=f"This task has no qualification test. {RETURN_IT}"
        )
        return _render(replace(_page(task, "problem"), problem=problem), 404)
    return _work_page(request, task, SittingKind.TEST)


@_task_page
def examples(request: HttpRequest, task: _Task) -> HttpResponse:
    """Worked examples: question, answer, reason."""
    items = lesson_items(task.guide.examples, task.campaign, task.stage, explained=True)
    return _render(replace(_page(task, "examples"), items=items))


def _find(campaign_id: int, stage: str) -> _Task | None:
    if stage not in [known.value for known in Stage]:
        return None
    # Larger numbers do not fit into the database.
    campaign = campaign_find(campaign_id) if campaign_id < 2**63 else None
    if campaign is None:
        return None
    return _Task(
        campaign=campaign, stage=Stage(stage), guide=stage_guide(campaign, Stage(stage)).guide
    )


def _work_page(request: HttpRequest, task: _Task, kind: SittingKind) -> HttpResponse:
    try:
        arrival = arrival_read(request.GET, task.campaign.pk, task.stage, kind)
    except ArrivalError as error:
        problem = wire.PageProblem(
            title="This page was not opened from the marketplace", text=f"{error} {RETURN_IT}"
        )
        return _render(replace(_page(task, "problem"), problem=problem), 400)
    if arrival is None:
        items = lesson_items(task.guide.examples, task.campaign, task.stage, explained=False)
        return _render(replace(_page(task, "preview"), items=items[:1]))
    return _render(_accepted(task, arrival))


def _accepted(task: _Task, arrival: Arrival) -> wire.Page:
    claim = arrival.claim
    consent = None
    if not has_consented(task.campaign, claim):
        consent = consent_text(consent_guide(task.campaign))
    return replace(
        _page(task, "test" if claim.kind == SittingKind.TEST else "work"),
        token=ticket_write(claim, ticket_seconds(task.campaign)),
        submit_url=arrival.submit_url,
        assignment_id=claim.assignment_id,
        sitting_key=sitting_key(claim),
        consent=consent,
    )


def _page(task: _Task, mode: Mode) -> wire.Page:
    return wire.Page(
        mode=mode,
        stage=task.stage,
        guide=guide_shown(task.guide, task.campaign.pk, task.stage),
        api=reverse("hits:api-open").removesuffix("open"),
    )


def _render(page: wire.Page, status: int = 200) -> HttpResponse:
    # Without the request: the usual template context would read cookies.
    html = render_to_string(
        "hits/page.html", {"title": page.guide.title, "page": msgspec.to_builtins(page)}
    )
    return HttpResponse(html, status=status)


def _nothing_here() -> HttpResponse:
    return HttpResponse(render_to_string("hits/nothing.html"), status=404)


def _with_headers(response: HttpResponse) -> HttpResponse:
    """Let only the marketplaces show the page in a frame and receive its form."""
    origins = " ".join(settings.CHAINBOX_MARKETPLACE_ORIGINS) or "'none'"
    policy_set(response, frame_ancestors=origins, form_action=origins)
    response.headers["Cache-Control"] = "no-store"
    # The examples open from a sandboxed frame, and browsers refuse such a window any other policy.
    response.headers["Cross-Origin-Opener-Policy"] = "unsafe-none"
    response.headers["Referrer-Policy"] = "no-referrer"
    return response
