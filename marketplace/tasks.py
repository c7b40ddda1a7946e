"""What Celery's scheduler wakes. Each may run at any time, twice at once, or not for days."""

from celery import shared_task

from marketplace.actions.delivery import events_deliver
from marketplace.actions.sweep import old_hits_dispose, sweep


@shared_task(name="marketplace_sweep")
def marketplace_sweep() -> None:
    """Expire, abandon and auto-approve what is due."""
    sweep()


@shared_task(name="marketplace_dispose")
def marketplace_dispose() -> None:
    """Dispose of HITs that have been finished for long."""
    old_hits_dispose()


@shared_task(name="marketplace_deliver")
def marketplace_deliver() -> None:
    """Deliver the notifications that are due."""
    events_deliver()
