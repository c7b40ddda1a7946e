"""Waking Celery's workers. The database says what is due; a lost message costs time only."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from common.redis_service import REDIS_ERRORS, outage, redis_is_away

log = logging.getLogger(__name__)


def wake(task: str) -> None:
    """Have a task of that name run soon after this transaction; the sweeper runs it anyway."""
    transaction.on_commit(lambda: wake_now(task))


def wake_now(task: str) -> None:
    """Have it run without waiting for any transaction."""
    # Celery tries a broker that is away for six seconds; whoever comes by should not wait for that.
    if redis_is_away():
        return
    try:
        # No answer is waited for.
        current_app.send_task(task, retry=False, expires=60)
    except (OperationalError, *REDIS_ERRORS) as error:
        outage.note(error)
        log.warning("%s was not woken, and waits for its turn: %s", task, error)
