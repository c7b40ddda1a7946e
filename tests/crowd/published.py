"""HITs to publish, as the supply would queue them, and workers who do them."""

import hashlib
import json
from datetime import timedelta

from django.db.models import Sum
from django.utils import timezone

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.crowd.outbox import call_queue
from annotation.actions.crowd.workers import worker_ensure
from annotation.models import CallStatus, Operation, SittingKind
from annotation.pipeline.crowd.money import Fees, fee
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings, Settings
from marketplace import models as market
from marketplace.actions.assignments import assignment_accept, assignment_submit

FEE_PERCENT = 20
REWARD = 25
COST = REWARD + fee(REWARD, Fees(percent=FEE_PERCENT))
ANSWER = (
    '<QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd">'
    "<Answer><QuestionIdentifier>sitting</QuestionIdentifier><FreeText>{}</FreeText></Answer>"
    "</QuestionFormAnswers>"
)


def launched(name: str = "zoo") -> models.Campaign:
    """A campaign with one stage that runs; the marketplace takes a fifth."""
    settings = Settings(crowd=CrowdSettings(fee_percent=FEE_PERCENT, budget_cents=10_000_000))
    campaign = campaign_create(name=name, settings=settings)
    models.StageSupply.objects.create(campaign=campaign, stage=Stage.LINKS)
    return campaign


def terms_of(campaign: models.Campaign, *, reward: int = REWARD) -> models.HitTerms:
    """The terms of a HIT of Links; without a requirement, so that anybody may work."""
    body = json.dumps(
        {
            "Title": "Do two phrases name the same thing?",
            "Description": "Ten questions about photos",
            "Keywords": "photo, phrase",
            "Reward": f"{reward // 100}.{reward % 100:02d}",
            "AssignmentDurationInSeconds": 3600,
            "AutoApprovalDelayInSeconds": 604_800,
            "QualificationRequirements": [],
        }
    )
    return models.HitTerms.objects.get_or_create(
        campaign=campaign,
        stage=Stage.LINKS,
        kind=SittingKind.WORK,
        digest=hashlib.sha256(body.encode()).hexdigest(),
        defaults={
            "body": body,
            "reward_cents": reward,
            "cost_cents": reward + fee(reward, Fees(percent=FEE_PERCENT)),
        },
    )[0]


def hit_queue(
    campaign: models.Campaign, *, terms: models.HitTerms | None = None, places: int = 1
) -> models.Hit:
    """Have one HIT published, soon."""
    terms = terms or terms_of(campaign)
    hit = models.Hit.objects.create(
        campaign=campaign,
        stage=terms.stage,
        kind=terms.kind,
        terms=terms,
        places=places,
        held_cents=places * terms.cost_cents,
    )
    call_queue(
        campaign=campaign,
        operation=Operation.CREATE_HIT,
        key=f"create_hit/{hit.pk}",
        hit=hit,
        stage=hit.stage,
    )
    return hit


def hit_take_back(hit: models.Hit) -> None:
    """Have a HIT taken back, soon."""
    call_queue(
        campaign=hit.campaign,
        operation=Operation.EXPIRE_HIT,
        key=f"expire_hit/{hit.pk}",
        hit=hit,
        stage=hit.stage,
    )


def approve_queue(assignment: models.Assignment) -> None:
    call_queue(
        campaign=assignment.hit.campaign,
        operation=Operation.APPROVE,
        key=f"approve/{assignment.pk}",
        assignment=assignment,
        hit=assignment.hit,
        stage=assignment.hit.stage,
    )


def reject_queue(assignment: models.Assignment, reason: str = "There were no answers.") -> None:
    call_queue(
        campaign=assignment.hit.campaign,
        operation=Operation.REJECT,
        key=f"reject/{assignment.pk}",
        assignment=assignment,
        hit=assignment.hit,
        stage=assignment.hit.stage,
        reason=reason,
    )


def call_of(key: str) -> models.OutboxCall:
    return models.OutboxCall.objects.get(key=key)


def all_due(campaign: models.Campaign) -> None:
    """Let the time pass until everything that waits is due."""
    models.OutboxCall.objects.filter(campaign=campaign, status=CallStatus.WAITING).update(
        next_try_at=timezone.now() - timedelta(seconds=1)
    )


def done_by(worker: market.Worker, hit: models.Hit) -> market.Assignment:
    """Have a worker of the marketplace accept a HIT of ours and submit it."""
    theirs = market.HIT.objects.get(hit_id=hit.hit_id)
    accepted = assignment_accept(hit_id=theirs.pk, worker=worker)
    assignment_submit(assignment=accepted, answer=ANSWER.format(0))
    return accepted


def confirmed(worker: market.Worker, hit: models.Hit) -> models.Assignment:
    """Record a worker's submission on our side, as a confirmation would."""
    submitted = done_by(worker, hit)
    return models.Assignment.objects.create(
        hit=hit,
        assignment_id=submitted.assignment_id,
        worker=worker_ensure(name=worker.worker_id),
        submitted_at=timezone.now(),
    )


def money_agrees(requester: market.Requester) -> None:
    """Both ledgers agree to the cent about payments, fees and held money."""
    ours = models.Payment.objects.aggregate(cents=Sum("cents"), fees=Sum("fee_cents"))
    kinds = market.AccountKind
    earned = market.Account.objects.filter(kind=kinds.EARNINGS).aggregate(sum=Sum("balance"))
    fees = market.Account.objects.filter(kind=kinds.FEES).aggregate(sum=Sum("balance"))
    held = market.Account.objects.filter(kind=kinds.HELD, requester=requester).aggregate(
        sum=Sum("balance")
    )
    assert (ours["cents"] or 0, ours["fees"] or 0) == (earned["sum"] or 0, fees["sum"] or 0)
    our_held = models.Hit.objects.aggregate(sum=Sum("held_cents"))["sum"] or 0
    assert our_held == (held["sum"] or 0)


def each_hit_is_there_once() -> None:
    """All our HITs are on the marketplace, and nothing else is: no duplicates and no orphans."""
    theirs = list(market.HIT.objects.values_list("hit_id", flat=True))
    ours = models.Hit.objects.exclude(hit_id=None).values_list("hit_id", flat=True)
    assert sorted(theirs) == sorted(str(hit_id) for hit_id in ours)
