"""The cache in Redis: JSON, not pickle, and an empty cache while Redis is away."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache, RedisCacheClient

from config.redis_service import REDIS_ERRORS, connection_options, outage

T = TypeVar("T")


def cached(key: str, kind: type[T], make: Callable[[], T], *, seconds: int) -> T:
    """Return what the cache holds under `key`, or make it and keep it for so long.

    It is kept as JSON and checked against its type when it is read: what somebody else wrote
    there, or an older version of the program, is made anew.
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
    """Values as JSON: reading them runs no code, whoever has written them."""

    def dumps(self, value: object) -> bytes:
        """Return the value as text; whole numbers as Redis itself counts them."""
        return msgspec.json.encode(value)

    def loads(self, data: bytes) -> Any:
        """Return the value; what is no JSON counts as nothing."""
        try:
            return msgspec.json.decode(data)
        except msgspec.DecodeError:
            return None


class TolerantRedisClient(RedisCacheClient):
    """Talks to Redis; while that is away it finds nothing and keeps nothing."""

    def __init__(self, servers: list[str], **options: Any) -> None:
        super().__init__(servers, serializer=JSONSerializer, **connection_options() | options)

    def add(self, key: str, value: Any, timeout: int | None) -> bool:
        return _tried(lambda: super(TolerantRedisClient, self).add(key, value, timeout), False)

    def get(self, key: str, default: Any) -> Any:
        found = _tried(lambda: super(TolerantRedisClient, self).get(key, None), None)
        return default if found is None else found

    def set(self, key: str, value: Any, timeout: int | None) -> None:
        _tried(lambda: super(TolerantRedisClient, self).set(key, value, timeout), None)

    def touch(self, key: str, timeout: int | None) -> bool:
        return _tried(lambda: super(TolerantRedisClient, self).touch(key, timeout), False)

    def delete(self, key: str) -> bool:
        return _tried(lambda: super(TolerantRedisClient, self).delete(key), False)

    def get_many(self, keys: Iterable[str]) -> dict[str, Any]:
        return _tried(lambda: super(TolerantRedisClient, self).get_many(keys), {})

    def has_key(self, key: str) -> bool:
        return _tried(lambda: super(TolerantRedisClient, self).has_key(key), False)

    def incr(self, key: str, delta: int) -> int:
        """Count up; a number that cannot be reached is one that is not there."""
        found = _tried(lambda: super(TolerantRedisClient, self).incr(key, delta), None)
        if found is None:
            raise ValueError(f"Key {key!r} not found.")
        return int(found)

    def set_many(self, data: Mapping[str, Any], timeout: int | None) -> None:
        _tried(lambda: super(TolerantRedisClient, self).set_many(data, timeout), None)

    def delete_many(self, keys: Iterable[str]) -> None:
        _tried(lambda: super(TolerantRedisClient, self).delete_many(keys), None)

    def clear(self) -> bool:
        return _tried(lambda: super(TolerantRedisClient, self).clear(), False)


class TolerantRedisCache(RedisCache):
    """Django's cache in Redis, which nobody has to wait for."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, params)
        self._class = TolerantRedisClient


def _tried(ask: Callable[[], T], otherwise: T) -> T:
    """Return what Redis says, or `otherwise` while it is away."""
    if outage.is_fresh:
        return otherwise
    try:
        said = ask()
    except REDIS_ERRORS as error:
        outage.note(error)
        return otherwise
    outage.end()
    return said
