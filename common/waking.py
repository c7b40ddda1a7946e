"""Waking Celery's workers. What is due is in the database, so a lost message only costs time."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

from common.redis_service import REDIS_ERRORS, outage, redis_is_away

log = logging.getLogger(__name__)


def wake(task: str) -> None:
    """Run the task soon after this transaction commits; the scheduler runs it later anyway."""
    transaction.on_commit(lambda: wake_now(task))


def wake_now(task: str) -> None:
    """Run the task soon, without waiting for a transaction."""
    # Celery retries a broker that is down for six seconds. Nobody should wait for that.
    if redis_is_away():
        return
    try:
        current_app.send_task(task, retry=False, expires=60)
    except (OperationalError, *REDIS_ERRORS) as error:
        outage.note(error)
        log.warning("%s was not woken; it runs at its next scheduled time: %s", task, error)
