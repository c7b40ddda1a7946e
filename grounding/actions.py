"""Every write to the table of experiments.

A worker that takes up an experiment gets a number, its attempt. If the worker dies, another takes
the experiment up with the next number, and anything the first one still reports is ignored.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from common.waking import wake
from grounding.library import release_find, vectors
from grounding.models import Experiment, ExperimentStatus
from grounding.pipeline.errors import GroundingError
from grounding.recipes.registry import RECIPES

# A worker that gives no sign of life for this long is dead.
SILENCE = timedelta(minutes=2)
# An experiment with this many dead workers is not tried again by itself, or it never ended.
MOST_DEATHS = 3
DIED = (
    f"{MOST_DEATHS} workers in a row died while they ran this experiment. The usual cause is too "
    "little memory; see the logs of the workers and of the machine. Run it on a machine with more "
    "memory, or with a smaller release or smaller word vectors."
)


class ExperimentError(ValueError):
    """The experiment cannot be started; the message says why and what to do."""


class AbandonedError(RuntimeError):
    """Another worker has taken up the experiment since."""


@transaction.atomic
def experiment_start(
    *,
    recipe: str,
    release: str,
    vectors_name: str,
    backbone: str,
    by: User | None,
    recipe_settings: Mapping[str, Any] | None = None,
) -> Experiment:
    """Request an experiment; a worker takes it up soon."""
    if recipe not in RECIPES:
        raise ExperimentError(f"There is no recipe {recipe!r}. Choose one of: {_names()}.")
    try:
        chosen = RECIPES[recipe].read_settings(recipe_settings or {})
    except GroundingError as error:
        raise ExperimentError(f"The settings cannot be used: {error}.") from None
    found = release_find(release)
    if found is None:
        raise ExperimentError(f"The release {release!r} no longer exists.")
    if not found.has_photos:
        raise ExperimentError(
            f"The release {release!r} has no photos. Put them into its folder photos/."
        )
    for split in ("train", "val"):
        if not found.splits.get(split):
            raise ExperimentError(
                f"The release {release!r} has no images in {split}.txt. Add one image id a line."
            )
    if vectors_name not in vectors():
        raise ExperimentError(f"The word vectors {vectors_name!r} no longer exist.")
    made = Experiment.objects.create(
        recipe=recipe,
        release=release,
        vectors=vectors_name,
        backbone=backbone,
        settings=msgspec.to_builtins(chosen),
        by=by,
    )
    wake("grounding_work")
    return made


def _names() -> str:
    return ", ".join(RECIPES)


@transaction.atomic
def experiment_take() -> Experiment | None:
    """Take up the oldest experiment that waits or whose worker died.

    Return None while the maximum number of experiments is running: each uses all cores of its
    worker.
    """
    live = Experiment.objects.filter(
        status__in=[ExperimentStatus.WAITING, ExperimentStatus.RUNNING]
    ).order_by("pk")
    # Locked while we choose, so that two workers never take the same place or experiment.
    held = list(live.select_for_update().values_list("pk", flat=True))
    alive = Experiment.objects.filter(status=ExperimentStatus.RUNNING, beat_at__gte=Now() - SILENCE)
    if alive.count() >= settings.CHAINBOX_EXPERIMENTS_AT_ONCE:
        return None
    due = Q(status=ExperimentStatus.WAITING) | Q(
        status=ExperimentStatus.RUNNING, beat_at__lt=Now() - SILENCE
    )
    waiting = Experiment.objects.filter(due, pk__in=held).order_by("created_at", "pk")
    found = next((one for one in waiting if not _is_given_up(one)), None)
    if found is None:
        return None
    found.attempt += 1
    found.status = ExperimentStatus.RUNNING
    found.step, found.done, found.total = "Starting", 0, 0
    found.save(update_fields=["attempt", "deaths", "status", "step", "done", "total"])
    Experiment.objects.filter(pk=found.pk).update(beat_at=Now())
    Experiment.objects.filter(pk=found.pk, started_at=None).update(started_at=Now())
    return found


def _is_given_up(experiment: Experiment) -> bool:
    """Count the worker that died, if one did; give the experiment up after the last one allowed."""
    if experiment.status == ExperimentStatus.WAITING:
        return False
    experiment.deaths += 1
    if experiment.deaths < MOST_DEATHS:
        return False
    Experiment.objects.filter(pk=experiment.pk).update(
        status=ExperimentStatus.FAILED,
        deaths=experiment.deaths,
        error=DIED,
        step="",
        ended_at=Now(),
    )
    return True


def experiment_progress(*, experiment: Experiment, step: str, done: int, total: int) -> None:
    """Save the progress, which is also the sign of life."""
    _write(experiment, step=step[:200], done=done, total=total, beat_at=Now())


def experiment_finish(*, experiment: Experiment, metrics: dict[str, Any], notes: str) -> None:
    """Save the result."""
    _write(
        experiment,
        status=ExperimentStatus.DONE,
        metrics=metrics,
        notes=notes,
        step="",
        ended_at=Now(),
    )


def experiment_fail(*, experiment: Experiment, error: str) -> None:
    """Save that the experiment failed, and why."""
    _write(experiment, status=ExperimentStatus.FAILED, error=error, step="", ended_at=Now())


@transaction.atomic
def experiment_retry(*, experiment: Experiment) -> None:
    """Retry a failed experiment. Features that exist are not extracted again."""
    again = Experiment.objects.filter(pk=experiment.pk, status=ExperimentStatus.FAILED)
    if again.update(
        status=ExperimentStatus.WAITING,
        error="",
        started_at=None,
        ended_at=None,
        attempt=F("attempt") + 1,
        deaths=0,
    ):
        wake("grounding_work")


def _write(experiment: Experiment, **values: Any) -> None:
    running = Experiment.objects.filter(
        pk=experiment.pk, attempt=experiment.attempt, status=ExperimentStatus.RUNNING
    )
    if not running.update(**values):
        raise AbandonedError(f"{experiment} was taken up by another worker")
