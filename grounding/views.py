"""The experiments' pages: start a recipe on a release, see how far it is and what came of it."""

from typing import Any

from django import forms
from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timesince import timesince
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.web.access import researchers_only
from grounding.actions import ExperimentError, experiment_retry, experiment_start
from grounding.library import CAPTIONS, Release, releases, vectors
from grounding.models import Experiment, ExperimentStatus

SHOWN = 50
# Others can be named by whoever starts an experiment in a terminal.
BACKBONES = {
    "efficientnet-lite0": "EfficientNet-Lite0, with the weights of its package",
    "vgg16": "VGG-16 as in the paper; torchvision fetches its weights",
}
RECIPES = {"image_sentence": "Image–sentence retrieval"}
MEASURES = {"r1": "R@1", "r5": "R@5", "r10": "R@10", "median_rank": "median rank"}
WAYS = {"image_to_sentence": "image to sentence", "sentence_to_image": "sentence to image"}


class StartForm(forms.Form):
    """What to run, of what is there."""

    release = forms.ChoiceField(label="Release")
    vectors = forms.ChoiceField(label="Word vectors")
    backbone = forms.ChoiceField(label="Image features", choices=list(BACKBONES.items()))

    def __init__(self, here: list[Release], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        words = [
            (name, "learnt from the captions" if name == CAPTIONS else name) for name in vectors()
        ]
        for name, choices in (
            ("release", [(r.name, _described(r)) for r in here]),
            ("vectors", words),
        ):
            field = self.fields[name]
            assert isinstance(field, forms.ChoiceField)
            field.choices = choices


@login_required
@researchers_only
@require_http_methods(["GET", "HEAD", "POST"])
def experiments(request: HttpRequest) -> HttpResponse:
    """The latest experiments, and a form for the next."""
    here = releases()
    may_start = request.user.has_perm("grounding.add_experiment")
    form = StartForm(here, request.POST or None)
    if request.method == "POST":
        if not may_start:
            raise PermissionDenied
        assert isinstance(request.user, User)  # signed in, as the decorators see to
        if form.is_valid():
            try:
                made = experiment_start(
                    recipe="image_sentence",
                    release=form.cleaned_data["release"],
                    vectors_name=form.cleaned_data["vectors"],
                    backbone=form.cleaned_data["backbone"],
                    by=request.user,
                )
            except ExperimentError as error:
                form.add_error(None, str(error))
            else:
                return redirect("experiment", made.pk)
    latest = Experiment.objects.select_related("by").order_by("-pk")[:SHOWN]
    context = {
        "section": "experiments",
        "releases": here,
        "form": form,
        "may_start": may_start,
        "rows": [(one, *_headline(one)) for one in latest],
    }
    status = 400 if form.errors else 200
    return render(request, "grounding/experiments.html", context, status=status)


@login_required
@researchers_only
@require_safe
def experiment(request: HttpRequest, experiment_id: int) -> HttpResponse:
    """One experiment: how far it is, or its result."""
    found = get_object_or_404(Experiment.objects.select_related("by"), pk=experiment_id)
    is_going_on = found.status in (ExperimentStatus.WAITING, ExperimentStatus.RUNNING)
    context = {
        "section": "experiments",
        "experiment": found,
        "is_going_on": is_going_on,
        "name": RECIPES.get(found.recipe, found.recipe),
        "per_cent": min(100, 100 * found.done // found.total) if found.total else None,
        "measures": MEASURES.values(),
        "table": _table(found.metrics or {}),
        "took": _took(found),
        "may_start": request.user.has_perm("grounding.add_experiment"),
    }
    return render(request, "grounding/experiment.html", context)


@login_required
@researchers_only
@require_POST
@permission_required("grounding.add_experiment", raise_exception=True)
def retry(request: HttpRequest, experiment_id: int) -> HttpResponse:
    """Try a failed experiment once more."""
    found = get_object_or_404(Experiment, pk=experiment_id)
    experiment_retry(experiment=found)
    messages.success(request, "It is tried once more.")
    return redirect("experiment", found.pk)


def _described(release: Release) -> str:
    splits = ", ".join(f"{count:,} {split}" for split, count in release.splits.items())
    photos = "" if release.has_photos else " (without photos)"
    return f"{release.name}: {splits or 'no splits'}{photos}"


def _took(one: Experiment) -> str:
    """Say how long it took, from seconds to days."""
    if one.started_at is None or one.ended_at is None:
        return ""
    seconds = round((one.ended_at - one.started_at).total_seconds())
    if seconds < 120:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return timesince(one.started_at, one.ended_at)


def _headline(one: Experiment) -> tuple[str, str]:
    """Return how an experiment stands, in a word and in a figure."""
    if one.status != ExperimentStatus.DONE or not one.metrics:
        return one.get_status_display(), ""
    split = "test" if one.metrics.get("test") else "val"
    found = one.metrics[split]
    figures = " · ".join(f"{words} {found[way]['r10']:.1f}" for way, words in WAYS.items())
    return one.get_status_display(), f"R@10 on {split}: {figures}"


def _table(metrics: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the lines of the result's table."""
    lines = []
    for split in ("val", "test"):
        for way, words in WAYS.items():
            found = (metrics.get(split) or {}).get(way)
            if found:
                cells = [f"{found[measure]:.1f}" for measure in MEASURES]
                lines.append({"split": split, "way": words, "cells": cells})
    return lines
