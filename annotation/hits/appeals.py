"""A plain page where a worker who lost trust at a stage can appeal.

The link comes in a message on the marketplace. It is the permission: it is signed and names one
standing. No script and no frame; the form is protected like every other form of the site.
"""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from annotation import models
from annotation.actions.trust.standing import AppealRefusedError, appeal_make
from annotation.hits.standing import ASK_AGAIN, standing_shown
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust
from annotation.selectors.trust.appeals import appeal_standing
from annotation.selectors.work.guides import stage_guide

LONGEST = 2000


class Words(forms.CharField):
    """A text whose line ends count as one character each: browsers send two."""

    def to_python(self, value: Any) -> str:
        return str(super().to_python(value)).replace("\r\n", "\n")


class AppealForm(forms.Form):
    """The worker's own words."""

    words = Words(
        max_length=LONGEST,
        label="Why should we change our decision?",
        error_messages={
            "required": "Please explain why we should change our decision.",
            "max_length": "Your text has %(show_value)s characters. Please shorten it to "
            "%(limit_value)s at most.",
        },
        widget=forms.Textarea(attrs={"rows": 6, "aria-describedby": "words-hint words-errors"}),
    )


@require_http_methods(["GET", "HEAD", "POST"])
def appeal(request: HttpRequest, token: str) -> HttpResponse:
    """Show the worker's standing, and take an appeal if none is waiting."""
    standing = appeal_standing(token)
    if standing is None:
        return _page(request, "hits/appeal_gone.html", {}, 404)
    form = AppealForm(request.POST if request.method == "POST" else None)
    if form.is_bound and form.is_valid():
        try:
            appeal_make(standing=standing, words=form.cleaned_data["words"])
        except AppealRefusedError as error:
            return _page(request, "hits/appeal.html", _about(standing, None, str(error)), 409)
        return HttpResponseRedirect(request.path)
    return _page(request, "hits/appeal.html", _about(standing, form), 400 if form.is_bound else 200)


def _about(
    standing: models.WorkerStanding, form: AppealForm | None, refused: str = ""
) -> dict[str, Any]:
    stage = Stage(standing.stage)
    shown = standing_shown(standing.standing, stage, standing.campaign.settings)
    latest = standing.appeals.order_by("-pk").first()
    waiting = latest if latest and latest.decided_at is None else None
    is_lost = standing.trust == Trust.REVOKED
    return {
        "task": stage_guide(standing.campaign, stage).guide.title,
        "standing": shown,
        # This line points to the page that is being shown.
        "lines": [line for line in shown.lines if line != ASK_AGAIN],
        "is_lost": is_lost,
        "waiting": waiting,
        "answered": latest if latest and waiting is None and is_lost else None,
        "form": form if is_lost and waiting is None else None,
        "refused": refused,
        "longest": LONGEST,
    }


def _page(
    request: HttpRequest, template: str, content: dict[str, Any], status: int
) -> HttpResponse:
    response = render(request, template, content, status=status)
    response.headers["Cache-Control"] = "no-store"
    response.headers["X-Robots-Tag"] = "noindex"
    return response
