"""Whether Redis answers, found out in bounded time and remembered for a moment.

Redis is the broker and the cache. The database holds the truth, so the site works without Redis,
only slower; what must not happen is that every request waits for it in turn.
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
# Once it has not answered, nobody in this process asks again for so long.
PAUSE_SECONDS = 5.0
REDIS_ERRORS = (RedisError, OSError)


class RedisState(StrEnum):
    """What the health check says of it."""

    OK = "ok"
    AWAY = "away"
    UNUSED = "not used"


class Outage:
    """What this process knows of Redis being away."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._asked_at: float | None = None

    @property
    def is_fresh(self) -> bool:
        """Tell whether Redis did not answer a moment ago: then it is not asked again yet."""
        asked_at = self._asked_at
        return asked_at is not None and time.monotonic() - asked_at < PAUSE_SECONDS

    def note(self, error: Exception) -> None:
        """Remember that it did not answer; the log says so once an outage."""
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
    """Return how to connect without waiting for long: no second tries, short time-outs."""
    return {
        "socket_connect_timeout": ANSWER_SECONDS,
        "socket_timeout": ANSWER_SECONDS,
        "retry": Retry(NoBackoff(), 0),
    }


def redis_state() -> RedisState:
    """Ask Redis whether it is there, unless it was away a moment ago."""
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
    """Let templates ask; only those that do make anybody ask Redis."""
    return {"redis_is_away": redis_is_away}


@lru_cache(maxsize=4)
def _client(url: str) -> "Redis":
    return Redis.from_url(url, **connection_options())
