"""The pages of experiments: start a recipe on a release, follow its progress, see its result."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required, permission_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.timesince import timesince
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from common.web.access import researchers_only
from grounding.actions import ExperimentError, experiment_retry, experiment_start
from grounding.forms import StartForm
from grounding.library import releases
from grounding.models import Experiment, ExperimentStatus
from grounding.recipes.options import options_of
from grounding.recipes.recipe import Recipe, Table
from grounding.recipes.registry import RECIPES
from grounding.stages import stages_of

SHOWN = 50


@login_required
@researchers_only
@require_http_methods(["GET", "HEAD", "POST"])
def experiments(request: HttpRequest) -> HttpResponse:
    """The latest experiments, and a form for the next."""
    may_start = request.user.has_perm("grounding.add_experiment")
    if request.method == "POST" and not may_start:
        raise PermissionDenied
    here = releases()
    recipe = _chosen(request)
    form = StartForm(recipe, here, request.POST or None)
    if request.method == "POST":
        assert isinstance(request.user, User)  # the decorators let in only users who are logged in
        if form.is_valid():
            try:
                made = experiment_start(
                    recipe=recipe.name,
                    release=form.cleaned_data["release"],
                    vectors_name=form.cleaned_data["vectors"],
                    backbone=form.cleaned_data["backbone"],
                    recipe_settings=form.settings(),
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
        "recipe": recipe,
        "recipes": list(RECIPES.values()),
        "form": form,
        "may_start": may_start,
        "rows": [(one, _title(one), _headline(one)) for one in latest],
    }
    status = 400 if form.errors else 200
    return render(request, "grounding/experiments.html", context, status=status)


@login_required
@researchers_only
@require_safe
def experiment(request: HttpRequest, experiment_id: int) -> HttpResponse:
    """One experiment: its progress, or its result."""
    found = get_object_or_404(Experiment.objects.select_related("by"), pk=experiment_id)
    is_going_on = found.status in (ExperimentStatus.WAITING, ExperimentStatus.RUNNING)
    context = {
        "section": "experiments",
        "experiment": found,
        "is_going_on": is_going_on,
        "title": _title(found),
        "step_number": _step_number(found),
        "per_cent": min(100, 100 * found.done // found.total) if found.total else None,
        "tables": _tables(found),
        "settings": _settings(found),
        "took": _took(found),
        "may_start": request.user.has_perm("grounding.add_experiment"),
    }
    return render(request, "grounding/experiment.html", context)


@login_required
@researchers_only
@require_POST
@permission_required("grounding.add_experiment", raise_exception=True)
def retry(request: HttpRequest, experiment_id: int) -> HttpResponse:
    """Retry a failed experiment."""
    found = get_object_or_404(Experiment, pk=experiment_id)
    experiment_retry(experiment=found)
    messages.success(request, "The experiment will run again.")
    return redirect("experiment", found.pk)


def _chosen(request: HttpRequest) -> Recipe[Any]:
    """Return the recipe of the form that was sent or asked for; without a name, the first."""
    name = request.POST.get("recipe") if request.method == "POST" else request.GET.get("recipe")
    if name is None and request.method != "POST":
        return next(iter(RECIPES.values()))
    if name not in RECIPES:
        raise Http404(f"There is no recipe {name!r}.")
    return RECIPES[name]


def _title(one: Experiment) -> str:
    """Return the recipe's title; one that no longer exists is shown by its name."""
    return RECIPES[one.recipe].title if one.recipe in RECIPES else one.recipe


def _step_number(one: Experiment) -> str:
    """Return “Step 2 of 6”, or nothing if the recipe does not list the current step."""
    stages = stages_of(RECIPES[one.recipe]) if one.recipe in RECIPES else ()
    step = one.step.lower()
    return f"Step {stages.index(step) + 1} of {len(stages)}" if step in stages else ""


def _settings(one: Experiment) -> list[tuple[str, str]]:
    """Return the settings that differ from the recipe's defaults, as label and value."""
    if one.recipe not in RECIPES:
        return []
    return [
        (option.label, option.typed(one.settings[option.name]))
        for option in options_of(RECIPES[one.recipe].settings)
        if option.name in one.settings
        and option.typed(one.settings[option.name]) != option.default_text
    ]


def _took(one: Experiment) -> str:
    """Say how long it took, from seconds to days."""
    if one.started_at is None or one.ended_at is None:
        return ""
    seconds = round((one.ended_at - one.started_at).total_seconds())
    if seconds < 120:
        return f"{seconds} second{'' if seconds == 1 else 's'}"
    return timesince(one.started_at, one.ended_at)


def _headline(one: Experiment) -> str:
    """Return the result in one line."""
    if one.status != ExperimentStatus.DONE or not one.metrics or one.recipe not in RECIPES:
        return ""
    return RECIPES[one.recipe].headline(one.metrics)


def _tables(one: Experiment) -> list[Table]:
    if not one.metrics or one.recipe not in RECIPES:
        return []
    return list(RECIPES[one.recipe].tables(one.metrics))
