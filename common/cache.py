"""The cache in Redis: it stores JSON, not pickle, and is empty while Redis is away."""

from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from common.redis_service import REDIS_ERRORS, connection_options, outage

T = TypeVar("T")


def cached(key: str, kind: type[T], make: Callable[[], T], *, seconds: int) -> T:
    """Return the cached value of `key`, or make it and keep it for that long.

    It is stored as JSON and checked against its type when read. A value that somebody else or an
    older version wrote there is replaced.
    """
    found = cache.get(key)
    if isinstance(found, str):
        try:
            return msgspec.json.decode(found, type=kind)
        except (msgspec.DecodeError, ValueError):
            pass
    made = make()
    cache.set(key, msgspec.json.encode(made).decode(), seconds)
    return made


class JSONSerializer:
    """Values as JSON: reading them never runs code, no matter who wrote them."""

    def dumps(self, obj: Any) -> bytes:
        """Return the value as text; integers in the form in which Redis itself counts."""
        return msgspec.json.encode(obj)

    def loads(self, data: Any) -> Any:
        """Return the value; None if it is not JSON."""
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError:
            return None


class TolerantRedisClient(RedisCacheClient):
    """Talks to Redis; while Redis is away, it finds and stores nothing."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers, serializer=JSONSerializer, **connection_options() | options)

    def add(self, key: Any, value: Any, timeout: Any) -> bool:
        return _tried(False, super().add, key, value, timeout)

    def get(self, key: Any, default: Any) -> Any:
        found = _tried(None, super().get, key, None)
        return default if found is None else found

    def set(self, key: Any, value: Any, timeout: Any) -> None:
        _tried(None, super().set, key, value, timeout)

    def touch(self, key: Any, timeout: Any) -> bool:
        return _tried(False, super().touch, key, timeout)

    def delete(self, key: Any) -> bool:
        return _tried(False, super().delete, key)

    def get_many(self, keys: Any) -> dict[Any, Any]:
        nothing: dict[Any, Any] = {}
        return _tried(nothing, super().get_many, keys)

    def has_key(self, key: Any) -> bool:
        return _tried(False, super().has_key, key)

    def incr(self, key: Any, delta: int) -> int:
        """Count up; while Redis is away, the number does not exist."""
        found = _tried(None, super().incr, key, delta)
        if found is None:
            raise ValueError(f"Key {key!r} not found.")
        return int(found)

    def set_many(self, data: Any, timeout: Any) -> None:
        _tried(None, super().set_many, data, timeout)

    def delete_many(self, keys: Any) -> None:
        _tried(None, super().delete_many, keys)

    def clear(self) -> bool:
        return _tried(False, super().clear)


class TolerantRedisCache(RedisCache):
    """Django's cache in Redis, without waiting while Redis is away."""

    _class: type[RedisCacheClient]

    def __init__(self, server: str | list[str], params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = TolerantRedisClient


def _tried(otherwise: T, ask: Callable[..., T], *given: Any) -> T:
    """Return Redis's answer, or `otherwise` while Redis is away."""
    if outage.is_fresh:
        return otherwise
    try:
        said = ask(*given)
    except REDIS_ERRORS as error:
        outage.note(error)
        return otherwise
    outage.end()
    return said
