"""Every write to the table of experiments.

Who takes an experiment up gets a number, its attempt. If they die, somebody else takes it up with
the next number, and what the first may still say is not heard.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from common.waking import wake
from grounding.library import release_find, vectors
from grounding.models import Experiment, ExperimentStatus

# A worker that has said nothing for this long is dead.
SILENCE = timedelta(minutes=2)
# One that ends so many workers is not tried again by itself: it would go on for ever.
MOST_DEATHS = 3
DIED = (
    f"{MOST_DEATHS} workers in a row stopped without a word while they ran this experiment. The "
    "usual reason is too little memory; the log of the workers and of the machine says more. Run "
    "it where there is more memory, or with a smaller release or smaller word vectors."
)
RECIPES = ("image_sentence",)


class ExperimentError(ValueError):
    """It cannot be started; the message says why and what to do."""


class AbandonedError(RuntimeError):
    """Somebody else has taken the experiment up since."""


@transaction.atomic
def experiment_start(
    *, recipe: str, release: str, vectors_name: str, backbone: str, by: User | None
) -> Experiment:
    """Note that an experiment is wanted; a worker takes it up soon."""
    if recipe not in RECIPES:
        raise ExperimentError(f"There is no recipe {recipe!r}: {', '.join(RECIPES)}.")
    found = release_find(release)
    if found is None:
        raise ExperimentError(f"There is no release {release!r} any more.")
    if not found.has_photos:
        raise ExperimentError(
            f"The release {release!r} has no photos: put them into its folder photos/."
        )
    for split in ("train", "val"):
        if not found.splits.get(split):
            raise ExperimentError(f"The release {release!r} has no images in {split}.txt.")
    if vectors_name not in vectors():
        raise ExperimentError(f"There are no word vectors {vectors_name!r} any more.")
    made = Experiment.objects.create(
        recipe=recipe,
        release=release,
        vectors=vectors_name,
        backbone=backbone,
        by=by,
    )
    wake("grounding_work")
    return made


@transaction.atomic
def experiment_take() -> Experiment | None:
    """Take up the oldest experiment that waits, or was left by a worker that died.

    None while as many are run as may be at once: each takes all cores that a worker has.
    """
    live = Experiment.objects.filter(
        status__in=[ExperimentStatus.WAITING, ExperimentStatus.RUNNING]
    ).order_by("pk")
    # Held while we choose among them, so that no two workers find the same room, or experiment.
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
    """Count the worker that died with it, if one did; give it up when that was the last it gets."""
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
    """Note how far it is, which is the sign of life as well."""
    _say(experiment, step=step[:200], done=done, total=total, beat_at=Now())


def experiment_finish(*, experiment: Experiment, metrics: dict[str, Any], notes: str) -> None:
    """Note the result."""
    _say(
        experiment,
        status=ExperimentStatus.DONE,
        metrics=metrics,
        notes=notes,
        step="",
        ended_at=Now(),
    )


def experiment_fail(*, experiment: Experiment, error: str) -> None:
    """Note that it cannot be done, and why."""
    _say(experiment, status=ExperimentStatus.FAILED, error=error, step="", ended_at=Now())


@transaction.atomic
def experiment_retry(*, experiment: Experiment) -> None:
    """Try one that failed once more; features that were made are not made again."""
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


def _say(experiment: Experiment, **values: Any) -> None:
    running = Experiment.objects.filter(
        pk=experiment.pk, attempt=experiment.attempt, status=ExperimentStatus.RUNNING
    )
    if not running.update(**values):
        raise AbandonedError(f"{experiment} was taken up by somebody else")
