"""Whether Redis answers, determined in bounded time and remembered for a moment.

Redis is the broker and the cache. The database holds the truth, so the site works without Redis,
only slower. But requests must not each wait for Redis in turn.
"""

import logging
import time
from enum import StrEnum
from functools import lru_cache
from threading import Lock
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

log = logging.getLogger(__name__)

# For each step of talking to Redis: it is near, and answers within milliseconds or not at all.
ANSWER_SECONDS = 1.0
# After it failed to answer, nobody in this process asks again for this long.
PAUSE_SECONDS = 5.0
REDIS_ERRORS = (RedisError, OSError)


class RedisState(StrEnum):
    """The state of Redis that the health check reports."""

    OK = "ok"
    AWAY = "away"
    UNUSED = "not used"


class Outage:
    """What this process knows about an outage of Redis."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked_at: float | None = None

    @property
    def is_fresh(self) -> bool:
        """Tell whether Redis failed to answer a moment ago, so that it is not asked again yet."""
        asked_at = self._asked_at
        return asked_at is not None and time.monotonic() - asked_at < PAUSE_SECONDS

    def note(self, error: Exception) -> None:
        """Remember that it did not answer; log this once per outage."""
        with self._lock:
            is_new, self._asked_at = self._asked_at is None, time.monotonic()
        if is_new:
            log.warning("Redis does not answer; the site goes on without it: %s", error)

    def end(self) -> None:
        """Remember that it answers."""
        with self._lock:
            is_over, self._asked_at = self._asked_at is not None, None
        if is_over:
            log.warning("Redis answers again.")


outage = Outage()


def connection_options() -> dict[str, Any]:
    """Return connection options that avoid long waits: no retries, short time-outs."""
    return {
        "socket_connect_timeout": ANSWER_SECONDS,
        "socket_timeout": ANSWER_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }


def redis_state() -> RedisState:
    """Ask Redis whether it is up, unless it was away a moment ago."""
    if not settings.REDIS_URL:
        return RedisState.UNUSED
    if outage.is_fresh:
        return RedisState.AWAY
    try:
        _client(settings.REDIS_URL).ping()
    except REDIS_ERRORS as error:
        outage.note(error)
        return RedisState.AWAY
    outage.end()
    return RedisState.OK


def redis_is_away() -> bool:
    """Tell whether Redis is needed and does not answer."""
    return redis_state() is RedisState.AWAY


def redis_notice(request: HttpRequest) -> dict[str, Any]:
    """Let templates ask; Redis is asked only for templates that do."""
    return {"redis_is_away": redis_is_away}


@lru_cache(maxsize=4)
def _client(url: str) -> "Redis":
    return Redis.from_url(url, **connection_options())
