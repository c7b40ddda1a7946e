"""Messages to workers and qualifications at the marketplace; the latest comes last."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from django.utils import timezone

from annotation import models
from annotation.actions.crowd.outbox import CLAIM
from annotation.actions.crowd.payments import bonus_queue
from annotation.actions.crowd.workers import worker_ensure, worker_erase
from annotation.actions.trust.standing import trust_reinstate, trust_revoke
from annotation.crowd.client import MTurk
from annotation.crowd.sender import calls_send
from annotation.models import CallStatus
from annotation.pipeline.protocol.questions import Stage
from marketplace import models as market
from tests.crowd.calls import answers_once, message, qualify, send, statuses
from tests.crowd.in_process import InProcess
from tests.crowd.published import (
    approve_queue,
    call_of,
    money_agrees,
)
from tests.marketplace.people import make_worker

pytestmark = pytest.mark.django_db


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
