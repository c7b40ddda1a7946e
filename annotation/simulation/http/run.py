"""A crowd of simulated workers on a real site, each in their own thread."""

import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Final

import msgspec
from django.db.models import Q
from django.utils.crypto import salted_hmac

from annotation import models
from annotation.models import CallStatus, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.simulation.crowd import Person, Profile
from annotation.simulation.http.site import Account, TurnedAwayError
from annotation.simulation.http.worker import HttpWorker, Outcome, Places, Plan
from common.clock import database_now

LOOK_EVERY: Final = 0.5
# Work due later than this, in seconds, is not waited for.
SOON: Final = 60.0
# The stages where spammers begin to spam, in turn: first where there is most to do.
SPAM_STAGES: Final = (
    Stage.LINKS,
    Stage.DRAWING,
    Stage.REQUIREMENT,
    Stage.QUALITY,
    Stage.COVERAGE,
    Stage.VERIFICATION,
)
_SALT: Final = "annotation.simulation.http"


class Crew(msgspec.Struct, frozen=True):
    """The workers of a run: how many, how good, and how many of them turn to spam."""

    workers: int
    profile: Profile
    seed: int = 0
    spammers: int = 0
    invitation: str = ""


class Patience(msgspec.Struct, frozen=True):
    """When a run is over: how often, and for how many seconds, all must have looked in vain."""

    looks: int = 3
    # If nothing is left to do, and if something is.
    quiet: float = 5.0
    give_up: float = 60.0
    # If the site itself still has something to do, which may lead to more work.
    stalled: float = 120.0


PATIENCE: Final = Patience()


class CrowdRun(msgspec.Struct, frozen=True):
    """How a run ended."""

    workers: tuple[HttpWorker, ...]
    # Why it ended before its work was done; empty: it was done.
    cut_short: str
    seconds: float

    @property
    def requests(self) -> int:
        return sum(worker.requests for worker in self.workers)

    def count(self, *outcomes: Outcome) -> int:
        return sum(worker.outcomes[outcome] for worker in self.workers for outcome in outcomes)


def crowd_work(
    *,
    campaign: models.Campaign,
    url: str,
    crew: Crew,
    seconds: float,
    done: Callable[[int], None] = lambda count: None,
    patience: Patience = PATIENCE,
) -> CrowdRun:
    """Let the crew work at the site until there is nothing left to do, or time is up.

    `done` is called with the number of newly submitted HITs.
    """
    plan = Plan(url=url, campaign=campaign.pk, places=Places(), stopping=threading.Event())
    workers = crew_of(plan, crew)
    threads = [
        threading.Thread(target=worker.run, name=worker.account.username, daemon=True)
        for worker in workers
    ]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    try:
        cut_short = _watch(campaign, workers, begun + seconds, patience, done)
    finally:
        plan.stopping.set()
        for thread in threads:
            thread.join()
    return CrowdRun(tuple(workers), cut_short, time.monotonic() - begun)


def crew_of(plan: Plan, crew: Crew) -> list[HttpWorker]:
    """Return the workers; the same seed gives the same people with the same accounts."""
    workers = []
    for place in range(crew.workers):
        name = f"simulated-{crew.seed}-{place + 1}"
        password = salted_hmac(_SALT, name, algorithm="sha256").hexdigest()
        stage = SPAM_STAGES[place % len(SPAM_STAGES)] if place < crew.spammers else None
        workers.append(
            HttpWorker(
                plan,
                Person(place, crew.profile, crew.seed),
                Account(name, password, crew.invitation),
                stage,
            )
        )
    return workers


def _watch(
    campaign: models.Campaign,
    workers: Sequence[HttpWorker],
    until: float,
    patience: Patience,
    done: Callable[[int], None],
) -> str:
    """Wait for the end; return why it came before the work was done, or nothing."""
    told = 0
    pause = threading.Event()
    while time.monotonic() < until:
        pause.wait(LOOK_EVERY)
        submitted = sum(worker.submitted for worker in workers)
        done(submitted - told)
        told = submitted
        turned_away = next((one for one in workers if one.failure is not None), None)
        if turned_away is not None and isinstance(turned_away.failure, TurnedAwayError):
            raise turned_away.failure
        if all(worker.failure is not None for worker in workers):
            return f"no worker could go on: {workers[0].failure!r}"
        at_work = [worker for worker in workers if worker.failure is None]
        idle = time.monotonic() - max(worker.busy_at for worker in at_work)
        if min(worker.vain_looks for worker in at_work) < patience.looks:
            continue
        if idle <= min(patience.quiet, patience.give_up):
            continue
        if is_under_way(campaign):
            if idle <= patience.stalled:
                continue
            return (
                f"work under way made no progress for {idle:.0f} seconds: "
                "are the site's background worker and its scheduler running?"
            )
        if idle > patience.quiet and not is_open(campaign):
            return ""
        if idle > patience.give_up:
            return f"no worker got anything to do for {idle:.0f} seconds, although work is open"
    return "time is up"


def is_open(campaign: models.Campaign) -> bool:
    """Tell whether there are questions left that somebody may answer."""
    return models.OpenQuestion.objects.filter(campaign=campaign, starved_at=None).exists()


def is_under_way(campaign: models.Campaign) -> bool:
    """Tell whether the site itself has something to do now, which may lead to more work."""
    waiting = models.Sitting.objects.filter(
        campaign=campaign, status=SittingStatus.FINISHED, confirmed_at=None
    )
    soon = Q(next_try_at__lte=database_now() + timedelta(seconds=SOON))
    calls = models.OutboxCall.objects.filter(soon, campaign=campaign, status=CallStatus.WAITING)
    doubts = models.PendingDoubt.objects.filter(image__campaign=campaign)
    return any(rows.exists() for rows in (waiting, calls, doubts))
