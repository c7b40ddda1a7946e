"""Pages without Redis: all of them work, and researchers' pages say what is delayed.

tests/e2e/test_redis_away.py has a whole site whose Redis is killed.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from celery import current_app
from django.contrib.auth.models import User
from django.test import Client
from django.test.utils import override_settings

from annotation.actions.crowd.heartbeat import heartbeat_note
from common.redis_service import Outage
from common.waking import wake_now
from tests.marketplace.site import PASSWORD, new_worker, words
from tests.services import free_port
from tests.web.campaigns import small_campaign

pytestmark = pytest.mark.django_db


@contextmanager
def using(url: str) -> Iterator[None]:
    """Have the site use this Redis for everything."""
    cache = {"BACKEND": "common.cache.TolerantRedisCache", "LOCATION": url}
    before = current_app.conf.broker_url
    current_app.conf.update(broker_url=url)
    try:
        with override_settings(REDIS_URL=url, CACHES={"default": cache}):
            yield
    finally:
        current_app.conf.update(broker_url=before)


@pytest.fixture(autouse=True)
def _new_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what one test learnt about its Redis before the next one starts."""
    known = Outage()
    for module in ("redis_service", "cache", "waking"):
        monkeypatch.setattr(f"common.{module}.outage", known)


@pytest.fixture(params=["gone", "silent"])
def _no_redis(request: pytest.FixtureRequest) -> Iterator[None]:
    """A Redis that refuses connections, or takes them and never says a word."""
    with socket.socket() as listener:
        if request.param == "gone":
            port = free_port()
        else:
            listener.bind(("127.0.0.1", 0))
            listener.listen(100)
            port = listener.getsockname()[1]
        with using(f"redis://127.0.0.1:{port}/0"):
            yield


@pytest.mark.usefixtures("_no_redis")
def test_signing_in(client: Client) -> None:
    User.objects.create_superuser("mira", password=PASSWORD)
    worker = new_worker()
    assert worker.user is not None
    for path, name, leads_to in (
        ("/accounts/login/", "mira", "/"),
        ("/marketplace/login/", worker.user.username, "/marketplace/"),
    ):
        browser = Client()
        wrong = browser.post(path, {"username": name, "password": "wrong"})
        assert wrong.status_code == 200
        right = browser.post(path, {"username": name, "password": PASSWORD})
        assert right.headers["Location"] == leads_to
        assert browser.get(leads_to).status_code == 200


@pytest.mark.usefixtures("_no_redis")
def test_the_researchers_pages_say_so(client: Client, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["first"])
    client.force_login(User.objects.create_superuser("mira"))
    heartbeat_note()
    wake_now("crowd_sweep")
    for path in ("/", f"/campaigns/{campaign.pk}/", "/experiments/"):
        said = words(client.get(path).content)
        assert "Redis is not responding, so background work is delayed" in said
        assert "start Redis again or check REDIS_URL" in said
    crowd = words(client.get(f"/campaigns/{campaign.pk}/crowd/").content)
    assert "The background process cannot run while Redis is not responding" in crowd
    for path in ("/accounts/login/", "/marketplace/"):
        assert "Redis" not in words(Client().get(path, follow=True).content)


@pytest.mark.usefixtures("_no_redis")
def test_the_health_check_says_so_and_names_nothing_else(client: Client) -> None:
    response = client.get("/healthz")
    assert response.status_code == 200
    assert response.json() == {"status": "degraded", "database": "ok", "redis": "away"}


def test_nothing_is_said_while_redis_answers(client: Client, redis_url: str) -> None:
    client.force_login(User.objects.create_superuser("mira"))
    with using(redis_url):
        assert client.get("/healthz").json()["redis"] == "ok"
        assert "Redis" not in words(client.get("/").content)
