"""Blocks: a requester no longer wants a worker's work."""

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
    """Unblock a worker; it is not an error if they were not blocked."""
    WorkerBlock.objects.filter(requester=requester, worker=worker).delete()
