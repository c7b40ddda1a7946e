"""Celery's tasks. Each may run at any time, twice at once, or not for days."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

from celery import current_app, shared_task
from celery.signals import worker_ready

from annotation.actions.campaign.estimates import TASK
from annotation.actions.crowd.heartbeat import heartbeat_note
from annotation.actions.crowd.supply import hits_plan
from annotation.actions.gold.upkeep import gold_review
from annotation.actions.review.doubts import doubts_raise
from annotation.actions.work.leases import leases_expire
from annotation.actions.work.starved_questions import starving_mark
from annotation.crowd.client import crowd_client, is_configured
from annotation.crowd.polling import hits_look
from annotation.crowd.sender import calls_send
from annotation.selectors.crowd.supply import campaigns_launched
from annotation.simulation.estimate_job import estimates_make
from common.files.trouble import disk_trouble
from common.waking import wake_now

log = logging.getLogger(__name__)

# A task that has run for this long leaves the rest to the next.
LONGEST_SECONDS = 20
AT_A_TIME = 100


@shared_task(name="crowd_send")
def crowd_send() -> None:
    """Send the calls to the marketplace that are due."""
    until = time.monotonic() + LONGEST_SECONDS
    while is_configured() and time.monotonic() < until:
        if calls_send(client=crowd_client(), most=AT_A_TIME) < AT_A_TIME:
            break


@shared_task(name="crowd_look")
def crowd_look() -> None:
    """Ask about the HITs that are due."""
    until = time.monotonic() + LONGEST_SECONDS
    while is_configured() and time.monotonic() < until:
        if hits_look(client=crowd_client(), most=AT_A_TIME) < AT_A_TIME:
            break


@shared_task(name="crowd_supply")
def crowd_supply() -> None:
    """Publish and take back HITs, as open questions and money justify."""
    for campaign in campaigns_launched():
        with _alone(f"planning the supply of {campaign}"):
            hits_plan(campaign=campaign)


@shared_task(name="crowd_sweep")
def crowd_sweep() -> None:
    """Do what is due by the clock, and what killed processes have left behind."""
    heartbeat_note()
    with _alone("giving leases back"):
        leases_expire()
    with _alone("raising doubts"):
        while doubts_raise():
            pass
    for campaign in campaigns_launched():
        with _alone(f"marking starving questions of {campaign}"):
            starving_mark(campaign=campaign)
        with _alone(f"reviewing gold questions of {campaign}"):
            gold_review(campaign=campaign)


@shared_task(name=TASK)
def campaign_estimates() -> None:
    """Make the estimates of costs that were asked for."""
    estimates_make()


@worker_ready.connect
def _sweep_first(**_: object) -> None:
    """Do at once what fell due while no worker ran, and show the dashboard that one runs."""
    # A worker for other queues would never take it up.
    if current_app.conf.task_default_queue in current_app.amqp.queues.consume_from:
        wake_now("crowd_sweep")


@contextmanager
def _alone(what: str) -> Iterator[None]:
    """Keep a failure here from stopping anything else; the next run tries again."""
    try:
        yield
    except Exception as error:
        words = disk_trouble(error)
        if words is None:
            log.exception("%s has failed", what)
        else:
            log.error("%s has failed: %s", what, words)
