"""Rows of the requester's side for tests of pages: through actions where there are some."""

from datetime import timedelta

from django.utils import timezone

from annotation import models
from annotation.actions.crowd.outbox import call_queue
from annotation.actions.crowd.payments import reward_paid
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.trust.standing import appeal_make, trust_notes
from annotation.models import CallStatus, Operation, SittingKind, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Checked, Event, FinishedTest


def trusted(
    campaign: models.Campaign, name: str, stage: Stage = Stage.LINKS, *, right: int = 33
) -> models.WorkerStanding:
    """Make a worker who passed the test and answered 36 checks, this many of them correctly."""
    worker = worker_ensure(name=name)
    events: dict[str, Event] = {"test/1": FinishedTest(right=10, asked=10)}
    for number in range(36):
        # The wrong ones apart: close together they would end trust.
        is_right = number * right // 36 != (number + 1) * right // 36
        events[f"check/{number}"] = Checked(right=is_right)
    trust_notes(campaign=campaign, worker=worker, stage=stage, events=events)
    return models.WorkerStanding.objects.get(campaign=campaign, worker=worker, stage=stage.value)


def assignment(
    campaign: models.Campaign,
    worker: models.Worker,
    *,
    paid: bool = True,
    stage: Stage = Stage.LINKS,
) -> models.Assignment:
    """Make a HIT that the worker has handed in; unpaid: its payment waits."""
    number = models.Hit.objects.count()
    now = timezone.now()
    terms, _ = models.HitTerms.objects.get_or_create(
        campaign=campaign,
        stage=stage.value,
        kind=SittingKind.WORK,
        digest="of the body",
        defaults={"body": "{}", "reward_cents": 25, "cost_cents": 30},
    )
    hit = models.Hit.objects.create(
        campaign=campaign,
        stage=stage.value,
        kind=SittingKind.WORK,
        terms=terms,
        status="open",
        hit_id=f"HIT{number}",
        is_free=False,
        held_cents=30,
    )
    sitting = models.Sitting.objects.create(
        campaign=campaign,
        stage=stage.value,
        kind=SittingKind.WORK,
        worker=worker,
        assignment_id=f"ASSIGNMENT{number}",
        hit_id=f"HIT{number}",
        status=SittingStatus.FINISHED,
        until=now + timedelta(hours=1),
        finished_at=now,
        confirmed_at=now,
        milliseconds=75_000,
    )
    made = models.Assignment.objects.create(
        hit=hit,
        assignment_id=sitting.assignment_id,
        worker=worker,
        sitting=sitting,
        submitted_at=now,
    )
    if paid:
        reward_paid(assignment=made)
    else:
        call_queue(
            campaign=campaign,
            operation=Operation.APPROVE,
            key=f"approve/{made.pk}",
            assignment=made,
            stage=stage.value,
        )
    return made


def failed_call(campaign: models.Campaign, key: str, error: str) -> models.OutboxCall:
    """Make a call that the marketplace has refused."""
    call_queue(campaign=campaign, operation=Operation.MESSAGE, key=key)
    models.OutboxCall.objects.filter(key=key).update(
        status=CallStatus.FAILED, next_try_at=None, attempts=1, last_error=error
    )
    return models.OutboxCall.objects.get(key=key)


def appeal(standing: models.WorkerStanding, words: str) -> models.Appeal:
    return appeal_make(standing=standing, words=words)


def gold(campaign: models.Campaign, image: models.Image, number: int) -> models.GoldQuestion:
    return models.GoldQuestion.objects.create(
        campaign=campaign,
        stage=Stage.LINKS.value,
        image=image,
        key=f"key-{number}",
        answer="yes",
        body="{}",
        source="imported",
    )
