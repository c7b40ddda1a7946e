"""Pages to view and edit the guides that workers read."""

from typing import Any

import msgspec
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_safe

from annotation import models
from annotation.actions.work.guides import GuideChangedError, guide_save
from annotation.dashboard.words import STAGES
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.guides import (
    GuideError,
    Lesson,
    StageGuide,
    guide_file,
    shipped_guide,
    shipped_source,
)
from annotation.selectors.work.guides import (
    TOPICS,
    guide_current,
    guide_read,
    guides_current,
    lesson_images,
)
from common.web.access import researchers_only

CONSENT_NAME = "Consent text"


class TopicRow(msgspec.Struct, frozen=True):
    """A topic in the table; without a row the shipped text applies."""

    topic: str
    name: str
    row: models.Guide | None
    guide: StageGuide | None
    # Examples and test questions whose image is gone.
    lost: tuple[str, ...] = ()


@login_required
@researchers_only
@require_safe
def guides(request: HttpRequest, campaign_id: int) -> HttpResponse:
    """All topics of a campaign, and what they lack."""
    campaign = get_object_or_404(models.Campaign, pk=campaign_id)
    context = {"campaign": campaign, "topics": _topics(campaign), "may_edit": _may_edit(request)}
    return render(request, "dashboard/guides.html", context)


@login_required
@researchers_only
@require_http_methods(["GET", "HEAD", "POST"])
def guide(request: HttpRequest, campaign_id: int, topic: str) -> HttpResponse:
    """The text of one topic; accounts that may change campaigns can save a new one."""
    if request.method == "POST" and not _may_edit(request):
        raise PermissionDenied
    if topic not in TOPICS:
        raise Http404
    campaign = get_object_or_404(models.Campaign, pk=campaign_id)
    if request.method == "POST":
        return _save(request, campaign, topic)
    row = guide_current(campaign, topic)
    source = row.source if row else shipped_source(topic)
    return _editor(request, campaign, topic, row=row, source=source)


def _save(request: HttpRequest, campaign: models.Campaign, topic: str) -> HttpResponse:
    # Browsers send every line end as two characters.
    source = request.POST.get("source", "").replace("\r\n", "\n")
    seen = request.POST.get("seen", "")
    row = guide_current(campaign, topic)
    try:
        saved = guide_save(campaign=campaign, topic=topic, source=source, seen=_version(seen))
    except GuideError as error:
        problems = [problem.removeprefix(f"{guide_file(topic)}: ") for problem in error.problems]
        return _editor(
            request,
            campaign,
            topic,
            row=row,
            source=source,
            status=422,
            problems=problems,
            # Unchanged, so that another person's save is still noticed.
            seen=seen,
        )
    except GuideChangedError as error:
        return _editor(
            request, campaign, topic, row=error.row, source=source, status=409, newer=error.row
        )
    if row is not None and saved.pk == row.pk:
        messages.info(
            request, f"Nothing to save: your text is the same as version {saved.version}."
        )
    else:
        messages.success(request, f"Saved as version {saved.version}. Workers see it from now on.")
    return redirect("guide", campaign_id=campaign.pk, topic=topic)


def _version(seen: str) -> int:
    return int(seen) if seen.isdecimal() and len(seen) < 10 else 0


def _editor(
    request: HttpRequest,
    campaign: models.Campaign,
    topic: str,
    *,
    row: models.Guide | None,
    source: str,
    status: int = 200,
    **more: Any,
) -> HttpResponse:
    context = {
        "campaign": campaign,
        "topic": topic,
        "name": _name(topic),
        "file": guide_file(topic),
        "row": row,
        "source": source,
        "seen": row.version if row else 0,
        "may_edit": _may_edit(request),
        "stage": None if topic == models.CONSENT else topic,
        "answers": () if topic == models.CONSENT else spec_of(Stage(topic)).answers,
        "has_boxes": topic != models.CONSENT and spec_of(Stage(topic)).shows_boxes,
        **more,
    }
    return render(request, "dashboard/guide.html", context, status=status)


def _topics(campaign: models.Campaign) -> list[TopicRow]:
    current = guides_current(campaign)
    read = {
        stage.value: guide_read(current[stage.value])
        if stage.value in current
        else shipped_guide(stage)
        for stage in Stage
    }
    lessons: list[Lesson] = [lesson for g in read.values() for _, lesson in g.lessons()]
    there = lesson_images(campaign, {lesson.image for lesson in lessons}) if lessons else {}
    return [
        TopicRow(
            topic=topic,
            name=_name(topic),
            row=current.get(topic),
            guide=read.get(topic),
            lost=tuple(
                f"{place} ({lesson.image})"
                for place, lesson in (read[topic].lessons() if topic in read else ())
                if lesson.image not in there
            ),
        )
        for topic in TOPICS
    ]


def _name(topic: str) -> str:
    return CONSENT_NAME if topic == models.CONSENT else STAGES[Stage(topic)]


def _may_edit(request: HttpRequest) -> bool:
    return request.user.has_perm("annotation.change_campaign")
