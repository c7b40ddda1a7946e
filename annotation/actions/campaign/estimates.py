"""Every write to the table of estimates: the request, its progress and its result.

A worker that takes up an estimate gets an attempt number. If it dies, another worker takes up the
estimate with the next number, and anything the first still reports is ignored.
"""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from annotation import models
from annotation.models import EstimateStatus
from common.waking import wake

TASK = "campaign_estimates"
# A worker that has reported nothing for this long is dead: an image takes a second at most.
SILENCE = timedelta(minutes=2)
MOST_ATTEMPTS = 3
DIED = f"{MOST_ATTEMPTS} background workers stopped while they were making it"


class EstimateUnderWayError(RuntimeError):
    """An estimate is already being made."""


class AbandonedError(RuntimeError):
    """Another worker has taken up the estimate since."""


def estimate_ask(*, campaign: models.Campaign, by: User | None) -> models.StoredEstimate:
    """Request an estimate; a worker makes it soon. Only one at a time for each campaign."""
    assert campaign.current_settings is not None  # every campaign is made with settings
    try:
        with transaction.atomic():
            made = models.StoredEstimate.objects.create(
                campaign=campaign, settings=campaign.current_settings, by=by
            )
            wake(TASK)
            return made
    except IntegrityError:
        raise EstimateUnderWayError(f"an estimate of {campaign} is already being made") from None


@transaction.atomic
def estimate_take() -> models.StoredEstimate | None:
    """Take up the oldest estimate that waits, or was left by a worker that died."""
    silent = Q(status=EstimateStatus.RUNNING, beat_at__lt=Now() - SILENCE)
    due = models.StoredEstimate.objects.select_for_update().order_by("pk")
    for found in due.filter(Q(status=EstimateStatus.WAITING) | silent):
        if found.attempt < MOST_ATTEMPTS:
            found.attempt += 1
            found.status = EstimateStatus.RUNNING
            row = models.StoredEstimate.objects.filter(pk=found.pk)
            row.update(attempt=F("attempt") + 1, status=found.status, done=0, beat_at=Now())
            return found
        models.StoredEstimate.objects.filter(pk=found.pk).update(
            status=EstimateStatus.FAILED, error=DIED, ended_at=Now()
        )
    return None


def estimate_progress(*, stored: models.StoredEstimate, done: int, total: int) -> None:
    """Record the progress, which also shows that the worker is alive."""
    _say(stored, done=done, total=total, beat_at=Now())


def estimate_finish(*, stored: models.StoredEstimate, body: str) -> None:
    """Note the result."""
    _say(stored, status=EstimateStatus.DONE, body=body, ended_at=Now())


def estimate_fail(*, stored: models.StoredEstimate, error: str) -> None:
    """Record that the estimate failed, and why."""
    _say(stored, status=EstimateStatus.FAILED, error=error, ended_at=Now())


def _say(stored: models.StoredEstimate, **values: Any) -> None:
    running = models.StoredEstimate.objects.filter(
        pk=stored.pk, attempt=stored.attempt, status=EstimateStatus.RUNNING
    )
    if not running.update(**values):
        raise AbandonedError(f"{stored} was taken up by somebody else")
