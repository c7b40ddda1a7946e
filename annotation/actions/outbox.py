"""Queueing calls to the marketplace, in the transaction of what causes them."""

from datetime import datetime
from typing import Any

import msgspec

from annotation import models
from annotation.actions.waking import wake
from annotation.models import CallStatus, Operation

SEND_TASK = "crowd_send"


def call_queue(
    *,
    campaign: models.Campaign,
    operation: Operation,
    key: str,
    hit: models.Hit | None = None,
    assignment: models.Assignment | None = None,
    worker: models.Worker | None = None,
    stage: str = "",
    lane: str = "",
    cents: int = 0,
    not_before: datetime | None = None,
    **details: Any,
) -> None:
    """Queue a call; one with the same key is there once. Details never say who a worker is.

    A later call of the same lane takes the place of those that wait.
    """
    call = models.OutboxCall(
        campaign=campaign,
        operation=operation,
        key=key,
        hit=hit,
        assignment=assignment,
        worker=worker,
        stage=stage,
        lane=lane,
        cents=cents,
        details=msgspec.json.encode(details).decode(),
    )
    if not_before is not None:
        call.next_try_at = not_before
    if lane:
        models.OutboxCall.objects.filter(lane=lane, status=CallStatus.WAITING).update(
            status=CallStatus.DROPPED, next_try_at=None
        )
    models.OutboxCall.objects.bulk_create([call], ignore_conflicts=True)
    wake(SEND_TASK)
