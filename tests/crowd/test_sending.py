"""Sending the outbox: what each call does, and what happens when it does not go through."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectTimeoutError, ReadTimeoutError
from django.db.models import F
from django.utils import timezone
from pytest_django import Settings

from annotation import models
from annotation.actions.outbox import CLAIM, call_queue, call_retry
from annotation.actions.paying import BonusError, bonus_queue
from annotation.actions.people import worker_ensure, worker_erase
from annotation.actions.trusting import trust_reinstate, trust_revoke
from annotation.crowd.client import MTurk
from annotation.crowd.errors import UnreachableError
from annotation.crowd.sending import HANDLERS, calls_send
from annotation.crowd.steps import Batch, Step
from annotation.models import AssignmentStatus, CallStatus, HitStatus, Operation
from annotation.pipeline.questions import Stage
from marketplace import models as market
from marketplace.actions.assignments import assignment_approve, assignment_reject
from marketplace.actions.ledger import funds_add
from tests.crowd.in_process import InProcess, Network, in_process_client, operation_of, spoilt
from tests.crowd.publishing import (
    COST,
    REWARD,
    all_due,
    approve_queue,
    call_of,
    confirmed,
    each_hit_is_there_once,
    hit_queue,
    hit_take_back,
    money_agrees,
    reject_queue,
    terms_of,
)
from tests.marketplace.people import make_requester, make_worker

pytestmark = pytest.mark.django_db


def send(client: MTurk, campaign: models.Campaign | None = None) -> int:
    """Send what is due; with a campaign, what is due in a while."""
    if campaign is not None:
        all_due(campaign)
    return calls_send(client=client, at_once=1)


def statuses() -> dict[str, str]:
    return dict(models.OutboxCall.objects.values_list("key", "status"))


@pytest.fixture
def hit(zoo: models.Campaign, mturk_client: MTurk) -> models.Hit:
    """A HIT that is published."""
    made = hit_queue(zoo)
    send(mturk_client)
    made.refresh_from_db()
    assert made.hit_id, models.OutboxCall.objects.get().last_error
    return made


@pytest.fixture
def assignment(hit: models.Hit) -> models.Assignment:
    """What somebody has submitted, and we have confirmed."""
    return confirmed(make_worker(), hit)


def qualify(campaign: models.Campaign, worker: models.Worker, value: int, key: str) -> None:
    call_queue(
        campaign=campaign,
        operation=Operation.QUALIFY,
        key=key,
        lane=f"qualify/links/{worker.pk}",
        worker=worker,
        stage=Stage.LINKS,
        value=value,
    )


def message(campaign: models.Campaign, worker: models.Worker) -> None:
    call_queue(
        campaign=campaign,
        operation=Operation.MESSAGE,
        key=f"message/{worker.pk}",
        worker=worker,
        stage=Stage.LINKS,
        subject="Thank you",
        text="You are trusted now.",
    )


def answers_once(server: InProcess, operation: str, other: Network) -> None:
    """Have the first request of an operation meet another network."""
    waiting = [operation]

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if operation_of(request) in waiting:
            waiting.clear()
            return other(request, carry_out)
        return carry_out()

    server.network = network


def lose_reply(_: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
    carry_out()
    raise ReadTimeoutError(endpoint_url="")


# Publishing


def test_the_first_hit_brings_its_qualification_and_terms_along(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_WEBHOOK = "https://chainbox.example.org/crowd/notify"
    settings.CHAINBOX_TASK_URL = "https://chainbox.example.org"
    terms = terms_of(zoo)
    required = (
        '"QualificationRequirements": [{"QualificationTypeId": "{qualification}", '
        '"Comparator": "GreaterThanOrEqualTo", "IntegerValues": [1]}]'
    )
    terms.body = terms.body.replace('"QualificationRequirements": []', required)
    terms.save()
    hits = [hit_queue(zoo, terms=terms), hit_queue(zoo, terms=terms, places=2)]
    assert send(mturk_client) == 2
    assert server.operations == [
        *("CreateQualificationType", "CreateHITType", "UpdateNotificationSettings"),
        *("CreateHITWithHITType", "CreateHITWithHITType"),
    ]
    qualification = market.QualificationType.objects.get()
    assert qualification.name == "Chainbox: zoo – links"
    supply = models.StageSupply.objects.get()
    assert supply.qualification_type_id == qualification.qualification_type_id
    hit_type = market.HITType.objects.get()
    assert hit_type.requirements[0]["QualificationTypeId"] == qualification.qualification_type_id
    notified = market.NotificationSettings.objects.get()
    assert notified.destination == settings.CHAINBOX_CROWD_WEBHOOK
    assert "AssignmentSubmitted" in notified.event_types
    for hit, places in zip(hits, (1, 2), strict=True):
        hit.refresh_from_db()
        theirs = market.HIT.objects.get(hit_id=hit.hit_id)
        assert theirs.max_assignments == places
        assert theirs.annotation == f"chainbox:{call_of(f'create_hit/{hit.pk}').token}"
        assert f"https://chainbox.example.org/hits/{zoo.pk}/links/" in theirs.question
        assert theirs.expires_at - theirs.created_at == timedelta(days=7)
        assert hit.status == HitStatus.OPEN
        assert hit.expires_at is not None
        assert abs(hit.expires_at - theirs.expires_at) < timedelta(seconds=1)
        assert hit.look_at is not None


def test_a_webhook_that_the_marketplace_refuses_keeps_nothing_from_being_published(
    zoo: models.Campaign, mturk_client: MTurk, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_WEBHOOK = "http://example.org/not-secure"
    hit = hit_queue(zoo)
    send(mturk_client)
    hit.refresh_from_db()
    assert hit.status == HitStatus.OPEN
    assert not market.NotificationSettings.objects.exists()


def test_a_qualification_that_is_there_already_is_found_by_its_whole_name(
    zoo: models.Campaign, mturk_client: MTurk
) -> None:
    worker = make_worker()
    for name in ("Chainbox: zoo – links two", "Chainbox: zoo – links"):
        wanted = mturk_client.qualification_type_create(name=name, description="d")
    qualify(zoo, worker_ensure(name=worker.worker_id), 50, "one")
    send(mturk_client)
    assert models.StageSupply.objects.get().qualification_type_id == wanted
    assert market.Qualification.objects.get().value == 50


def test_a_lost_reply_is_found_again_by_the_token(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, funded: market.Requester
) -> None:
    hit = hit_queue(zoo)
    answers_once(server, "CreateHITWithHITType", lose_reply)
    send(mturk_client)
    assert call_of(f"create_hit/{hit.pk}").last_error.startswith("ReadTimeoutError")
    send(mturk_client, zoo)
    assert server.operations[-2:] == ["CreateHITWithHITType", "GetHIT"]
    each_hit_is_there_once()
    money_agrees(funded)


@pytest.mark.parametrize("arrived", [True, False])
def test_after_20_hours_a_hit_is_looked_for_before_it_is_published_again(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, arrived: bool
) -> None:
    hits = [hit_queue(zoo) for _ in range(3)]
    first = models.OutboxCall.objects.order_by("pk").first()
    assert first is not None

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if arrived and operation_of(request) == "CreateHITWithHITType":
            carry_out()
        if operation_of(request) == "CreateHITWithHITType":
            raise ReadTimeoutError(endpoint_url="")
        return carry_out()

    server.network = network
    send(mturk_client)
    assert market.HIT.objects.count() == (3 if arrived else 0)
    # A day later nobody on the marketplace remembers the tokens.
    market.RequestToken.objects.update(created_at=F("created_at") - timedelta(hours=25))
    models.OutboxCall.objects.update(first_tried_at=timezone.now() - timedelta(hours=21))
    server.network = lambda _, carry_out: carry_out()
    server.operations.clear()
    send(mturk_client, zoo)
    assert market.HIT.objects.count() == 3
    each_hit_is_there_once()
    assert {hit.pk for hit in models.Hit.objects.filter(status=HitStatus.OPEN)} == {
        hit.pk for hit in hits
    }
    # All are listed once, to the first page with nothing on it.
    listed = server.operations.count("ListHITs")
    assert listed == (2 if arrived else 1)
    assert server.operations.count("CreateHITWithHITType") == (0 if arrived else 3)


def test_taking_a_hit_back(hit: models.Hit, mturk_client: MTurk) -> None:
    hit_take_back(hit)
    send(mturk_client)
    hit.refresh_from_db()
    assert hit.status == HitStatus.CLOSING
    assert not hit.is_free
    assert hit.look_at is not None
    assert hit.look_at <= timezone.now()
    assert market.HIT.objects.get().status == "Reviewable"


def test_a_hit_that_was_never_tried_is_taken_back_without_a_word(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    hit = hit_queue(zoo)
    create = models.OutboxCall.objects.filter(hit=hit)
    create.update(next_try_at=timezone.now() + timedelta(hours=1))
    hit_take_back(hit)
    send(mturk_client)
    hit.refresh_from_db()
    assert (hit.status, hit.held_cents) == (HitStatus.CLOSED, 0)
    assert statuses() == {
        f"create_hit/{hit.pk}": CallStatus.DROPPED,
        f"expire_hit/{hit.pk}": CallStatus.DONE,
    }
    assert server.operations == []


def test_a_hit_of_which_we_do_not_know_whether_it_is_there_is_not_given_up(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    hit = hit_queue(zoo)
    answers_once(server, "CreateHITWithHITType", lose_reply)
    send(mturk_client)
    hit_take_back(hit)
    models.OutboxCall.objects.filter(operation=Operation.CREATE_HIT).update(
        next_try_at=timezone.now() + timedelta(hours=1)
    )
    send(mturk_client)
    assert statuses()[f"expire_hit/{hit.pk}"] == CallStatus.WAITING
    send(mturk_client, zoo)
    send(mturk_client, zoo)
    hit.refresh_from_db()
    assert hit.status == HitStatus.CLOSING
    assert market.HIT.objects.get().status == "Reviewable"


# When it does not go through


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, '{"__type": "ThrottlingException", "message": "Rate exceeded"}'),
        (429, "{}"),
        (503, "<html>busy</html>"),
        (200, "<html>what?</html>"),
        (404, "<html>not here</html>"),
    ],
)
def test_throttling_is_normal(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, status: int, body: str
) -> None:
    hit_queue(zoo)
    answers_once(server, "CreateHITWithHITType", lambda request, _: spoilt(request, status, body))
    before = timezone.now()
    send(mturk_client)
    call = models.OutboxCall.objects.get()
    assert (call.status, call.attempts) == (CallStatus.WAITING, 1)
    assert call.last_error
    assert call.next_try_at is not None
    assert call.next_try_at - before < timedelta(seconds=10)
    send(mturk_client, zoo)
    each_hit_is_there_once()
    assert statuses() == {call.key: CallStatus.DONE}


def test_a_page_of_somebody_elses_is_no_success(
    assignment: models.Assignment, mturk_client: MTurk, server: InProcess, funded: market.Requester
) -> None:
    approve_queue(assignment)
    answers_once(server, "ApproveAssignment", lambda request, _: spoilt(request, 200, "<p>Hi</p>"))
    send(mturk_client)
    assert call_of(f"approve/{assignment.pk}").status == CallStatus.WAITING
    assert not models.Payment.objects.exists()
    send(mturk_client, assignment.hit.campaign)
    assert models.Payment.objects.count() == 1
    money_agrees(funded)


def test_pauses_grow_to_ten_minutes(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    hit_queue(zoo)
    server.network = lambda request, _: spoilt(request, 503, "")
    pauses = []
    for _ in range(14):
        all_due(zoo)
        before = timezone.now()
        send(mturk_client)
        next_try_at = models.OutboxCall.objects.get().next_try_at
        assert next_try_at is not None
        pauses.append((next_try_at - before).total_seconds())
    assert pauses[0] < 2
    assert 290 < pauses[-1] < 610


def test_without_funds_a_call_waits_and_holds_up_nobody(
    zoo: models.Campaign, funded: market.Requester
) -> None:
    poor = make_requester(cents=COST)
    client, _ = in_process_client(poor)
    dear = hit_queue(zoo, places=2)
    cheap = hit_queue(zoo)
    send(client)
    cheap.refresh_from_db()
    assert cheap.status == HitStatus.OPEN
    call = call_of(f"create_hit/{dear.pk}")
    assert call.status == CallStatus.WAITING
    assert call.last_error.startswith("InsufficientFunds")
    assert call.next_try_at is not None
    assert call.next_try_at - timezone.now() > timedelta(seconds=10)
    funds_add(requester=poor, cents=2 * COST, key="more")
    send(client, zoo)
    dear.refresh_from_db()
    assert dear.status == HitStatus.OPEN


def test_a_wrong_key_waits_for_somebody_to_put_it_right(
    zoo: models.Campaign, mturk_client: MTurk, funded: market.Requester
) -> None:
    hit_queue(zoo)
    market.AccessKey.objects.update(revoked_at=timezone.now())
    send(mturk_client)
    call = models.OutboxCall.objects.get()
    assert call.status == CallStatus.WAITING
    assert call.last_error.startswith("UnrecognizedClientException")
    market.AccessKey.objects.update(revoked_at=None)
    send(mturk_client, zoo)
    each_hit_is_there_once()


def test_what_is_refused_fails_alone_and_can_be_tried_again(
    zoo: models.Campaign, mturk_client: MTurk
) -> None:
    wrong = terms_of(zoo, reward=1)
    wrong.body = wrong.body.replace('"AssignmentDurationInSeconds": 3600', '"Assignment": 3600')
    wrong.save()
    bad, good = hit_queue(zoo, terms=wrong), hit_queue(zoo)
    send(mturk_client)
    assert statuses() == {
        f"create_hit/{bad.pk}": CallStatus.FAILED,
        f"create_hit/{good.pk}": CallStatus.DONE,
    }
    call = call_of(f"create_hit/{bad.pk}")
    assert "AssignmentDurationInSeconds" in call.last_error
    assert send(mturk_client) == 0
    wrong.body = terms_of(zoo).body.replace("0.25", "0.01")
    wrong.save()
    call_retry(call=call)
    send(mturk_client)
    bad.refresh_from_db()
    assert bad.status == HitStatus.OPEN
    call_retry(call=call)
    assert send(mturk_client) == 0


def test_a_mistake_of_ours_in_one_call_stops_no_other(
    zoo: models.Campaign, mturk_client: MTurk, caplog: pytest.LogCaptureFixture
) -> None:
    bad, good = hit_queue(zoo, terms=terms_of(zoo, reward=1)), hit_queue(zoo)
    models.HitTerms.objects.filter(reward_cents=1).update(body="no JSON")
    send(mturk_client)
    assert statuses()[f"create_hit/{good.pk}"] == CallStatus.DONE
    call = call_of(f"create_hit/{bad.pk}")
    assert call.status == CallStatus.WAITING
    assert "DecodeError" in call.last_error
    assert f"create_hit/{bad.pk} could not be sent" in caplog.text


def test_a_marketplace_that_is_down_is_left_alone(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    for _ in range(8):
        hit_queue(zoo)
    asked = []

    def network(request: AWSPreparedRequest, _: Callable[[], AWSResponse]) -> AWSResponse:
        asked.append(request)
        raise ConnectTimeoutError(endpoint_url="")

    server.network = network
    send(mturk_client)
    assert len(asked) == 3
    untried = models.OutboxCall.objects.filter(attempts=0, next_try_at__lte=timezone.now())
    assert untried.count() == 5


# Paying


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
        "The marketplace says that it was rejected.",
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
    with pytest.raises(BonusError, match="at least a cent"):
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


# Telling


def test_messages_wait_until_the_worker_can_be_written_to(
    zoo: models.Campaign, assignment: models.Assignment, mturk_client: MTurk
) -> None:
    message(zoo, assignment.worker)
    send(mturk_client)
    call = call_of(f"message/{assignment.worker_id}")
    assert call.status == CallStatus.WAITING
    assert "has not done any work" in call.last_error
    approve_queue(assignment)
    send(mturk_client)
    send(mturk_client, zoo)
    assert statuses()[call.key] == CallStatus.DONE
    assert market.Message.objects.get().text == "You are trusted now."


def test_a_first_message_goes_out_with_the_first_payment(
    zoo: models.Campaign, assignment: models.Assignment, mturk_client: MTurk, server: InProcess
) -> None:
    trust_revoke(
        campaign=zoo, worker=assignment.worker, stage=Stage.LINKS, reason="Too quick", by="me"
    )
    calls_send(client=mturk_client, at_once=1)
    assert "NotifyWorkers" not in server.operations
    approve_queue(assignment)
    calls_send(client=mturk_client, at_once=1)
    assert server.operations.count("NotifyWorkers") == 1
    # From then on nothing waits.
    trust_reinstate(campaign=zoo, worker=assignment.worker, stage=Stage.LINKS, by="me")
    calls_send(client=mturk_client, at_once=1)
    assert market.Message.objects.count() == 2
    assert set(statuses().values()) == {CallStatus.DONE}


def test_whom_nobody_can_write_to_is_given_up_after_days(
    zoo: models.Campaign, assignment: models.Assignment, mturk_client: MTurk
) -> None:
    message(zoo, assignment.worker)
    models.OutboxCall.objects.update(created_at=timezone.now() - timedelta(days=4))
    send(mturk_client)
    assert statuses()[f"message/{assignment.worker_id}"] == CallStatus.DROPPED


def test_only_the_latest_of_a_lane_is_sent(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    worker = worker_ensure(name=make_worker().worker_id)
    for value in (50, 100, 0):
        qualify(zoo, worker, value, f"value {value}")
    # Queued again, such as by a confirmation that is repeated: it stays overtaken.
    qualify(zoo, worker, 100, "value 100")
    send(mturk_client)
    assert server.operations.count("AssociateQualificationWithWorker") == 1
    assert market.Qualification.objects.get().value == 0
    assert list(statuses().values()) == [CallStatus.DROPPED, CallStatus.DROPPED, CallStatus.DONE]


def test_a_call_that_is_overtaken_on_its_way_does_not_have_the_last_word(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    worker = worker_ensure(name=make_worker().worker_id)
    qualify(zoo, worker, 100, "trusted")

    def overtaken(_: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        qualify(zoo, worker, 0, "revoked")
        send(mturk_client)
        assert market.Qualification.objects.get().value == 0
        return carry_out()

    answers_once(server, "AssociateQualificationWithWorker", overtaken)
    send(mturk_client)
    assert market.Qualification.objects.get().value == 100
    assert statuses() == {"trusted": CallStatus.DROPPED, "revoked": CallStatus.WAITING}
    # Once whoever had claimed the first must have given up.
    revoked = call_of("revoked")
    assert revoked.next_try_at == revoked.created_at + CLAIM
    send(mturk_client, zoo)
    assert market.Qualification.objects.get().value == 0
    assert statuses() == {"trusted": CallStatus.DROPPED, "revoked": CallStatus.DONE}


def test_an_erased_worker_is_paid_and_told_nothing(
    zoo: models.Campaign,
    assignment: models.Assignment,
    mturk_client: MTurk,
    server: InProcess,
    funded: market.Requester,
) -> None:
    approve_queue(assignment)
    bonus_queue(assignment=assignment, cents=5, reason="Thanks", key="b")
    # The marketplace's refusals may say whom they are about.
    models.OutboxCall.objects.update(last_error=f"no worker {assignment.worker.name}")
    worker_erase(worker=assignment.worker)
    of_assignment = models.OutboxCall.objects.filter(assignment=assignment)
    assert not of_assignment.exclude(last_error="").exists()
    # Queued by somebody who had not heard of it.
    qualify(zoo, assignment.worker, 100, "value")
    message(zoo, assignment.worker)
    send(mturk_client)
    assert statuses() == {
        f"create_hit/{assignment.hit_id}": CallStatus.DONE,
        f"approve/{assignment.pk}": CallStatus.DONE,
        "bonus/b": CallStatus.DONE,
        "value": CallStatus.DROPPED,
        f"message/{assignment.worker_id}": CallStatus.DROPPED,
    }
    assert not market.Message.objects.exists()
    money_agrees(funded)
