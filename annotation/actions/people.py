"""Workers."""

from django.db import transaction

from annotation import models


@transaction.atomic
def workers_simulated(*, count: int) -> list[int]:
    """Return the numbers of that many simulated workers, always the same ones."""
    names = [f"simulated-{number}" for number in range(1, count + 1)]
    models.Worker.objects.bulk_create(
        [models.Worker(name=name) for name in names], ignore_conflicts=True
    )
    known = dict(models.Worker.objects.filter(name__in=names).values_list("name", "pk"))
    return [known[name] for name in names]
