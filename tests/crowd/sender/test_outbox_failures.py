"""A thousand HITs and five hundred bonuses, each of which breaks somewhere on its way.

Nothing is doubled, nothing is left behind, and both ledgers agree to the cent.
"""

from collections import Counter

import pytest
from django.db import OperationalError

from annotation import models
from annotation.actions.crowd.payments import bonus_queue
from annotation.crowd.client import MTurk
from annotation.crowd.sender import calls_send
from annotation.models import CallStatus, HitStatus, Operation, PaymentKind
from marketplace.models import BonusPayment, Requester
from tests.crowd.breakage import CALL_FAULTS, CLAIM_FAULTS, Breaker, Fault, Killed
from tests.crowd.in_process import InProcess
from tests.crowd.published import (
    all_due,
    approve_queue,
    confirmed,
    each_hit_is_there_once,
    hit_queue,
    money_agrees,
    terms_of,
)
from tests.marketplace.people import make_worker

PUBLISHED, PAID, BONUSES_EACH = 1000, 50, 10
CLAIMS_BROKEN = 20


def send_until_done(campaign: models.Campaign, client: MTurk) -> int:
    """Send, and start again whenever the process dies; return how often it died."""
    gone = 0
    waiting = models.OutboxCall.objects.filter(status=CallStatus.WAITING)
    for _ in range(3000):
        if not waiting.exists():
            return gone
        all_due(campaign)
        try:
            calls_send(client=client, at_once=1)
        except (Killed, OperationalError):
            gone += 1
    raise AssertionError(f"{waiting.count()} calls never come to an end")


def tokens_of(operation: Operation) -> list[str]:
    calls = models.OutboxCall.objects.filter(operation=operation).order_by("pk")
    return list(calls.values_list("token", flat=True))


def all_fired(breaker: Breaker, planned: Counter[Fault]) -> None:
    """Every fault was there as often as planned: a test that breaks nothing shows nothing."""
    fired = Counter(breaker.fired)
    claims = sum(fired.pop(fault) for fault in CLAIM_FAULTS)
    assert claims == CLAIMS_BROKEN
    assert fired == planned
    assert set(fired) == set(CALL_FAULTS)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_publishing_fails_at_every_step(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, funded: Requester
) -> None:
    terms = terms_of(zoo)
    for _ in range(PUBLISHED):
        hit_queue(zoo, terms=terms)
    breaker = Breaker(server, claims_broken=CLAIMS_BROKEN)
    planned = breaker.plan(tokens_of(Operation.CREATE_HIT), again_every=8)
    with breaker.at_work():
        assert send_until_done(zoo, mturk_client) > 100
    all_fired(breaker, planned)
    each_hit_is_there_once()
    assert models.Hit.objects.filter(status=HitStatus.OPEN).count() == PUBLISHED
    assert set(models.OutboxCall.objects.values_list("status", flat=True)) == {CallStatus.DONE}
    money_agrees(funded)


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_paying_fails_at_every_step(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, funded: Requester
) -> None:
    hits = [hit_queue(zoo) for _ in range(PAID)]
    send_until_done(zoo, mturk_client)
    workers = [make_worker() for _ in range(5)]
    for number, hit in enumerate(hits):
        hit.refresh_from_db()
        assignment = confirmed(workers[number % len(workers)], hit)
        approve_queue(assignment)
        # All alike: only the token and the reference tell them apart.
        for one in range(BONUSES_EACH):
            bonus_queue(assignment=assignment, cents=7, reason="Thanks", key=f"{hit.pk}/{one}")
    breaker = Breaker(server, claims_broken=CLAIMS_BROKEN)
    assignments = models.Assignment.objects.values_list("assignment_id", flat=True)
    planned = breaker.plan(tokens_of(Operation.BONUS), again_every=8)
    # Whatever is asked about the assignment: the approval, or whether a bonus was paid.
    planned += breaker.plan(list(assignments), again_every=8)
    with breaker.at_work():
        assert send_until_done(zoo, mturk_client) > 100
    all_fired(breaker, planned)
    assert BonusPayment.objects.count() == PAID * BONUSES_EACH
    paid = Counter(models.Payment.objects.values_list("kind", flat=True))
    assert paid == {PaymentKind.BONUS: PAID * BONUSES_EACH, PaymentKind.REWARD: PAID}
    assert set(models.Hit.objects.values_list("status", flat=True)) == {HitStatus.CLOSED}
    assert set(models.OutboxCall.objects.values_list("status", flat=True)) == {CallStatus.DONE}
    each_hit_is_there_once()
    money_agrees(funded)
