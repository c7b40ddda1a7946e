"""The dashboard's read-only pages."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.files.storage import default_storage
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from annotation import models
from annotation.dashboard.bars import Segment, longest_of, per_cent, stacked
from annotation.dashboard.picture import (
    caption_lines,
    chain_lines,
    colour_of,
    drawn_boxes,
    waiting_phrases,
)
from annotation.dashboard.words import (
    CAPTION_REASON,
    PHASES,
    STAGES,
    STATUSES,
    fact_words,
    question_words,
)
from annotation.models import ImageStatus
from annotation.pipeline.engine import open_questions
from annotation.pipeline.protocol.facts import decode_body
from annotation.pipeline.protocol.state import ImageState
from annotation.selectors.campaign.overview import (
    CampaignSummary,
    CampaignWork,
    campaign_summaries,
    campaign_work,
    image_facts,
    image_find,
    image_neighbours,
    images_page,
    recent_facts,
)
from annotation.selectors.corpus.photos import PhotoExpiredError, photo_find, photo_url
from common.web.access import researchers_only

# The newest facts are shown at once, the others on request.
RECENT_SHOWN = 8
FACTS_SHOWN = 12


@login_required
@researchers_only
@require_safe
def campaigns(request: HttpRequest) -> HttpResponse:
    """All campaigns, or how to start one if there are none."""
    cards = [
        {"summary": summary, "progress": _progress(summary), "finished": _finished(summary)}
        for summary in campaign_summaries()
    ]
    return render(request, "dashboard/campaigns.html", {"cards": cards, "section": "campaigns"})


@login_required
@researchers_only
@require_safe
def campaign(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """One campaign: progress, recent activity, images."""
    found = get_object_or_404(models.Campaign, pk=campaign_id)
    work = campaign_work(found)
    status = request.GET.get("status", "")
    if status not in STATUSES:
        status = ""
    page = images_page(
        found, statuses=work.statuses, status=status, page=request.GET.get("page", "1")
    )
    recent = [_fact_line(fact, _state(fact.image)) for fact in recent_facts(found)]
    context = {
        "campaign": found,
        "work": work,
        "progress": _progress(work),
        "finished": _finished(work),
        "stages": _stage_rows(work),
        "phases": _phase_rows(work),
        "reasons": [(r.reason or CAPTION_REASON, r) for r in work.reasons],
        "recent": recent[:RECENT_SHOWN],
        "more_recent": recent[RECENT_SHOWN:],
        "filters": _filters(work, status),
        "status": status,
        "status_words": STATUSES.get(status, ""),
        "page": page,
        "page_numbers": page.paginator.get_elided_page_range(page.number, on_each_side=1),
        "cards": [_image_card(image) for image in page],
    }
    return render(request, "dashboard/campaign.html", context)


@login_required
@researchers_only
@require_safe
def image(request: HttpRequest, campaign_id: int, name: str) -> HttpResponse:
    """One image: its photo with boxes, captions, chains and history."""
    found = image_find(campaign_id, name)
    if found is None:
        raise Http404
    before, after = image_neighbours(found)
    status = found.stored_state.status
    context: dict[str, Any] = {
        "campaign": found.campaign,
        "image": found,
        "status": status,
        "status_words": STATUSES[status],
        "before": before,
        "after": after,
    }
    state = _state(found)
    if state is None:
        return render(request, "dashboard/withdrawn.html", context)
    by_text = {str(chain.number): chain.number for chain in state.chains}
    only = by_text.get(request.GET.get("chain", ""))
    facts = [_fact_line(fact, state) for fact in image_facts(found)]
    context |= {
        "state": state,
        "photo": photo_url(found),
        "boxes": drawn_boxes(state, only),
        "only": only,
        "only_colour": colour_of(only or 1),
        "captions": caption_lines(state),
        "chains": chain_lines(state),
        "waiting": waiting_phrases(state),
        "questions": [
            (STAGES[question.stage], question_words(question, state))
            for question in open_questions(state)
        ],
        "caption_reason": CAPTION_REASON if state.flagged_captions else "",
        "facts": facts[:FACTS_SHOWN],
        "earlier_facts": facts[FACTS_SHOWN:],
    }
    return render(request, "dashboard/image.html", context)


@require_safe
def photo(request: HttpRequest, token: str) -> HttpResponseBase:
    """A photo. The signature is the permission: task pages in frames have no cookies."""
    try:
        found = photo_find(token)
    except PhotoExpiredError:
        return _plain("The link to this photo has expired. Reload the page that shows it.", 410)
    try:
        stream = default_storage.open(found.file) if found is not None else None
    except FileNotFoundError:
        stream = None
    if found is None or stream is None:
        return _plain("There is no such photo.", 404)
    response = FileResponse(stream, content_type=found.content_type)
    response.headers["Cache-Control"] = f"private, max-age={found.seconds_left}, immutable"
    response.headers["Content-Disposition"] = "inline"
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response


def _plain(text: str, status: int) -> HttpResponse:
    response = HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
    response.headers["Cache-Control"] = "no-store"
    return response


def _state(row: models.Image) -> ImageState | None:
    """Return the image's state; None if it was withdrawn."""
    stored = row.stored_state
    return None if stored.status == ImageStatus.WITHDRAWN else stored.state


def _progress(of: CampaignSummary | CampaignWork) -> list[Segment]:
    parts = ((key, label, of.statuses.get(key, 0)) for key, label in STATUSES.items())
    return stacked(parts, of.images)


def _finished(of: CampaignSummary | CampaignWork) -> int:
    """Return the percentage of finished images among those not withdrawn."""
    withdrawn = of.statuses.get(ImageStatus.WITHDRAWN.value, 0)
    return per_cent(of.statuses.get(ImageStatus.FINISHED.value, 0), of.images - withdrawn)


def _stage_rows(work: CampaignWork) -> list[dict[str, Any]]:
    most = longest_of([stage.recorded for stage in work.stages])
    return [
        {
            "name": STAGES[stage.stage],
            "work": stage,
            "bar": stacked(
                [("counted", "Counted", stage.counted), ("late", "Late", stage.late)], most
            ),
        }
        for stage in work.stages
    ]


def _phase_rows(work: CampaignWork) -> list[dict[str, Any]]:
    most = longest_of(list(work.phases.values()))
    return [
        {"name": PHASES[phase], "count": count, "bar": stacked([(phase, "", count)], most)}
        for phase, count in work.phases.items()
    ]


def _filters(work: CampaignWork, chosen: str) -> list[dict[str, Any]]:
    shown = [("", "All", work.images)]
    shown += [(key, label, work.statuses.get(key, 0)) for key, label in STATUSES.items()]
    return [
        {"status": key, "label": label, "count": count, "is_chosen": key == chosen}
        for key, label, count in shown
    ]


def _image_card(row: models.Image) -> dict[str, Any]:
    status = row.stored_state.status
    # Prefetched by images_page.
    captions: list[models.Caption] = getattr(row, "first_captions", [])
    chains: list[models.Chain] = getattr(row, "in_review", [])
    reasons = [f"chain {chain.number}: {chain.review}" for chain in chains]
    if status == ImageStatus.REVIEW and not reasons:
        reasons = [CAPTION_REASON]
    return {
        "image": row,
        "photo": photo_url(row),
        "caption": captions[0].text if captions else "",
        "status": status,
        "status_words": STATUSES[status],
        "reasons": reasons,
    }


def _fact_line(fact: models.Fact, state: ImageState | None) -> dict[str, Any]:
    return {
        "fact": fact,
        "words": fact_words(decode_body(fact.body), state),
        "is_late": fact.counted is False,
    }
