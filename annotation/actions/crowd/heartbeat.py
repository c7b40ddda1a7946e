"""The heartbeat of the background work, for the dashboard."""

from django.core.cache import cache

from annotation.selectors.crowd.heartbeat import HEARTBEAT
from common.clock import database_now

# Kept long after it is overdue, so that the page can show since when nothing runs.
KEPT_SECONDS = 30 * 24 * 3600


def heartbeat_note() -> None:
    """Record that the background work runs."""
    cache.set(HEARTBEAT, database_now().timestamp(), KEPT_SECONDS)
