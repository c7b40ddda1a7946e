"""Blocks: a requester wants no more work of a worker."""

from django.db import transaction

from marketplace.models import Requester, Worker, WorkerBlock


@transaction.atomic
def block_set(*, requester: Requester, worker: Worker, reason: str) -> None:
    """Block a worker; blocking again replaces the reason."""
    WorkerBlock.objects.update_or_create(
        requester=requester, worker=worker, defaults={"reason": reason}
    )


@transaction.atomic
def block_lift(*, requester: Requester, worker: Worker) -> None:
    """Let a worker work again; fine if they were not blocked."""
    WorkerBlock.objects.filter(requester=requester, worker=worker).delete()
