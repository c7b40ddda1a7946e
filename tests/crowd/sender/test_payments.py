"""Sending payments: approvals, rejections and bonuses, each once."""

from datetime import timedelta

import pytest
from django.db.models import F
from django.utils import timezone

from annotation import models
from annotation.actions.crowd.payments import BonusError, bonus_queue
from annotation.crowd.client import MTurk
from annotation.crowd.errors import UnreachableError
from annotation.crowd.sender import HANDLERS, calls_send
from annotation.crowd.steps import Batch, Step
from annotation.models import AssignmentStatus, CallStatus, HitStatus, Operation
from marketplace import models as market
from marketplace.actions.assignments import assignment_approve, assignment_reject
from tests.crowd.calls import answers_once, lose_reply, send, statuses
from tests.crowd.in_process import InProcess, spoilt
from tests.crowd.published import (
    COST,
    REWARD,
    approve_queue,
    call_of,
    hit_queue,
    money_agrees,
    reject_queue,
)

pytestmark = pytest.mark.django_db


def test_what_was_asked_together_counts_as_tried(
    zoo: models.Campaign, monkeypatch: pytest.MonkeyPatch, mturk_client: MTurk
) -> None:
    """Three got no answer and the run ends; the fourth, on its way with them, did arrive."""
    hits = [hit_queue(zoo) for _ in range(5)]

    def handler(call: models.OutboxCall, _: Batch) -> Step:
        def ask() -> None:
            if call.hit_id != hits[3].pk:
                raise UnreachableError("no answer")

        return Step(ask=ask, apply=lambda _: "")

    monkeypatch.setitem(HANDLERS, Operation.CREATE_HIT, handler)
    calls_send(client=mturk_client, at_once=4)
    assert call_of(f"create_hit/{hits[3].pk}").status == CallStatus.DONE


def test_approving_pays_once_and_closes_the_hit(
    assignment: models.Assignment, mturk_client: MTurk, funded: market.Requester
) -> None:
    approve_queue(assignment)
    send(mturk_client)
    payment = models.Payment.objects.get()
    assert (payment.cents, payment.fee_cents) == (REWARD, COST - REWARD)
    assignment.refresh_from_db()
    assert assignment.status == AssignmentStatus.APPROVED
    assert assignment.hit.status == HitStatus.CLOSED
    money_agrees(funded)


def test_approved_already_is_as_good(
    assignment: models.Assignment, mturk_client: MTurk, funded: market.Requester
) -> None:
    approve_queue(assignment)
    assignment_approve(assignment=market.Assignment.objects.get())
    send(mturk_client)
    assert statuses()[f"approve/{assignment.pk}"] == CallStatus.DONE
    assert models.Payment.objects.count() == 1
    money_agrees(funded)


def test_what_was_rejected_there_cannot_be_approved(
    assignment: models.Assignment, mturk_client: MTurk, funded: market.Requester
) -> None:
    approve_queue(assignment)
    assignment_reject(assignment=market.Assignment.objects.get(), feedback="no")
    send(mturk_client)
    call = call_of(f"approve/{assignment.pk}")
    assert (call.status, call.last_error) == (
        CallStatus.FAILED,
        "The marketplace has rejected it.",
    )
    assert not models.Payment.objects.exists()
    money_agrees(funded)


def test_rejecting_tells_the_worker_why_and_pays_nothing(
    assignment: models.Assignment, mturk_client: MTurk, funded: market.Requester
) -> None:
    reject_queue(assignment, "There were no answers.")
    send(mturk_client)
    theirs = market.Assignment.objects.get()
    assert (theirs.status, theirs.feedback) == ("Rejected", "There were no answers.")
    assignment.refresh_from_db()
    assert (assignment.status, assignment.reason) == (
        AssignmentStatus.REJECTED,
        "There were no answers.",
    )
    assert not models.Payment.objects.exists()
    money_agrees(funded)


def test_what_was_paid_there_cannot_be_rejected(
    assignment: models.Assignment, mturk_client: MTurk, funded: market.Requester
) -> None:
    reject_queue(assignment)
    assignment_approve(assignment=market.Assignment.objects.get())
    send(mturk_client)
    assert statuses()[f"reject/{assignment.pk}"] == CallStatus.FAILED
    assert models.Payment.objects.count() == 1
    money_agrees(funded)


def test_a_bonus_is_paid_once_for_a_key(
    assignment: models.Assignment, mturk_client: MTurk, funded: market.Requester
) -> None:
    for _ in range(2):
        bonus_queue(assignment=assignment, cents=11, reason="Thanks", key="first")
    send(mturk_client)
    paid = market.BonusPayment.objects.get()
    call = call_of("bonus/first")
    assert paid.reason == f"Thanks [{call.token[:10]}]"
    payment = models.Payment.objects.get()
    assert (payment.cents, payment.fee_cents) == (11, 3)
    money_agrees(funded)


def test_a_bonus_needs_money_and_a_reason(assignment: models.Assignment) -> None:
    with pytest.raises(BonusError, match="at least one cent"):
        bonus_queue(assignment=assignment, cents=0, reason="Thanks", key="k")
    with pytest.raises(BonusError, match="needs a reason"):
        bonus_queue(assignment=assignment, cents=1, reason=" ", key="k")


@pytest.mark.parametrize("arrived", [True, False])
def test_after_20_hours_a_bonus_is_looked_for_before_it_is_paid_again(
    assignment: models.Assignment,
    mturk_client: MTurk,
    server: InProcess,
    funded: market.Requester,
    arrived: bool,
) -> None:
    # A twin that was paid: only the reference tells them apart.
    bonus_queue(assignment=assignment, cents=5, reason="Thanks", key="twin")
    send(mturk_client)
    bonus_queue(assignment=assignment, cents=5, reason="Thanks", key="late")
    lost = lose_reply if arrived else lambda request, _: spoilt(request, 503, "")
    answers_once(server, "SendBonus", lost)
    send(mturk_client)
    market.RequestToken.objects.update(created_at=F("created_at") - timedelta(hours=25))
    models.OutboxCall.objects.update(first_tried_at=timezone.now() - timedelta(hours=21))
    send(mturk_client, assignment.hit.campaign)
    assert market.BonusPayment.objects.count() == models.Payment.objects.count() == 2
    money_agrees(funded)
