"""What Celery's scheduler wakes. Each may run at any time, twice at once, or not for days."""

import time

from celery import shared_task

from annotation.crowd.client import crowd_client, is_configured
from annotation.crowd.looking import hits_look
from annotation.crowd.sending import calls_send

# A task that has this long behind it leaves what is left to the next.
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
