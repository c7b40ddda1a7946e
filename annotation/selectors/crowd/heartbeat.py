"""Whether the background work runs: its sweep stores the time in the shared cache."""

from django.core.cache import cache

from common.clock import database_now

# Seconds since 1970, by the database's clock: the worker's and ours may not agree. Without a cache
# that all processes share, no other process would see it.
HEARTBEAT = "crowd:heartbeat"
# The sweep runs every half minute: after this long something is wrong.
LATE_SECONDS = 120


def heartbeat_age() -> float | None:
    """Return how many seconds ago the sweep last ran; None if that is unknown."""
    beat = cache.get(HEARTBEAT)
    if not isinstance(beat, int | float):
        return None
    return max(0.0, database_now().timestamp() - beat)
