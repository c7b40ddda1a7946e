"""Browsers that send twice, and a marketplace that tells twice, at the same moment."""

from collections.abc import Sequence
from datetime import timedelta
from functools import partial
from threading import Barrier

import msgspec
import pytest

from annotation import models
from annotation.actions.work.confirmations import Submitted, assignment_confirm
from annotation.hits.endpoints import finish
from annotation.models import AssignmentStatus, Operation
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
from tests.sizes import WHOLE

pytestmark = [
    pytest.mark.long,
    pytest.mark.whole,
    *(pytest.mark.postgres, pytest.mark.slow, pytest.mark.django_db(transaction=True)),
    pytest.mark.usefixtures("_no_deadlock"),
]

SITTINGS = 5000 if WHOLE else 1000
# So many sittings are handed in at a time, each by two threads.
PAIRS = 4


class Twice:
    """What two who hand in the same sittings at the same moments get for it."""

    def __init__(self, claims: Sequence[Claim], hits: dict[str, models.Hit]) -> None:
        self.claims = claims
        self.hits = hits
        self.moment = Barrier(2, timeout=60)
        self.fields: dict[Claim, dict[str, str]] = {}
        self.standing: dict[Claim, str] = {}

    def hand_in(self, first: bool) -> dict[Claim, int]:
        try:
            return {claim: self._one(claim, first) for claim in self.claims}
        except BaseException:
            self.moment.abort()
            raise

    def _one(self, claim: Claim, first: bool) -> int:
        answer = YES if first or is_repeated(claim) else NO
        self.moment.wait()
        reply = post(finish, claim, all_alike(answer))
        if reply.status_code == 200:
            self.fields[claim] = msgspec.json.decode(reply.content)["fields"]
            self.standing[claim] = answer
        self.moment.wait()
        told = Submitted(
            assignment_id=claim.assignment_id,
            worker=claim.worker,
            status=AssignmentStatus.SUBMITTED,
            submitted_at=database_now(),
            fields=self.fields[claim],
        )
        assert assignment_confirm(hit=self.hits[claim.hit_id], submitted=told).sitting is not None
        return reply.status_code


def is_repeated(claim: Claim) -> bool:
    """Whether both send the same answers: every other sitting."""
    return int(claim.worker.removeprefix("A")) % 2 == 0


def test_sittings_handed_in_and_confirmed_twice_at_once_are_recorded_once() -> None:
    campaign = crowded_campaign(SITTINGS * QUESTIONS)
    claims = [claim_on(campaign, f"A{number}", number) for number in range(SITTINGS)]
    workers_trusted(campaign, [claim.worker for claim in claims])
    hits = hits_offered(campaign, SITTINGS)
    sittings = sittings_begun(claims, database_now() - timedelta(minutes=1))
    pairs = [Twice(claims[start::PAIRS], hits) for start in range(PAIRS)]

    replies = done_by(
        2 * PAIRS,
        [partial(pair.hand_in, first) for pair in pairs for first in (True, False)],
    )

    standing = {claim: answer for pair in pairs for claim, answer in pair.standing.items()}
    for first, second in zip(replies[::2], replies[1::2], strict=True):
        for claim in first:
            both = sorted([first[claim], second[claim]])
            assert both == [200, 200 if is_repeated(claim) else 409]
    facts: dict[int, list[Judgment]] = {}
    for fact in models.Fact.objects.all():
        body = decode_body(fact.body)
        assert isinstance(body, Judgment)
        assert fact.counted
        facts.setdefault(body.worker, []).append(body)
    for claim, sitting in sittings.items():
        asked = sorted(row.key for row in sitting.questions.all())
        judged = facts.pop(sitting.known_worker.pk)
        assert sorted(judgment.question.key for judgment in judged) == asked
        assert {judgment.answer for judgment in judged} == {standing[claim]}
    assert not facts
    assert len(set(standing.values())) == 2, "either of two was quicker at times"
    approved = models.OutboxCall.objects.filter(operation=Operation.APPROVE)
    assert approved.values("assignment__sitting").distinct().count() == SITTINGS
    assert models.OutboxCall.objects.count() == models.Assignment.objects.count() == SITTINGS
    assert live_leases() == 0
    check_states()
