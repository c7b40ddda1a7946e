"""The outbox: calls are queued in the transaction that causes them, claimed, and finished.

`annotation.crowd.sender` sends them.
"""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.db import transaction
from django.db.models import DateTimeField, F, Q, QuerySet, Value
from django.db.models.functions import Coalesce

from annotation import models
from annotation.models import CallStatus, Operation
from common.clock import database_now
from common.waking import wake

SEND_TASK = "crowd_send"
# A claim lasts this long; then the call counts as lost, and others may claim it.
CLAIM = timedelta(seconds=45)


class CallUnderWayError(RuntimeError):
    """The call was tried and may have reached the marketplace, so it cannot be taken back."""


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
    """Queue a call, once for each key. Its details never identify a worker.

    A later call of the same lane replaces those that wait.
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
        if models.OutboxCall.objects.filter(key=key).exists():
            # It was queued before, and a later call of its lane may have replaced it.
            return
        models.OutboxCall.objects.filter(lane=lane, status=CallStatus.WAITING).update(
            status=CallStatus.DROPPED, next_try_at=None
        )
    models.OutboxCall.objects.bulk_create([call], ignore_conflicts=True)
    wake(SEND_TASK)


def hit_calls_queue(
    *, campaign: models.Campaign, operation: Operation, hits: Sequence[models.Hit]
) -> None:
    """Queue the same call for many HITs at once."""
    models.OutboxCall.objects.bulk_create(
        [
            models.OutboxCall(
                campaign=campaign,
                operation=operation,
                key=_hit_key(operation, hit),
                hit=hit,
                stage=hit.stage,
            )
            for hit in hits
        ],
        ignore_conflicts=True,
    )
    if hits:
        wake(SEND_TASK)


def creations_cancel(*, hits: Sequence[models.Hit]) -> set[int]:
    """Drop the calls that would create these HITs, and return the HITs that will never exist.

    A call that was tried may have arrived, unless the marketplace has refused it.
    """
    unsent = list(
        models.OutboxCall.objects.filter(
            Q(status=CallStatus.WAITING, attempts=0) | Q(status=CallStatus.FAILED),
            key__in=[_hit_key(Operation.CREATE_HIT, hit) for hit in hits],
        ).select_for_update(skip_locked=True)
    )
    models.OutboxCall.objects.filter(pk__in=[call.pk for call in unsent]).update(
        status=CallStatus.DROPPED, next_try_at=None
    )
    return {call.hit_id for call in unsent if call.hit_id is not None}


def call_cancel(*, call: models.OutboxCall) -> None:
    """Drop a locked call that never reached the marketplace, or was refused (CallUnderWayError)."""
    if call.status == CallStatus.WAITING and call.attempts:
        raise CallUnderWayError(f"{call.key} is being sent")
    if call.status in (CallStatus.WAITING, CallStatus.FAILED):
        call.status, call.next_try_at = CallStatus.DROPPED, None
        call.save(update_fields=["status", "next_try_at"])


def _hit_key(operation: Operation, hit: models.Hit) -> str:
    return f"{operation.value}/{hit.pk}"


def messages_send(*, worker: int) -> None:
    """Send the messages that waited until we may write to a worker."""
    waiting = models.OutboxCall.objects.filter(
        worker=worker, operation=Operation.MESSAGE, status=CallStatus.WAITING, attempts=0
    )
    if waiting.update(next_try_at=database_now()):
        wake(SEND_TASK)


def calls_are_due() -> bool:
    """Tell whether there is anything to send, without locking anything."""
    now = database_now()
    return models.OutboxCall.objects.filter(
        status=CallStatus.WAITING, next_try_at__lte=now
    ).exists()


@transaction.atomic
def calls_claim(*, most: int) -> list[models.OutboxCall]:
    """Take calls that are due, the longest due first, and keep others from them for a while."""
    now = database_now()
    due = list(
        models.OutboxCall.objects.select_for_update(skip_locked=True)
        .filter(status=CallStatus.WAITING, next_try_at__lte=now)
        .order_by("next_try_at", "pk")
        .values_list("pk", flat=True)[:most]
    )
    if not due:
        return []
    models.OutboxCall.objects.filter(pk__in=due).update(
        attempts=F("attempts") + 1,
        first_tried_at=Coalesce("first_tried_at", Value(now, output_field=DateTimeField())),
        next_try_at=now + CLAIM,
    )
    return list(
        models.OutboxCall.objects.filter(pk__in=due)
        .select_related(
            "campaign__current_settings", "hit__terms", "assignment__hit__terms", "worker"
        )
        .order_by("pk")
    )


def calls_give_back(*, calls: Sequence[models.OutboxCall]) -> None:
    """Let others have calls that were claimed and not tried."""
    for call in calls:
        _still_ours(call).update(attempts=F("attempts") - 1, next_try_at=database_now())


def call_postpone(*, call: models.OutboxCall, problem: str, after: timedelta) -> None:
    """Try a call again later, and keep why it did not go through."""
    _still_ours(call).update(next_try_at=database_now() + after, last_error=problem)


def call_drop(*, call: models.OutboxCall, reason: str) -> None:
    """Drop a call: the worker it concerns no longer exists."""
    models.OutboxCall.objects.filter(pk=call.pk, status=CallStatus.WAITING).update(
        status=CallStatus.DROPPED, next_try_at=None, last_error=reason
    )


def call_fail(*, call: models.OutboxCall, problem: str) -> None:
    """Give up a call: the marketplace has refused it, and a person has to look at it."""
    models.OutboxCall.objects.filter(pk=call.pk, status=CallStatus.WAITING).update(
        status=CallStatus.FAILED, next_try_at=None, last_error=problem
    )


@transaction.atomic
def call_finish(*, call: models.OutboxCall, apply: Callable[[], str]) -> None:
    """Record that the marketplace has carried out a call, together with the consequences.

    `apply` returns a problem in words if a person has to look at it, or nothing.
    """
    locked = models.OutboxCall.objects.select_for_update().get(pk=call.pk)
    if locked.status in (CallStatus.DONE, CallStatus.DROPPED):
        return
    locked.last_error = apply()
    locked.status = CallStatus.FAILED if locked.last_error else CallStatus.DONE
    locked.next_try_at = None
    locked.done_at = now = database_now()
    if locked.lane and _settle_lane(locked, now):
        # An earlier call of the lane may have been on its way and arrived after this one, so repeat
        # this one once the earlier claim has ended. No earlier call was claimed after this one was
        # queued.
        again = max(now, locked.created_at + CLAIM)
        locked.status, locked.done_at, locked.next_try_at = CallStatus.WAITING, None, again
    locked.save(update_fields=["status", "next_try_at", "done_at", "last_error"])


def call_retry(*, call: models.OutboxCall) -> None:
    """Send a failed call again, after a person has looked at it."""
    failed = models.OutboxCall.objects.filter(pk=call.pk, status=CallStatus.FAILED)
    with transaction.atomic():
        if failed.update(status=CallStatus.WAITING, next_try_at=database_now(), done_at=None):
            wake(SEND_TASK)


def _still_ours(call: models.OutboxCall) -> QuerySet[models.OutboxCall]:
    """Return the call if nobody has claimed it since and it is not over."""
    return models.OutboxCall.objects.filter(
        pk=call.pk, status=CallStatus.WAITING, attempts=call.attempts
    )


def _settle_lane(call: models.OutboxCall, now: datetime) -> bool:
    """Tell whether calls that this one replaced were tried; answer yes only once."""
    # Filter by worker as well, because that column has an index.
    tried = models.OutboxCall.objects.filter(
        worker=call.worker_id,
        lane=call.lane,
        status=CallStatus.DROPPED,
        attempts__gt=0,
        done_at=None,
        pk__lt=call.pk,
    )
    return tried.update(done_at=now) > 0
