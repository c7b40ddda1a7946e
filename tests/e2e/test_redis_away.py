"""Redis gone, silent or wiped while people are at work: the site works on, and says so.

Nothing is lost: what Redis held is found again in the database.
"""

import os
import re
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
import pytest
from redis import Redis

from annotation.simulation.http.browser import Browser, Reply
from tests.e2e.agreement import judged, submitted
from tests.e2e.launch import DEMO_CORPUS, launch
from tests.e2e.site import Site, running_site
from tests.e2e.test_kill import crowd, drain, frozen_check, going_on
from tests.processes import wait_for
from tests.services import redis
from tests.sizes import WHOLE

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.postgres]

PASSWORD = "correct horse battery"
WIPES = 10 if WHOLE else 3
# What the researchers' pages have to say.
DELAYED = "background work is delayed"

MAKE_PEOPLE = f"""
from django.contrib.auth.models import User
from marketplace.actions.workers import worker_sign_up
User.objects.create_superuser("researcher", password={PASSWORD!r})
worker_sign_up(username="worker", password={PASSWORD!r}, country="DE", is_adult=True,
               open_to_all=True)
"""


def test_the_site_works_without_redis(postgres_url: str, tmp_path: Path) -> None:
    with ExitStack() as services, running_site(postgres_url, tmp_path) as site:
        launch(site, DEMO_CORPUS, "crowd.test_price_cents=3")
        site.manage("shell", "-c", MAKE_PEOPLE)
        with crowd(site, DEMO_CORPUS):
            going_on(site, "the launch")
            check_pages(site, redis_is_there=True)
            with silent(site):
                check_pages(site, redis_is_there=False)
            wait_for(lambda: health(site)["redis"] == "ok", "Redis to be heard again")
            going_on(site, "Redis was silent")
            Redis.from_url(site.redis_url).shutdown(nosave=True)
            # Whoever was at a HIT then hands it in; new ones are not published now.
            before = submitted(site)
            wait_for(lambda: submitted(site) > before, "somebody to hand in", seconds=120)
            check_pages(site, redis_is_there=False)
            services.enter_context(redis(urlsplit(site.redis_url).port or 0))
            going_on(site, "Redis was away")
            stopped = time.monotonic()
        check_pages(site, redis_is_there=True)
        drain(site, stopped, "people stopped, Redis having been away")
        frozen_check(site, "Redis was away")
        assert "Traceback" not in site.log("web"), site.log("web")


@pytest.mark.whole
def test_redis_wiped_again_and_again(postgres_url: str, tmp_path: Path) -> None:
    with running_site(postgres_url, tmp_path) as site:
        launch(site, DEMO_CORPUS, "crowd.test_price_cents=3")
        with crowd(site, DEMO_CORPUS):
            going_on(site, "the launch")
            for number in range(WIPES):
                before = submitted(site)
                Redis.from_url(site.redis_url).flushall()
                wait_for(
                    lambda before=before: submitted(site) > before,  # type: ignore[misc]
                    f"somebody to submit after wipe {number + 1}",
                    seconds=120,
                )
            wait_for(lambda: judged(site) > 0, "judgments", seconds=120)
            stopped = time.monotonic()
        drain(site, stopped, f"people stopped, Redis having been wiped {WIPES} times")
        frozen_check(site, f"Redis was wiped {WIPES} times")
        print(f"{WIPES} wipes, {submitted(site)} submitted, {judged(site)} judgments")


@contextmanager
def silent(site: Site) -> Iterator[None]:
    """Have Redis take connections and say nothing: worse than not being there."""
    about = Redis.from_url(site.redis_url).info("server")
    os.kill(int(about["process_id"]), signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(int(about["process_id"]), signal.SIGCONT)


def check_pages(site: Site, *, redis_is_there: bool) -> None:
    """Sign in on both pages anew, and look at what either sees."""
    state = health(site)
    assert state["database"] == "ok"
    assert state["redis"] == ("ok" if redis_is_there else "away")
    assert state["status"] == ("ok" if redis_is_there else "degraded")
    with closing(Browser()) as researcher:
        assert sign_in(researcher, f"{site.url}/accounts/login/", "researcher").path == "/"
        [(campaign,)] = site.select("SELECT id FROM annotation_campaign")
        for path in ("/", f"/campaigns/{campaign}/", f"/campaigns/{campaign}/crowd/"):
            text = " ".join(researcher.get(f"{site.url}{path}").text.split())
            assert (DELAYED in text) is not redis_is_there, path
            assert ("start Redis again" in text) is not redis_is_there, path
    with closing(Browser()) as worker:
        found = sign_in(worker, f"{site.url}/marketplace/login/", "worker")
        assert found.path == "/marketplace/"
        assert DELAYED not in found.text, "workers can do nothing about it"


def health(site: Site) -> dict[str, str]:
    """Return what the health check says; it must say something."""
    with closing(Browser()) as browser:
        reply = browser.get(f"{site.url}/healthz")
    assert reply.status == 200
    return msgspec.json.decode(reply.body, type=dict[str, str])


def sign_in(browser: Browser, url: str, name: str) -> Reply:
    """Send the form with the token of its page; return the page that comes of it."""
    page = browser.get(url)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page.text)
    assert token is not None
    fields = {"csrfmiddlewaretoken": token[1], "username": name, "password": PASSWORD}
    return browser.post_form(url, fields, referrer=url)
