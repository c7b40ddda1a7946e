"""Waking Celery's workers. The database says what is due; a lost message costs time only."""

import logging

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)


def wake(task: str) -> None:
    """Have a task of that name run soon after this transaction; the sweeper runs it anyway."""
    transaction.on_commit(lambda: wake_now(task))


def wake_now(task: str) -> None:
    """Have it run without waiting for any transaction."""
    try:
        # No answer is waited for, and a broker that is down must not hold up who comes by.
        current_app.send_task(task, retry=False, expires=60)
    except (OperationalError, OSError) as error:
        log.warning("%s was not woken, and waits for its turn: %s", task, error)
