"""Ten wrong passwords and the account has to wait, whichever way in was tried."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.cache import cache
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.test.utils import override_settings

from config import throttle

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
CACHES = {
    "memory": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
    "files": {"BACKEND": "django.core.cache.backends.filebased.FileBasedCache"},
    "redis": {"BACKEND": "django.core.cache.backends.redis.RedisCache"},
}


@pytest.fixture(params=CACHES)
def _cache(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[None]:
    settings: dict[str, Any] = dict(CACHES[request.param])
    if request.param == "files":
        settings["LOCATION"] = tmp_path
    elif request.param == "redis":
        settings["LOCATION"] = request.getfixturevalue("redis_url")
        settings["KEY_PREFIX"] = str(tmp_path)  # several tests share the server
    with override_settings(CACHES={"default": settings}):
        if request.param == "memory":
            cache.clear()
        yield


@pytest.fixture
def user() -> User:
    return User.objects.create_user("mira", password=PASSWORD)


def sign_in(client: Client, password: str, username: str = "mira", **extra: str) -> HttpResponse:
    """Send the sign-in form."""
    response = client.post(
        "/accounts/login/",
        {"username": username, "password": password},
        **extra,  # type: ignore[arg-type]  # headers; the stubs take them for named arguments
    )
    assert isinstance(response, HttpResponse)
    return response


@pytest.mark.usefixtures("_cache")
def test_waits_after_ten_failures(client: Client, user: User) -> None:
    for _ in range(throttle.FAILURES_PER_ACCOUNT - 1):
        assert sign_in(client, "wrong").status_code == 200
    assert sign_in(client, "wrong").status_code == 429
    refused = sign_in(client, PASSWORD)
    assert refused.status_code == 429, "the right password does not help while waiting"
    assert 0 < int(refused.headers["Retry-After"]) <= throttle.WAIT_SECONDS
    assert b"Too many failed attempts" in refused.content
    assert "_auth_user_id" not in client.session


@pytest.mark.usefixtures("_cache")
def test_the_wait_ends(client: Client, user: User, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(throttle.FAILURES_PER_ACCOUNT):
        sign_in(client, "wrong")
    later = time.time() + throttle.WAIT_SECONDS + 1
    monkeypatch.setattr(time, "time", lambda: later)
    assert sign_in(client, PASSWORD).status_code == 302


@pytest.mark.usefixtures("_cache")
def test_success_clears_the_count(client: Client, user: User) -> None:
    for _ in range(2):
        for _ in range(throttle.FAILURES_PER_ACCOUNT - 1):
            sign_in(client, "wrong")
        assert sign_in(client, PASSWORD).status_code == 302


@pytest.mark.usefixtures("_empty_cache")
def test_others_are_not_locked_out(client: Client, user: User) -> None:
    User.objects.create_user("noor", password=PASSWORD)
    for _ in range(throttle.FAILURES_PER_ACCOUNT):
        sign_in(client, "wrong", REMOTE_ADDR="192.0.2.1")
    assert sign_in(client, PASSWORD, REMOTE_ADDR="192.0.2.1").status_code == 429
    assert sign_in(client, PASSWORD, username="noor", REMOTE_ADDR="192.0.2.1").status_code == 302
    assert sign_in(client, PASSWORD, REMOTE_ADDR="192.0.2.2").status_code == 302


@pytest.mark.usefixtures("_empty_cache")
def test_capitals_are_no_way_round(client: Client, user: User) -> None:
    for name in ["mira", "Mira", "MIRA", "miRA", "mIra"] * 2:
        sign_in(client, "wrong", username=name)
    assert sign_in(client, PASSWORD).status_code == 429


@pytest.mark.usefixtures("_empty_cache")
def test_one_address_trying_many_accounts(
    client: Client, user: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(throttle, "FAILURES_PER_ADDRESS", 20)
    for number in range(20):
        sign_in(client, "wrong", username=f"guess{number}")
    assert sign_in(client, PASSWORD).status_code == 429


@pytest.mark.usefixtures("_empty_cache")
def test_every_way_in_is_covered(client: Client, user: User) -> None:
    request = RequestFactory().post("/api/", REMOTE_ADDR="127.0.0.1")
    for _ in range(throttle.FAILURES_PER_ACCOUNT):
        assert authenticate(request, username="mira", password="wrong") is None
    assert authenticate(request, username="mira", password=PASSWORD) is None
    assert client.get("/admin/login/?next=/admin/").headers["Location"] == (
        "/accounts/login/?next=/admin/"
    )


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, "203.0.113.9", "192.0.2.1"),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        (2, "6.6.6.6, 203.0.113.9, 198.51.100.1", "203.0.113.9"),
        (2, "203.0.113.9", "192.0.2.1"),
        (1, "", "192.0.2.1"),
    ],
)
def test_address_behind_proxies(proxies: int, forwarded: str, expected: str) -> None:
    request = RequestFactory().get(
        "/", REMOTE_ADDR="192.0.2.1", headers={"x-forwarded-for": forwarded}
    )
    with override_settings(TRUSTED_PROXIES=proxies):
        assert throttle.client_address(request) == expected
