"""What the administration's actions do, and what they refuse."""

import re
from pathlib import Path

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.test import Client

from annotation import models
from annotation.actions.trust.standing import trust_revoke
from annotation.models import CallStatus, Operation
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust
from tests.web.campaigns import image_named, small_campaign
from tests.web.crowd.crowd_rows import appeal, assignment, failed_call, gold, trusted
from tests.web.review.admin_pages import act, listed, page, shown, text_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first"])


@pytest.fixture
def chief(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("chief"))
    return client


# Workers and standings


def test_a_workers_trust_history(chief: Client, campaign: models.Campaign) -> None:
    standing = trusted(campaign, "A1")
    assignment(campaign, standing.worker)
    source = page(chief, shown(standing.worker))
    text = text_of(source)
    assert "92%, between 78% and 97%; 36 checked, 80% needed" in text
    assert 'class="interval-unsure"' in source
    assert "36 checked answers, 33 of them right" in text
    assert "$0.25 paid in 1 payment" in text
    assert "Coreference Links work 1 0 0" in text, "sittings"


def test_revoking_asks_for_a_reason(chief: Client, campaign: models.Campaign) -> None:
    one, two = trusted(campaign, "A1"), trusted(campaign, "A2")
    asked = act(chief, "revoke", one, two)
    assert "A1, trusted at Coreference Links of rides" in asked
    assert "A2, trusted at" in asked
    assert "This field is required" in act(chief, "revoke", one, two, reason="")
    one.refresh_from_db()
    assert one.trust == Trust.TRUSTED
    assert "2 worker standings revoked." in act(chief, "revoke", one, two, reason="spam")
    for standing in (one, two):
        standing.refresh_from_db()
        assert standing.trust == Trust.REVOKED
        assert standing.standing.reason == "spam"
    event = models.TrustEvent.objects.filter(key__startswith="revoked/").first()
    assert event is not None
    assert event.by == "chief"
    assert "are already" in act(chief, "revoke", one, reason="spam")
    assert "1 worker standing reinstated." in act(chief, "reinstate", one, trusted="on")
    act(chief, "reinstate", two, trusted="")
    one.refresh_from_db()
    two.refresh_from_db()
    assert (one.trust, two.trust) == (Trust.TRUSTED, Trust.PROBATION)
    assert LogEntry.objects.count() == 4


def test_no_action_on_more_than_a_page(
    chief: Client, campaign: models.Campaign, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [trusted(campaign, f"A{number}") for number in range(3)]
    monkeypatch.setattr("annotation.admin.base.MOST_AT_ONCE", 2)
    assert "Select at most 2 rows at once" in act(chief, "revoke", *rows, reason="spam")
    assert not models.WorkerStanding.objects.filter(trust=Trust.REVOKED).exists()


def test_an_appeal_is_decided(chief: Client, campaign: models.Campaign) -> None:
    standing = trusted(campaign, "A1")
    trust_revoke(campaign=campaign, worker=standing.worker, stage=Stage.LINKS, reason="", by="me")
    made = appeal(standing, "I was ill")
    assert "I was ill" in act(chief, "decide", made)
    act(chief, "decide", made, reinstate="", reply="well")
    made.refresh_from_db()
    assert made.decided_at is None, "neither yes nor no"
    assert "1 appeal decided." in act(chief, "decide", made, reinstate="0", reply="Sorry")
    made.refresh_from_db()
    assert (made.reinstated, made.reply) == (False, "Sorry")
    standing.refresh_from_db()
    assert standing.trust == Trust.REVOKED


# Calls, assignments, gold questions


def test_only_failed_calls_are_sent_again(chief: Client, campaign: models.Campaign) -> None:
    call = failed_call(campaign, "message/1", "no")
    assert "1 outbox call will be sent again." in act(chief, "retry", call)
    call.refresh_from_db()
    assert call.status == CallStatus.WAITING
    assert "nothing to retry" in act(chief, "retry", call)


def approval(made: models.Assignment) -> models.OutboxCall:
    return models.OutboxCall.objects.get(assignment=made, operation=Operation.APPROVE)


def test_an_assignment_is_rejected_as_long_as_it_is_not_paid(
    chief: Client, campaign: models.Campaign
) -> None:
    worker = trusted(campaign, "A1").worker
    paid = assignment(campaign, worker)
    under_way = assignment(campaign, worker, paid=False)
    models.OutboxCall.objects.filter(assignment=under_way).update(attempts=1)
    unpaid = assignment(campaign, worker, paid=False)
    said = act(chief, "reject", paid, under_way, unpaid, reason="The boxes are empty")
    assert "it is already approved" in said
    assert "it is already being paid" in said
    assert "1 assignment will be rejected." in said
    assert approval(under_way).status == CallStatus.WAITING
    assert approval(unpaid).status == CallStatus.DROPPED
    rejection = models.OutboxCall.objects.get(operation=Operation.REJECT)
    assert rejection.assignment == unpaid
    assert "The boxes are empty" in rejection.details


def test_a_bonus_is_paid_once_for_each_page_that_asks(
    chief: Client, campaign: models.Campaign
) -> None:
    made = assignment(campaign, trusted(campaign, "A1").worker)
    response = chief.post(listed("assignment"), {"action": "bonus", "_selected_action": [made.pk]})
    found = re.search(r'name="once" value="([^"]+)"', response.content.decode())
    assert found
    given = {"cents": "50", "reason": "A careful remark", "once": found[1]}
    act(chief, "bonus", made, **given)
    act(chief, "bonus", made, **given)
    call = models.OutboxCall.objects.get(operation=Operation.BONUS)
    assert call.assignment == made
    assert call.cents == 50, "without a fee"
    act(chief, "bonus", made, **given | {"cents": "10001", "once": "0" * 32})
    assert models.OutboxCall.objects.filter(operation=Operation.BONUS).count() == 1


def test_a_gold_question_is_retired(chief: Client, campaign: models.Campaign) -> None:
    row = gold(campaign, image_named(campaign, "first"), 1)
    assert "1 gold question retired." in act(chief, "retire", row, reason="The horse is a mule")
    row.refresh_from_db()
    assert row.retired_at is not None
    assert row.retired_reason == "The horse is a mule"
    assert "are already" in act(chief, "retire", row, reason="again")
