"""Workers."""

from django.db import transaction
from django.db.models.functions import Now

from annotation import models
from annotation.models import SittingStatus

# Names that the platform does not give; nobody can claim to be one of these.
OWN_NAMES = ("simulated-", "erased-")


@transaction.atomic
def workers_simulated(*, count: int) -> list[int]:
    """Return the numbers of that many simulated workers, always the same ones."""
    names = [f"simulated-{number}" for number in range(1, count + 1)]
    models.Worker.objects.bulk_create(
        [models.Worker(name=name) for name in names], ignore_conflicts=True
    )
    known = dict(models.Worker.objects.filter(name__in=names).values_list("name", "pk"))
    return [known[name] for name in names]


def worker_ensure(*, name: str) -> models.Worker:
    """Return the worker of this name; a new one if nobody has it."""
    models.Worker.objects.bulk_create([models.Worker(name=name)], ignore_conflicts=True)
    return models.Worker.objects.get(name=name)


@transaction.atomic
def worker_erase(*, worker: models.Worker) -> str:
    """Forget who a worker is and what they wrote; return their pseudonym.

    Their judgments stay, under that pseudonym. What they were at goes back to others; what they
    have handed in can still be confirmed.
    """
    sittings = models.Sitting.objects.select_for_update().filter(worker=worker)
    at_work = [sitting.pk for sitting in sittings.order_by("pk") if _is_open(sitting)]
    questions = models.SittingQuestion.objects.filter(sitting__worker=worker)
    questions.exclude(comment="").update(comment="")
    questions.filter(sitting__in=at_work, released_at=None).update(released_at=Now())
    models.Sitting.objects.filter(pk__in=at_work).update(status=SittingStatus.LAPSED)
    pseudonym = f"erased-{worker.pk}"
    models.Worker.objects.filter(pk=worker.pk).update(name=pseudonym)
    return pseudonym


def _is_open(sitting: models.Sitting) -> bool:
    return sitting.status == SittingStatus.OPEN
