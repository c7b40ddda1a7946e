"""The sign of life of the background work, for the dashboard."""

from django.core.cache import cache

from annotation.selectors.crowd.heartbeat import HEARTBEAT
from common.clock import database_now

# Long after it is late: the page can still say since when nothing runs.
KEPT_SECONDS = 30 * 24 * 3600


def heartbeat_note() -> None:
    """Note that the background work runs."""
    cache.set(HEARTBEAT, database_now().timestamp(), KEPT_SECONDS)
