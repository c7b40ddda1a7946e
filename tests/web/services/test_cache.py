"""The cache in Redis: JSON, so nobody can smuggle in code; and an empty cache without Redis."""

import pickle
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.core.cache import cache
from django.test.utils import override_settings
from redis import Redis

from annotation.selectors.campaign.overview import JudgmentCount
from common import redis_service
from common.cache import cached
from common.redis_service import Outage, RedisState, redis_state
from tests.services import free_port, redis

NOBODY = "redis://127.0.0.1:{}/0"


@pytest.fixture(autouse=True)
def _new_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what one test learnt about its Redis before the next one starts."""
    known = Outage()
    monkeypatch.setattr("common.redis_service.outage", known)
    monkeypatch.setattr("common.cache.outage", known)


def caches(url: str) -> dict[str, dict[str, Any]]:
    return {"default": {"BACKEND": "common.cache.TolerantRedisCache", "LOCATION": url}}


@pytest.fixture
def url(redis_url: str, tmp_path: Path) -> Iterator[str]:
    settings = caches(redis_url)
    settings["default"]["KEY_PREFIX"] = str(tmp_path)  # several tests share the server
    with override_settings(CACHES=settings, REDIS_URL=redis_url):
        yield redis_url


class Evil:
    """A value that writes a file when it is unpickled."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)


@pytest.mark.parametrize("value", [5, 1.5, "text", True, ["a", 1], {"a": None}])
def test_values_come_back(url: str, value: object) -> None:
    cache.set("key", value, 60)
    assert cache.get("key") == value


def test_counting(url: str) -> None:
    assert cache.add("count", 1, 60)
    assert not cache.add("count", 1, 60)
    assert cache.incr("count") == 2
    assert cache.get_many(["count", "nothing"]) == {"count": 2}


def test_a_pickle_is_nothing(url: str, tmp_path: Path) -> None:
    """Whoever can write to Redis cannot run code here."""
    written = tmp_path / "written"
    Redis.from_url(url).set(cache.make_key("key"), pickle.dumps(Evil(written)))
    assert cache.get("key") is None
    assert cache.get("key", "default") == "default"
    assert not written.exists()


def test_structures_are_kept_as_json_and_checked(url: str) -> None:
    made = JudgmentCount(
        at=datetime(2026, 11, 1, tzinfo=UTC),
        recorded={"links": 3},
        counted={"links": 2},
        workers={"links": 1},
        all_workers=1,
    )
    calls: list[int] = []

    def make() -> JudgmentCount:
        calls.append(1)
        return made

    assert cached("count", JudgmentCount, make, seconds=60) == made
    assert cached("count", JudgmentCount, make, seconds=60) == made
    assert len(calls) == 1
    cache.set("count", msgspec.json.encode({"at": "yesterday"}).decode(), 60)
    assert cached("count", JudgmentCount, make, seconds=60) == made
    assert len(calls) == 2


def test_without_redis_the_cache_is_empty() -> None:
    nobody = NOBODY.format(free_port())
    with override_settings(CACHES=caches(nobody), REDIS_URL=nobody):
        cache.set("key", 1, 60)
        cache.set_many({"key": 1})
        assert cache.get("key") is None
        assert cache.get("key", 7) == 7
        assert cache.get_many(["key"]) == {}
        assert not cache.add("key", 1)
        assert not cache.touch("key")
        assert not cache.delete("key")
        assert "key" not in cache
        with pytest.raises(ValueError, match="not found"):
            cache.incr("key")
        cache.delete_many(["key"])
        cache.clear()
        assert cached("made", dict[str, int], lambda: {"a": 1}, seconds=60) == {"a": 1}


def test_an_outage_is_found_out_and_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    with override_settings(CACHES=caches(NOBODY.format(port)), REDIS_URL=NOBODY.format(port)):
        assert redis_state() is RedisState.AWAY
        with redis(port):
            assert redis_state() is RedisState.AWAY, "not asked again at once"
            monkeypatch.setattr(redis_service, "PAUSE_SECONDS", 0)
            assert redis_state() is RedisState.OK
            cache.set("key", 1, 60)
            assert cache.get("key") == 1
        assert cache.get("key") is None
        assert redis_state() is RedisState.AWAY


def test_where_redis_is_not_used_nobody_asks() -> None:
    with override_settings(REDIS_URL=""):
        assert redis_state() is RedisState.UNUSED
