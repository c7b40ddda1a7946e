"""A place that is given back keeps its assignment's id: what the last worker still sends is theirs.

Worker A has opened a sitting and gives the assignment back; the marketplace gives it to worker B
under the same id. What A's page still sends, what we are told of the return, and all that B does
then arrive at once and in any order.
"""

import random
from collections.abc import Callable
from datetime import datetime, timedelta

import msgspec
import pytest

from annotation import models
from annotation.actions.crowd.notifications import PlatformEvent, events_take
from annotation.actions.work.confirmations import Submitted, assignment_confirm
from annotation.actions.work.leases import leases_expire
from annotation.hits.endpoints import draft, finish, open_
from annotation.models import AssignmentStatus, Operation, SittingStatus
from annotation.pipeline.protocol.facts import Judgment, decode_body
from annotation.pipeline.protocol.questions import NO, YES
from annotation.selectors.work.sittings import Claim
from common.clock import database_now
from tests.concurrency.crowds import (
    QUESTIONS,
    all_alike,
    check_states,
    claim_on,
    crowded_campaign,
    done_by,
    hits_offered,
    live_leases,
    post,
    sittings_begun,
    workers_trusted,
)

pytestmark = [
    pytest.mark.long,
    *(pytest.mark.postgres, pytest.mark.slow, pytest.mark.django_db(transaction=True)),
    pytest.mark.usefixtures("_no_deadlock"),
]

RACES = 500
# Of so many, one ends with A: B gives the place back too, and A accepts it once more.
BACK_TO_A = 5
THREADS = 8
SEED = 20260417


class Race:
    """Two workers, A and B, and one assignment."""

    def __init__(self, campaign: models.Campaign, number: int, hit: models.Hit) -> None:
        self.hit = hit
        self.a = claim_on(campaign, f"A{number}", number)
        self.b = claim_on(campaign, f"B{number}", number)
        self.back_to_a = number % BACK_TO_A == 0
        self.replies: list[int] = []

    @property
    def submits(self) -> Claim:
        """Who submits in the end, as the marketplace tells."""
        return self.a if self.back_to_a else self.b

    def jobs(self, sitting: models.Sitting) -> list[Callable[[], None]]:
        """What happens at once; A has opened a sitting before."""
        opened_at = sitting.opened_at
        returned = self._event("AssignmentReturned", opened_at + timedelta(seconds=5))
        accepted = self._event("AssignmentAccepted", opened_at + timedelta(seconds=6))
        jobs = [
            lambda: events_take(events=[returned]),
            lambda: events_take(events=[accepted, returned]),
            lambda: self._a_is_late(sitting.pk),
        ]
        return [*jobs, self._b_was_there, self._submit] if self.back_to_a else [*jobs, self._submit]

    def _event(self, type_: str, at: datetime) -> PlatformEvent:
        return PlatformEvent(type_, self.a.hit_id, self.a.assignment_id, at.replace(microsecond=0))

    def _a_is_late(self, sitting: int) -> None:
        """A's page still saves, and hands in."""
        first = {"sitting": sitting, "number": 1, "answer": {"answer": NO}}
        self.replies.append(post(draft, self.a, first).status_code)
        everything = all_alike(NO) | {"sitting": sitting}
        self.replies.append(post(finish, self.a, everything).status_code)

    def _b_was_there(self) -> None:
        """B had the place for a moment, and filled in everything, but did not submit."""
        opened = post(open_, self.b, {})
        assert opened.status_code == 200, opened.content
        self.replies.append(post(finish, self.b, answers(opened.content, YES)).status_code)

    def _submit(self) -> None:
        """Open, hand in, submit; the marketplace confirms."""
        claim = self.submits
        mine = NO if self.back_to_a else YES
        sitting: dict[str, str] = {}
        # The page loads again when its questions went back meanwhile.
        while not sitting:
            opened = post(open_, claim, {})
            assert opened.status_code == 200, opened.content
            reply = post(finish, claim, answers(opened.content, mine))
            assert reply.status_code in (200, 410), reply.content
            if reply.status_code == 200:
                sitting = msgspec.json.decode(reply.content)["fields"]
        self.told = Submitted(
            assignment_id=claim.assignment_id,
            worker=claim.worker,
            status=AssignmentStatus.SUBMITTED,
            submitted_at=database_now(),
            fields=sitting,
        )
        events_take(events=[self._event("AssignmentSubmitted", database_now())])
        self.confirm()

    def confirm(self) -> None:
        assignment_confirm(hit=self.hit, submitted=self.told)


def answers(opened: bytes, answer: str) -> dict[str, object]:
    """Return what the page hands in: the same answer to all questions that it was given."""
    sitting = msgspec.json.decode(opened)
    items = [{"number": item["number"], "answer": answer} for item in sitting["items"]]
    assert items, sitting["empty"]
    return {"sitting": sitting["id"], "answers": items}


def test_500_returned_assignments_are_recorded_for_whom_the_marketplace_names() -> None:
    campaign = crowded_campaign(RACES * 2 * QUESTIONS + 3)
    hits = hits_offered(campaign, RACES)
    races = [Race(campaign, number, hits[f"HIT-{number}"]) for number in range(RACES)]
    workers_trusted(campaign, [claim.worker for race in races for claim in (race.a, race.b)])
    opened_at = database_now() - timedelta(minutes=1)
    sittings = sittings_begun([race.a for race in races], opened_at)

    chance = random.Random(SEED)
    jobs: list[Callable[[], None]] = []
    for race in races:
        of_race = race.jobs(sittings[race.a])
        jobs += chance.sample(of_race, len(of_race))
    done_by(THREADS, jobs)
    done_by(THREADS, [race.confirm for race in races])

    judged: dict[str, list[str]] = {}
    for fact in models.Fact.objects.select_related("worker"):
        body = decode_body(fact.body)
        assert isinstance(body, Judgment)
        assert fact.worker is not None
        judged.setdefault(fact.worker.name, []).append(body.answer)
    for race in races:
        answer = NO if race.back_to_a else YES
        assert judged.pop(race.submits.worker) == [answer] * QUESTIONS
    assert judged == {}, "nothing of whom the marketplace did not name"
    assignments = models.Assignment.objects.select_related("worker", "sitting", "hit")
    confirmed = {one.hit.hit_id: one for one in assignments}
    assert len(confirmed) == models.Assignment.objects.count() == RACES
    for race in races:
        one = confirmed[race.hit.hit_id]
        assert one.worker.name == race.submits.worker
        assert one.sitting is not None
        assert one.sitting.worker_id == one.worker_id
    calls = models.OutboxCall.objects.values_list("operation", "assignment").distinct()
    assert {operation for operation, _ in calls} == {Operation.APPROVE}
    assert len(calls) == models.OutboxCall.objects.count() == RACES
    # Both orders of A's last words and the news of the return have happened.
    assert {200, 410} <= {reply for race in races for reply in race.replies}
    # What A or B handed in to us and not to the marketplace waits until its time is up.
    unconfirmed = models.Sitting.objects.filter(confirmed_at=None).exclude(
        status=SittingStatus.LAPSED
    )
    assert live_leases() == QUESTIONS * unconfirmed.count()
    models.Sitting.objects.update(until=database_now())
    leases_expire()
    assert live_leases() == 0
    check_states()
