"""Asking the marketplace about HITs: confirming submitted work, and closing finished HITs."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ConnectTimeoutError
from django.utils import timezone

from annotation import models
from annotation.actions.crowd.notifications import PlatformEvent, events_take
from annotation.actions.crowd.workers import worker_ensure, worker_erase
from annotation.crowd.client import MTurk
from annotation.crowd.polling import form_fields, hits_look
from annotation.models import AssignmentStatus, HitStatus, SittingKind, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.sittings import Claim, claim_proof
from marketplace import models as market
from marketplace.actions.assignments import (
    assignment_accept,
    assignment_approve,
    assignment_reject,
    assignment_submit,
)
from tests.crowd.calls import send
from tests.crowd.in_process import InProcess, operation_of, params_of
from tests.crowd.published import ANSWER, COST, done_by, hit_queue, hit_take_back, money_agrees
from tests.marketplace.people import make_worker

pytestmark = pytest.mark.django_db


def look(client: MTurk) -> int:
    """Let the time pass until every HIT is due, and look."""
    models.Hit.objects.exclude(look_at=None).update(look_at=timezone.now() - timedelta(seconds=1))
    return hits_look(client=client)


def pause_of(hit: models.Hit) -> timedelta:
    hit.refresh_from_db()
    assert hit.look_at is not None
    return hit.look_at - timezone.now()


def finished_sitting(hit: models.Hit, assignment: market.Assignment) -> models.Sitting:
    """The answers that the worker has handed in to us."""
    assert hit.hit_id is not None
    claim = Claim(
        campaign=hit.campaign_id,
        stage=Stage(hit.stage),
        kind=SittingKind(hit.kind),
        assignment_id=assignment.assignment_id,
        hit_id=hit.hit_id,
        worker=assignment.worker.worker_id,
    )
    return models.Sitting.objects.create(
        campaign=hit.campaign,
        stage=hit.stage,
        kind=hit.kind,
        worker=worker_ensure(name=claim.worker),
        assignment_id=claim.assignment_id,
        hit_id=claim.hit_id,
        proof=claim_proof(claim),
        status=SittingStatus.FINISHED,
        until=timezone.now() + timedelta(hours=1),
        finished_at=timezone.now(),
    )


def test_from_submitted_to_paid(
    hit: models.Hit, mturk_client: MTurk, server: InProcess, funded: market.Requester
) -> None:
    submitted = done_by(make_worker(), hit)
    sitting = finished_sitting(hit, submitted)
    assert look(mturk_client) == 1
    assert server.operations[-2:] == ["ListAssignmentsForHIT"] * 2  # the second page is empty
    assignment = models.Assignment.objects.get()
    assert assignment.sitting == sitting
    assert assignment.worker.name == submitted.worker.worker_id
    assert assignment.status == AssignmentStatus.SUBMITTED
    assert timedelta(minutes=50) < pause_of(hit)
    look(mturk_client)
    send(mturk_client)
    assert models.Payment.objects.count() == models.Assignment.objects.count() == 1
    hit.refresh_from_db()
    assert (hit.status, hit.look_at, hit.held_cents) == (HitStatus.CLOSED, None, 0)
    assert look(mturk_client) == 0
    money_agrees(funded)


def test_nobody_came_yet(hit: models.Hit, mturk_client: MTurk, server: InProcess) -> None:
    look(mturk_client)
    assert server.operations[-2:] == ["ListAssignmentsForHIT", "GetHIT"]
    assert timedelta(minutes=4) < pause_of(hit) < timedelta(minutes=6)
    assert (hit.status, hit.is_free, hit.held_cents) == (HitStatus.OPEN, True, COST)


def test_without_answers_it_is_rejected(
    hit: models.Hit, mturk_client: MTurk, funded: market.Requester
) -> None:
    done_by(make_worker(), hit)
    look(mturk_client)
    send(mturk_client)
    assert models.Assignment.objects.get().status == AssignmentStatus.REJECTED
    hit.refresh_from_db()
    assert hit.status == HitStatus.CLOSED
    money_agrees(funded)


def test_what_the_marketplace_decides_by_itself(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess, funded: market.Requester
) -> None:
    hits = [hit_queue(zoo), hit_queue(zoo)]
    send(mturk_client)
    for hit, decide in zip(hits, (assignment_approve, assignment_reject), strict=True):
        hit.refresh_from_db()
        submitted = done_by(make_worker(), hit)
        finished_sitting(hit, submitted)
        # Decided before we have ever looked, as after days without us.
        feedback = {"feedback": "no"} if decide is assignment_reject else {}
        decide(assignment=submitted, **feedback)
    look(mturk_client)
    ours = models.Assignment.objects.order_by("hit").values_list("status", flat=True)
    assert list(ours) == [AssignmentStatus.APPROVED, AssignmentStatus.REJECTED]
    assert models.Payment.objects.count() == 1
    assert set(models.Hit.objects.values_list("status", flat=True)) == {HitStatus.CLOSED}
    money_agrees(funded)
    server.operations.clear()
    send(mturk_client)
    assert models.Payment.objects.count() == 1
    money_agrees(funded)


def test_taken_back_before_anybody_came(
    hit: models.Hit, mturk_client: MTurk, funded: market.Requester
) -> None:
    hit_take_back(hit)
    send(mturk_client)
    look(mturk_client)
    hit.refresh_from_db()
    assert (hit.status, hit.held_cents, hit.look_at) == (HitStatus.CLOSED, 0, None)
    money_agrees(funded)


def test_taken_back_while_somebody_is_at_it(
    zoo: models.Campaign, mturk_client: MTurk, funded: market.Requester
) -> None:
    hit = hit_queue(zoo, places=3)
    send(mturk_client)
    hit.refresh_from_db()
    theirs = market.HIT.objects.get(hit_id=hit.hit_id)
    accepted = assignment_accept(hit_id=theirs.pk, worker=make_worker())
    hit_take_back(hit)
    send(mturk_client)
    look(mturk_client)
    hit.refresh_from_db()
    # One of three places may still have to be paid.
    assert (hit.status, hit.is_free, hit.held_cents) == (HitStatus.CLOSING, False, COST)
    money_agrees(funded)
    assignment_submit(assignment=accepted, answer=ANSWER.format(0))
    finished_sitting(hit, accepted)
    look(mturk_client)
    hit.refresh_from_db()
    assert (hit.status, hit.held_cents) == (HitStatus.CLOSING, COST)
    send(mturk_client)
    look(mturk_client)
    hit.refresh_from_db()
    assert (hit.status, hit.held_cents) == (HitStatus.CLOSED, 0)
    assert models.Payment.objects.count() == 1
    money_agrees(funded)


def test_expired_by_itself(hit: models.Hit, mturk_client: MTurk, funded: market.Requester) -> None:
    market.HIT.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    look(mturk_client)
    hit.refresh_from_db()
    assert hit.status == HitStatus.CLOSED
    money_agrees(funded)


def test_submitted_between_two_questions_is_not_missed(
    hit: models.Hit, mturk_client: MTurk, server: InProcess
) -> None:
    """A finished HIT is completely known; otherwise the last submitter would never be paid."""
    worker = make_worker()
    theirs = market.HIT.objects.get()
    accepted = assignment_accept(hit_id=theirs.pk, worker=worker)
    market.HIT.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    asked: list[AWSPreparedRequest] = []

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if operation_of(request) == "GetHIT" and not asked:
            asked.append(request)
            assignment_submit(assignment=accepted, answer=ANSWER.format(0))
        return carry_out()

    server.network = network
    finished_sitting(hit, accepted)
    look(mturk_client)
    assert asked
    hit.refresh_from_db()
    assert hit.status == HitStatus.CLOSING
    assert models.Assignment.objects.count() == 1


def test_what_is_heard_during_a_look_is_not_forgotten(
    hit: models.Hit, mturk_client: MTurk, server: InProcess
) -> None:
    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        answer = carry_out()
        event = PlatformEvent("AssignmentSubmitted", str(hit.hit_id), "3A", timezone.now())
        events_take(events=[event])
        return answer

    server.network = network
    assert models.Hit.objects.update(look_at=timezone.now() - timedelta(seconds=1))
    hits_look(client=mturk_client, most=1)
    assert pause_of(hit) <= timedelta()


def test_a_worker_who_has_handed_in_is_not_kept_waiting(
    hit: models.Hit, mturk_client: MTurk
) -> None:
    accepted = assignment_accept(hit_id=market.HIT.objects.get().pk, worker=make_worker())
    finished_sitting(hit, accepted)
    look(mturk_client)
    assert timedelta(seconds=20) < pause_of(hit) < timedelta(seconds=31)


def test_a_worker_erased_meanwhile_is_paid(
    hit: models.Hit, mturk_client: MTurk, funded: market.Requester
) -> None:
    submitted = done_by(make_worker(), hit)
    sitting = finished_sitting(hit, submitted)
    worker_erase(worker=sitting.known_worker)
    look(mturk_client)
    look(mturk_client)
    send(mturk_client)
    assert models.Assignment.objects.get().status == AssignmentStatus.APPROVED
    assert not models.Worker.objects.filter(name=submitted.worker.worker_id).exists()
    money_agrees(funded)


def test_trouble_with_one_keeps_nobody_else_waiting(
    zoo: models.Campaign,
    mturk_client: MTurk,
    server: InProcess,
    caplog: pytest.LogCaptureFixture,
) -> None:
    hits = [hit_queue(zoo) for _ in range(4)]
    send(mturk_client)
    for hit in hits:
        hit.refresh_from_db()
        finished_sitting(hit, done_by(make_worker(), hit))
    unknown, silent, broken, fine = hits
    models.Hit.objects.filter(pk=unknown.pk).update(hit_id="3NONE")

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if params_of(request).get("HITId") == silent.hit_id:
            raise ConnectTimeoutError(endpoint_url="")
        return carry_out()

    server.network = network
    # An answer that cannot be read stops its own confirmation only.
    sitting = models.Sitting.objects.get(hit_id=broken.hit_id)
    models.Sitting.objects.filter(pk=sitting.pk).update(stage="nonsense")
    models.Hit.objects.filter(pk=broken.pk).update(stage="nonsense")
    assert look(mturk_client) == 4
    assert models.Assignment.objects.get().hit == fine
    assert f"hit {broken.pk} could not be checked" in caplog.text
    for hit in (unknown, silent, broken):
        assert pause_of(hit) > timedelta(seconds=20)


def test_a_marketplace_that_is_down_is_left_alone(
    zoo: models.Campaign, mturk_client: MTurk, server: InProcess
) -> None:
    for _ in range(5):
        hit_queue(zoo)
    send(mturk_client)

    def network(_: AWSPreparedRequest, __: Callable[[], AWSResponse]) -> AWSResponse:
        raise ConnectTimeoutError(endpoint_url="")

    server.network = network
    assert look(mturk_client) == 3
    assert models.Hit.objects.filter(look_at__lte=timezone.now()).count() == 2


def test_every_page_is_read(zoo: models.Campaign, mturk_client: MTurk, server: InProcess) -> None:
    """A test has many assignments; known ones cost no second confirmation."""
    hit = hit_queue(zoo, places=120)
    send(mturk_client)
    hit.refresh_from_db()
    theirs = market.HIT.objects.get()
    workers = market.Worker.objects.bulk_create(market.Worker() for _ in range(103))
    now = timezone.now()
    market.Assignment.objects.bulk_create(
        market.Assignment(
            hit=theirs,
            worker=worker,
            status="Submitted",
            accepted_at=now,
            submitted_at=now,
            deadline=now,
            answer=ANSWER.format(0),
        )
        for worker in workers
    )
    server.operations.clear()
    look(mturk_client)
    assert models.Assignment.objects.count() == 103
    assert server.operations == ["GetHIT", *["ListAssignmentsForHIT"] * 3]
    hit.refresh_from_db()
    assert hit.is_free
    look(mturk_client)
    assert models.Assignment.objects.count() == 103


def test_the_form_is_read_back() -> None:
    assert form_fields(ANSWER.format("7 &amp; 8")) == {"sitting": "7 & 8"}
    assert form_fields("") == form_fields("<Answer") == {}
