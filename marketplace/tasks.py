"""Celery's scheduled tasks. Each may run at any time, twice at once, or not for days."""

from celery import shared_task

from marketplace.actions.notices.delivery import events_deliver
from marketplace.actions.sweep import old_hits_dispose, sweep
from marketplace.actions.tokens import tokens_forget


@shared_task(name="marketplace_sweep")
def marketplace_sweep() -> None:
    """Expire, abandon and auto-approve what is due."""
    sweep()


@shared_task(name="marketplace_dispose")
def marketplace_dispose() -> None:
    """Dispose of HITs that were finished long ago, and of expired request tokens."""
    old_hits_dispose()
    tokens_forget()


@shared_task(name="marketplace_deliver")
def marketplace_deliver() -> None:
    """Deliver the notifications that are due."""
    events_deliver()
