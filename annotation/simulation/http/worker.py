"""One simulated worker at work: finds HITs, does them, gives some back, rests when there are none.

All state is on the server: a worker who is interrupted continues with the HITs they had accepted,
like somebody whose browser has crashed.
"""

import logging
import math
import threading
import time
from collections import Counter
from enum import StrEnum
from typing import Final

import msgspec
from django.db import close_old_connections, connections

from annotation import models
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust
from annotation.simulation.crowd import Person, draws
from annotation.simulation.http.answers import sitting_answers
from annotation.simulation.http.browser import Browser, UnreachableError
from annotation.simulation.http.site import (
    Account,
    Place,
    Task,
    TurnedAwayError,
    WorkerSite,
    task_of,
)
from annotation.simulation.http.task import Finished, Given, RefusedError, TaskPage

log = logging.getLogger(__name__)

# How often a worker gives a HIT back, and how often a browser saves a draft on the server.
RETURNS: Final = 0.02
DRAFTS: Final = 0.2
SECOND_THOUGHTS: Final = 1.5
# Most go on with the same work as long as there is some.
CHANGES: Final = 0.15
# How long to rest, in seconds, when there is nothing to do: longer each time.
SHORTEST_REST: Final = 0.2
LONGEST_REST: Final = 6.0
# How long to avoid a group whose HITs the worker may not do: also longer each time.
LONGEST_AWAY: Final = 60.0


class Outcome(StrEnum):
    """The outcome of an accepted HIT."""

    SUBMITTED = "submitted"
    # A test that was submitted too, with good news.
    PASSED = "passed"
    RETURNED = "returned"
    WITH_OTHERS = "with_others"
    NOTHING_LEFT = "nothing_left"
    REFUSED = "refused"


class Places:
    """What workers have found out about the marketplace's groups, shared among all of them."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}

    def task(self, site: WorkerSite, group: str) -> Task | None:
        """Say what a group is about; the first to ask looks at its preview."""
        known = self._tasks.get(group)
        if known is None:
            known = site.task_of(group)
            if known is not None:
                self._tasks[group] = known
        return known


class Plan(msgspec.Struct, frozen=True):
    """What is the same for all workers of a run."""

    url: str
    campaign: int
    places: Places
    stopping: threading.Event


class HttpWorker:
    """A worker with their own account. `spams_at`: a stage at which they begin to spam."""

    def __init__(
        self, plan: Plan, person: Person, account: Account, spams_at: Stage | None = None
    ) -> None:
        self.plan = plan
        self.person = person
        self.account = account
        self.spams_at = spams_at
        self.has_turned = False
        self.outcomes: Counter[Outcome] = Counter()
        # When they last got questions, by the machine's clock, and looks in vain since.
        self.busy_at = time.monotonic()
        self.vain_looks = 0
        self.failure: Exception | None = None
        self._browser = Browser()
        self._site = WorkerSite(plan.url, self._browser)
        self._random = draws(person.seed, "worker", person.place)
        # Groups in which there was nothing for this worker, until when.
        self._resting: dict[str, float] = {}
        self._refusals: Counter[str] = Counter()
        self._rest = SHORTEST_REST

    @property
    def worker(self) -> str:
        """The marketplace's name for this worker; empty before they first sign in."""
        return self._site.worker

    @property
    def requests(self) -> int:
        return self._browser.requests

    @property
    def submitted(self) -> int:
        return self.outcomes[Outcome.SUBMITTED] + self.outcomes[Outcome.PASSED]

    def run(self) -> None:
        """Work until told to stop; a permanent error is kept in `failure`."""
        try:
            while not self.plan.stopping.is_set():
                try:
                    self._day()
                except UnreachableError as error:
                    log.info("%s waits: %s", self.account.username, error)
                    self.plan.stopping.wait(LONGEST_REST * self._random.uniform(0.5, 1))
        except Exception as error:
            # In a thread nobody would see the error.
            self.failure = error
            if not isinstance(error, TurnedAwayError):
                log.exception("%s cannot go on", self.account.username)
        finally:
            self._browser.close()
            connections.close_all()

    def _day(self) -> None:
        if not self.worker:
            self._site.enter(self.account)
        self._resume()
        group = ""
        while not self.plan.stopping.is_set():
            if not group or self._random.random() < CHANGES:
                group = self._find()
            if not group:
                self._wait()
                continue
            place = self._site.accept(group)
            task = task_of(place.frame) if place else None
            if place is None or task is None:
                # Another worker was quicker. There is little work for many workers: no need to
                # hurry.
                group = ""
                self._wait()
                continue
            outcome = self._work(place, task)
            self._refusals[group] += outcome is Outcome.REFUSED
            if outcome is Outcome.SUBMITTED:
                self._refusals[group] = 0
            elif outcome is Outcome.PASSED:
                # The marketplace still offers the test for a while: the worker does not take it
                # again.
                self._leave(group, math.inf)
                group = ""
            elif outcome is not Outcome.RETURNED:
                self._leave(group, min(LONGEST_REST * 2 ** self._refusals[group], LONGEST_AWAY))
                group = ""

    def _resume(self) -> None:
        """Continue with HITs that were accepted before an interruption."""
        for place in self._site.held():
            task = task_of(place.frame)
            if task is not None and task.campaign == self.plan.campaign:
                self._work(place, task)

    def _find(self) -> str:
        """Return a group to work on, or nothing."""
        now = time.monotonic()
        open_to_me = [
            group for group in self._site.groups() if self._resting.get(group, 0.0) <= now
        ]
        self._random.shuffle(open_to_me)
        found = ""
        for group in open_to_me:
            task = self.plan.places.task(self._site, group)
            if task is None or task.campaign != self.plan.campaign:
                continue
            if not self.has_turned or task.stage is self.spams_at:
                return group
            # Spam is quick: a spammer takes all the HITs there are.
            found = found or group
        return found

    def _leave(self, group: str, seconds: float) -> None:
        self._resting[group] = time.monotonic() + seconds * self._random.uniform(0.5, 1)

    def _wait(self) -> None:
        self.vain_looks += 1
        self.plan.stopping.wait(self._rest * self._random.uniform(0.5, 1))
        self._rest = min(2 * self._rest, LONGEST_REST)

    # One HIT

    def _work(self, place: Place, task: Task) -> Outcome:
        """Do what can be done with an accepted HIT."""
        try:
            outcome = self._sit(place, task)
        except RefusedError as error:
            log.info("%s at %s: %s", self.account.username, task.stage.value, error)
            outcome = Outcome.REFUSED
        if outcome not in (Outcome.SUBMITTED, Outcome.PASSED):
            self._site.give_back(place)
        self.outcomes[outcome] += 1
        return outcome

    def _sit(self, place: Place, task: Task) -> Outcome:
        page = TaskPage(self._browser, place.frame)
        page.agree()
        sitting = page.open()
        if sitting.outcome is not None:
            return self._submit(page, sitting.outcome)
        if not sitting.items:
            return Outcome(sitting.empty) if sitting.empty else Outcome.REFUSED
        self.busy_at = time.monotonic()
        self.vain_looks = 0
        self._rest = SHORTEST_REST
        answers = self._answers(sitting.id, [item.number for item in sitting.items], task)
        answers = [sitting.answered.get(given.number, given) for given in answers]
        if self._random.random() < DRAFTS:
            page.draft(self._random.choice(answers))
        if self._random.random() < RETURNS:
            # No person would decide that within a second.
            self.plan.stopping.wait(SECOND_THOUGHTS)
            return Outcome.RETURNED
        return self._submit(page, self._finish(page, answers))

    def _submit(self, page: TaskPage, finished: Finished) -> Outcome:
        page.submit(finished.fields)
        return Outcome.PASSED if finished.passed else Outcome.SUBMITTED

    def _finish(self, page: TaskPage, answers: list[Given]) -> Finished:
        try:
            return page.finish(answers)
        except RefusedError as error:
            # The answers had been submitted and the reply was lost: the first answers count.
            again = page.open().outcome if error.kind == "finished" else None
            if again is None:
                raise
            return again

    def _answers(self, sitting_id: int, numbers: list[int], task: Task) -> list[Given]:
        close_old_connections()
        is_spam = task.kind == SittingKind.WORK and self._is_spamming(task.stage)
        return sitting_answers(sitting_id, self.person, numbers, is_spam=is_spam)

    def _is_spamming(self, stage: Stage) -> bool:
        """Tell whether the worker spams now: from the moment they are trusted at their stage."""
        if stage is not self.spams_at:
            return False
        self.has_turned = (
            self.has_turned
            or models.WorkerStanding.objects.filter(
                campaign=self.plan.campaign,
                worker__name=self.worker,
                stage=stage.value,
                trust=Trust.TRUSTED.value,
            ).exists()
        )
        return self.has_turned
