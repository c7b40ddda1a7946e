"""Clients that open one sitting after another, as one process of several.

Prints `ready`, starts when a line comes in, and prints what came of it as JSON.
"""

import gc
import random
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
from celery import current_app
from django.db import connection
from msgspec.structs import replace

from annotation import models
from annotation.actions.crowd.notifications import PlatformEvent, events_take
from annotation.actions.work.answers import sitting_finish
from annotation.actions.work.confirmations import Submitted, assignment_confirm
from annotation.actions.work.sittings import Opened, sitting_open
from annotation.models import AssignmentStatus
from annotation.pipeline.protocol.questions import NO
from annotation.pipeline.work.acceptance import Acceptance
from annotation.pipeline.work.answers import Answer
from annotation.selectors.work.sittings import Claim
from common.clock import database_now
from tests.concurrency.crowds import claim_on
from tests.processes import ROOT, environment

# Of a hundred sittings: handed in and confirmed; given back. The time of the others runs out.
CONFIRMED, GIVEN_BACK = 1, 30
# Of those whose time ran out, so many in a hundred are opened once more by the same worker.
AGAIN = 30


class Task(msgspec.Struct, frozen=True):
    """Clients from `first` to before `last`, of `of` in all, each with so many sittings."""

    first: int
    last: int
    of: int
    sittings: int
    seed: int


class Done(msgspec.Struct):
    """How often each thing happened, and what was raised."""

    counts: dict[str, int]
    errors: list[str]


class Process:
    """A process of clients, on the database of this test."""

    def __init__(self, task: Task, var: Path) -> None:
        start = "import django; django.setup(); from tests.concurrency import clients"
        self._process = subprocess.Popen(
            [sys.executable, "-c", f"{start}; clients.main()", msgspec.json.encode(task).decode()],
            env=environment(
                DATABASE_URL=_database_url(),
                CHAINBOX_VAR=str(var),
                DJANGO_SETTINGS_MODULE="config.settings",
            ),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "ready\n"

    def start(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def done(self) -> Done:
        """Wait for its end; return what came of it."""
        output, _ = self._process.communicate()
        assert self._process.returncode == 0
        return msgspec.json.decode(output, type=Done)

    def stop(self) -> None:
        if self.is_running:
            self._process.kill()
        self._process.communicate()


def _database_url() -> str:
    at = connection.settings_dict
    who = f"{at['USER']}:{at['PASSWORD']}" if at["PASSWORD"] else at["USER"]
    where = f"host={at['HOST']}" + (f"&port={at['PORT']}" if at["PORT"] else "")
    return f"postgresql://{who}@/{at['NAME']}?{where}"


def main() -> None:
    """Wait for the word; then let all clients work at once, each with a connection of its own."""
    task = msgspec.json.decode(sys.argv[1], type=Task)
    current_app.conf.update(broker_url="memory://localhost/")
    # What Django has loaded stays: looking through it again and again would be a tenth of the time.
    gc.freeze()
    print("ready", flush=True)
    sys.stdin.readline()
    done = Done(counts={}, errors=[])
    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(task.last - task.first) as pool:
        for client in pool.map(lambda n: _Client(task, n).work(), range(task.first, task.last)):
            counts += client.counts
            done.errors += client.errors
    done.counts = dict(counts)
    print(msgspec.json.encode(done).decode(), flush=True)


class _Client:
    """One worker, who has a HIT of their own and comes back to it again and again."""

    def __init__(self, task: Task, number: int) -> None:
        self.task = task
        self.number = number
        self.chance = random.Random(f"{task.seed}/{number}")
        self.counts: Counter[str] = Counter()
        self.errors: list[str] = []
        # When the HIT was last accepted, by the marketplace's clock.
        self.moment = datetime.now(UTC)

    def work(self) -> "_Client":
        try:
            self._sit()
        except Exception as error:
            self.errors.append(f"client {self.number}: {type(error).__name__}: {error}")
        finally:
            connection.close()
        return self

    def _accept(self) -> Acceptance:
        """Accept the HIT, later than it may have been given back before."""
        self.moment = max(datetime.now(UTC), self.moment + timedelta(seconds=2))
        at = round(self.moment.timestamp() * 1000)
        return Acceptance(accepted=at, deadline=at + 7_200_000)

    def _sit(self) -> None:
        hit = models.Hit.objects.select_related("campaign__current_settings").get(
            hit_id=f"HIT-{self.number}"
        )
        place = 0
        while self.counts["sittings"] < self.task.sittings:
            assignment = f"of-{hit.hit_id}-{place}"
            claim = claim_on(hit.campaign, f"A{self.number}", self.number, assignment)
            claim = replace(claim, acceptance=self._accept())
            opened = sitting_open(claim=claim)
            if opened.sitting is None:
                self.counts[opened.empty] += 1
                # Nobody asks again at once, and asking is most of what this test costs.
                time.sleep(self.chance.uniform(0.1, 0.3))
                continue
            self.counts["sittings"] += 1
            lot = self.chance.randrange(100)
            if lot < CONFIRMED:
                self._confirm(hit, claim, opened)
            elif lot < GIVEN_BACK:
                self._give_back(claim)
            else:
                self._run_out(opened)
                if self.chance.randrange(100) < AGAIN:
                    continue
            place += 1

    def _confirm(self, hit: models.Hit, claim: Claim, opened: Opened) -> None:
        answers = {question.number: Answer(answer=NO) for question in opened.questions}
        sitting_finish(claim=claim, answers=answers)
        told = Submitted(
            assignment_id=claim.assignment_id,
            worker=claim.worker,
            status=AssignmentStatus.SUBMITTED,
            submitted_at=database_now(),
            fields={},
        )
        assert assignment_confirm(hit=hit, submitted=told).sitting is not None
        self.counts["confirmed"] += 1
        self.counts["judgments"] += len(answers)

    def _give_back(self, claim: Claim) -> None:
        """Have it told to us, in one notification with news of other HITs."""
        now = database_now()
        # A second after it was accepted.
        returned_at = self.moment + timedelta(seconds=1)
        events = [
            PlatformEvent("AssignmentReturned", claim.hit_id, claim.assignment_id, returned_at)
        ]
        for other in self.chance.sample(range(self.task.of), 2):
            type_ = self.chance.choice(["AssignmentAccepted", "HITReviewable"])
            events.append(PlatformEvent(type_, f"HIT-{other}", f"of-HIT-{other}", now))
        self.chance.shuffle(events)
        events_take(events=events)
        self.counts["given back"] += 1

    def _run_out(self, opened: Opened) -> None:
        """Let the time pass."""
        assert opened.sitting is not None
        models.Sitting.objects.filter(pk=opened.sitting.pk).update(until=opened.now)
