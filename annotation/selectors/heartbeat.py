"""Whether the background work is done: its sweep leaves the time behind, in the shared cache."""

import time

from django.core.cache import cache

# Seconds since 1970. Without a cache that all processes share, nobody would see it.
HEARTBEAT = "crowd:heartbeat"
# The sweep runs every half minute: after this long something is wrong.
LATE_SECONDS = 120


def heartbeat_age() -> float | None:
    """Return how many seconds ago the sweep last ran; None if nobody knows."""
    beat = cache.get(HEARTBEAT)
    return max(0.0, time.time() - beat) if isinstance(beat, int | float) else None
