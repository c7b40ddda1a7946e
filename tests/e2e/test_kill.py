"""Processes killed and Redis wiped while workers are at work: nothing is lost, nothing doubled.

Web server, Celery worker and scheduler are killed with all their children, in turn and at random
points, seven times each, or fifty times each in `make test-whole`;
then Redis loses everything, and once more with a restart. The demo campaign, over HTTP.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from random import Random
from urllib.parse import urlsplit

import pytest
from redis import Redis

from tests.e2e.agreement import check_agreement, judged, paid_since, submitted, unsettled
from tests.e2e.launch import DEMO_CORPUS, Corpus, launch
from tests.e2e.site import Site, running_site
from tests.processes import ROOT, wait_for
from tests.services import redis

pytestmark = [pytest.mark.slow, pytest.mark.long, pytest.mark.postgres, pytest.mark.whole]

SEED = 20
WORKERS = 6
# Of each process, in `make test-whole` with the public dataset: the demo's work would run out.
MOST_KILLS, KILLS = 50, 7
# Between two points: so many more submissions and so many seconds. If all are kept waiting by
# what was killed before, it is killed again.
MOST_BETWEEN, LONGEST_BETWEEN = 6, 0.5
PATIENCE = 4.0
DRAINED_SECONDS = 60
# So many are submitted and paid after an accident before the next.
GOING_ON = 10


def test_nothing_is_lost_and_nothing_doubled(
    public_corpus: Corpus | None, postgres_url: str, tmp_path: Path
) -> None:
    corpus = public_corpus or DEMO_CORPUS
    with ExitStack() as services, running_site(postgres_url, tmp_path) as site:
        # Tests are paid here, so that all that is submitted is.
        launch(site, corpus, "crowd.test_price_cents=3")
        with crowd(site, corpus):
            going_on(site, "the launch")
            kill_at_random(site, Random(SEED), MOST_KILLS if public_corpus else KILLS)
            restarted = time.monotonic()
        drain(site, restarted, "the last restart")
        frozen_check(site, "processes were killed")
        for name in ("worker", "scheduler"):
            site.start(name)
        with crowd(site, corpus):
            going_on(site, "processes were killed")
            Redis.from_url(site.redis_url).flushall()
            going_on(site, "Redis was wiped")
            Redis.from_url(site.redis_url).shutdown(nosave=True)
            services.enter_context(redis(urlsplit(site.redis_url).port or 0))
            going_on(site, "Redis was restarted")
            wait_for(lambda: judged(site) > 0, "judgments", seconds=120)
            stopped = time.monotonic()
        drain(site, stopped, "people stopped, Redis having been wiped")
        frozen_check(site, "Redis was wiped and restarted")
        print(f"{submitted(site)} submitted, {judged(site)} judgments")


@contextmanager
def crowd(site: Site, corpus: Corpus) -> Iterator[None]:
    """Have simulated workers at work, the same people each time; in the end they are called off."""
    with (site.folder / "crowd.log").open("ab") as log:
        people = subprocess.Popen(
            [
                *(sys.executable, "manage.py", "crowd_simulate", "--http", "--url", site.url),
                *("--campaign", corpus.campaign, "--seed", str(SEED)),
                *("--workers", str(WORKERS)),
            ],
            env=site.environment,
            cwd=ROOT,
            stdout=log,
            stderr=log,
        )
    try:
        yield
        assert people.poll() is None, f"the crowd went home:\n{site.log('crowd')}"
        # Whoever is at a HIT finishes it.
        people.send_signal(signal.SIGINT)
        people.wait()
        assert "cannot go on" not in site.log("crowd"), site.log("crowd")
    finally:
        people.kill()
        people.wait()


def kill_at_random(site: Site, random: Random, times: int) -> None:
    """Kill one of the processes at each point and start it again at once, so many times each."""
    names = list(site.processes)
    # All in turn, each time in another order: so whoever is killed has had time to work.
    order = [name for _ in range(times) for name in random.sample(names, len(names))]
    begun, first = time.monotonic(), submitted(site)
    for name in order:
        wait_for(partial(UP[name], site), f"{name} to be up")
        point_await(site, random)
        site.kill(name)
        site.start(name, waits=False)
        print(f"{time.monotonic() - begun:.1f} s: {name} killed, {submitted(site)} submitted")
    for name in names:
        wait_for(partial(UP[name], site), f"{name} to be up")
    assert submitted(site) > first, "nobody could work while processes were killed"


def point_await(site: Site, random: Random) -> None:
    """Wait for the next random point."""
    enough = submitted(site) + random.randint(1, MOST_BETWEEN)
    until = time.monotonic() + PATIENCE
    wait_for(lambda: submitted(site) >= enough or time.monotonic() > until, "the next point")
    time.sleep(random.uniform(0, LONGEST_BETWEEN))


def web_is_up(site: Site) -> bool:
    return site.answers()


def worker_is_up(site: Site) -> bool:
    """Tell whether somebody waits for messages."""
    return any(one["cmd"] == "brpop" for one in Redis.from_url(site.redis_url).client_list())


def scheduler_is_up(site: Site) -> bool:
    return True


UP = {"web": web_is_up, "worker": worker_is_up, "scheduler": scheduler_is_up}


def going_on(site: Site, after: str) -> None:
    """Wait until what is submitted from now on is paid."""
    [(now,)] = site.select("SELECT now()")
    wait_for(lambda: paid_since(site, now) >= GOING_ON, f"work to go on after {after}", seconds=120)


def drain(site: Site, since: float, after: str) -> None:
    """Wait until all that was submitted is confirmed and paid, and every call is sent."""
    deadline = since + DRAINED_SECONDS
    while left := unsettled(site):
        assert time.monotonic() < deadline, (
            f"not drained in {DRAINED_SECONDS} seconds after {after}: {left}"
        )
        time.sleep(0.1)
    print(f"drained {time.monotonic() - since:.1f} seconds after {after}")


def frozen_check(site: Site, after: str) -> None:
    """Compare both sides while nothing moves: without worker and scheduler."""
    site.stop("scheduler", "worker")
    check_agreement(site, after)
