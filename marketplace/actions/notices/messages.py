"""Messages from requesters to workers."""

from collections.abc import Sequence

from django.db import transaction

from marketplace.models import Assignment, Message, Requester, Worker
from marketplace.rules.lifecycle import COMPLETED

NEVER_WORKED = "Cannot send a notification to a worker who has not done any work for you"


@transaction.atomic
def workers_notify(
    *, requester: Requester, worker_ids: Sequence[str], subject: str, text: str
) -> list[str]:
    """Write to each worker whose work the requester has approved or rejected; return the others."""
    wanted = list(dict.fromkeys(worker_ids))
    reached = {
        worker.worker_id: worker
        for worker in Worker.objects.filter(
            worker_id__in=wanted,
            erased_at=None,
            pk__in=Assignment.objects.filter(hit__requester=requester, status__in=COMPLETED).values(
                "worker_id"
            ),
        )
    }
    Message.objects.bulk_create(
        Message(worker=worker, requester=requester, subject=subject, text=text)
        for worker in reached.values()
    )
    return [worker_id for worker_id in wanted if worker_id not in reached]
