"""Processes killed and Redis wiped while workers are at work: nothing is lost, nothing doubled.

Web server, Celery worker and scheduler are killed with all their children at 20 random points;
then Redis loses everything, and once more with a restart. The demo campaign, over HTTP.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
from redis import Redis

from tests.e2e.agreeing import check_agreement, submitted, unsettled
from tests.e2e.launching import DEMO_CORPUS, launch
from tests.e2e.site import Site, running_site
from tests.processes import ROOT, wait_for
from tests.services import redis

pytestmark = [pytest.mark.slow, pytest.mark.postgres]

SEED = 20
WORKERS = 12
KILLS = 20
# Between two points: so many more submissions, or so many seconds, whichever comes first.
MOST_BETWEEN, LONGEST_BETWEEN = 12, 5.0
DRAINED_SECONDS = 60


def test_nothing_is_lost_and_nothing_doubled(postgres_url: str, tmp_path: Path) -> None:
    with ExitStack() as services, running_site(postgres_url, tmp_path) as site:
        launch(site, DEMO_CORPUS)
        with crowd(site, tmp_path) as people:
            wait_for(lambda: submitted(site) > 0, "workers to begin")
            kill_at_random(site, Random(SEED))
            restarted = time.monotonic()
            people.send_signal(signal.SIGINT)
            people.wait()
        drain(site, restarted)
        settled_check(site, "processes were killed")
        for name in ("worker", "scheduler"):
            site.start(name)
        with crowd(site, tmp_path) as people:
            going_on(site, "a new crowd")
            Redis.from_url(site.redis_url).flushall()
            going_on(site, "Redis had been wiped")
            Redis.from_url(site.redis_url).shutdown(nosave=True)
            services.enter_context(redis(urlsplit(site.redis_url).port or 0))
            going_on(site, "Redis had been restarted")
            assert people.wait() == 0, (tmp_path / "crowd.log").read_text()
        drain(site, time.monotonic())
        settled_check(site, "Redis was wiped")


@contextmanager
def crowd(site: Site, folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Let simulated workers work; the same people each time."""
    with (folder / "crowd.log").open("ab") as log:
        people = subprocess.Popen(
            [
                *(sys.executable, "manage.py", "crowd_simulate", "--http", "--url", site.url),
                *("--campaign", DEMO_CORPUS.campaign, "--seed", str(SEED)),
                *("--workers", str(WORKERS), "--minutes", "5"),
            ],
            env=site.environment,
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        yield people
    finally:
        people.kill()
        people.wait()


def kill_at_random(site: Site, random: Random) -> None:
    """Kill one of the processes at each point and start it again at once."""
    names = list(site.processes)
    order: list[str] = []
    while len(order) < KILLS:
        # Each in turn, in another order each time: whoever is killed has had time to work.
        order += random.sample(names, len(names))
    first = submitted(site)
    for name in order[:KILLS]:
        point(site, random)
        site.kill(name)
        site.start(name, waits=False)
        print(f"{name} killed after {submitted(site)} submissions")
    [(left,)] = site.select("SELECT count(*) FROM annotation_openquestion")
    assert submitted(site) > first, "nobody could work while processes were killed"
    assert left, "the work was done before the last process was killed"


def point(site: Site, random: Random) -> None:
    """Wait for the next point."""
    enough = submitted(site) + random.randint(1, MOST_BETWEEN)
    until = time.monotonic() + random.uniform(0, LONGEST_BETWEEN)
    while time.monotonic() < until and submitted(site) < enough:
        time.sleep(0.05)


def going_on(site: Site, after: str) -> None:
    """Wait until people work and are paid: what is published, done and paid only grows."""
    for what, count in {
        "a submission": "SELECT count(*) FROM annotation_assignment",
        "a payment": "SELECT count(*) FROM annotation_payment",
    }.items():
        before = site.select(count)
        wait_for(lambda: site.select(count) > before, f"{what} after {after}")


def drain(site: Site, since: float) -> None:
    """Wait until all that was submitted is confirmed and paid, and every call is sent."""
    left: list[str] = []

    def drained() -> bool:
        left[:] = unsettled(site)
        return not left

    seconds = DRAINED_SECONDS - (time.monotonic() - since)
    try:
        wait_for(drained, "the outbox to drain", seconds=seconds)
    finally:
        print(f"drained {time.monotonic() - since:.1f} seconds after the last restart: {left}")


def settled_check(site: Site, after: str) -> None:
    """Compare both sides while nothing moves: without worker and scheduler."""
    site.stop("scheduler", "worker")
    check_agreement(site, after)
