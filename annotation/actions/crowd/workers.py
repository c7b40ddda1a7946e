"""Making workers known, and erasing them."""

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotation import models
from annotation.actions.work.leases import sittings_lapse
from annotation.models import CallStatus, Operation

ERASED = "erased-"
# The marketplace gives no such names, so nobody can claim to be one of these.
OWN_NAMES = ("simulated-", ERASED)


@transaction.atomic
def workers_simulated(*, count: int) -> list[int]:
    """Return the numbers of simulated workers, always the same ones for the same count."""
    names = [f"simulated-{number}" for number in range(1, count + 1)]
    models.Worker.objects.bulk_create(
        [models.Worker(name=name) for name in names], ignore_conflicts=True
    )
    known = dict(models.Worker.objects.filter(name__in=names).values_list("name", "pk"))
    return [known[name] for name in names]


def worker_ensure(*, name: str) -> models.Worker:
    """Return the worker of this name; make a new one if there is none."""
    models.Worker.objects.bulk_create([models.Worker(name=name)], ignore_conflicts=True)
    return models.Worker.objects.get(name=name)


@transaction.atomic
def worker_erase(*, worker: models.Worker) -> str:
    """Forget who a worker is and what they wrote; return their pseudonym.

    Their judgments stay, under that pseudonym. Questions they were working on go to others. Work
    they have submitted is still confirmed and paid: the marketplace knows who they are.
    """
    sittings = models.Sitting.objects.filter(worker=worker)
    # Lock all sittings before any of their questions, in the usual order.
    list(sittings.order_by("pk").select_for_update().values_list("pk", flat=True))
    sittings_lapse(sittings=sittings)
    models.SittingQuestion.objects.filter(sitting__worker=worker).exclude(comment="").update(
        comment=""
    )
    models.Appeal.objects.filter(standing__worker=worker).exclude(words="", reply="").update(
        words="", reply=""
    )
    models.Appeal.objects.filter(standing__worker=worker, decided_at=None).update(decided_at=Now())
    calls = models.OutboxCall.objects.filter(worker=worker)
    # Calls to or about the worker no longer have a recipient.
    calls.filter(
        operation__in=[Operation.MESSAGE, Operation.QUALIFY], status=CallStatus.WAITING
    ).update(status=CallStatus.DROPPED, next_try_at=None)
    calls.filter(operation=Operation.MESSAGE).update(details="{}")
    # The marketplace's refusals may name the worker; a bonus goes by its assignment.
    of_worker = Q(worker=worker) | Q(assignment__worker=worker)
    of_theirs = models.OutboxCall.objects.filter(of_worker)
    of_theirs.exclude(last_error="").update(last_error="")
    # Researchers' messages to them, once they have been sent.
    over = [CallStatus.DONE, CallStatus.DROPPED]
    of_theirs.filter(status__in=over).update(details="{}")
    models.Assignment.objects.filter(worker=worker).exclude(reason="").update(reason="")
    pseudonym = f"{ERASED}{worker.pk}"
    models.Worker.objects.filter(pk=worker.pk).update(name=pseudonym)
    return pseudonym
