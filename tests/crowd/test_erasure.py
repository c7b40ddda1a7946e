"""A worker erased in the middle of a campaign: the identity is gone, and the money is right."""

import json
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from django.apps import apps
from django.core.management import call_command
from django.db.models import CharField, JSONField, TextField
from django.utils import timezone
from msgspec.structs import replace

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.crowd.outbox import call_retry
from annotation.actions.crowd.payments import bonus_queue
from annotation.actions.crowd.workers import worker_ensure, worker_erase
from annotation.actions.trust.standing import (
    appeal_decide,
    appeal_make,
    qualification_queue,
    trust_reinstate,
    trust_revoke,
)
from annotation.actions.work.answers import draft_save, sitting_finish
from annotation.actions.work.sittings import consent_give
from annotation.crowd.audit import Totals, hit_differences
from annotation.crowd.client import MTurk
from annotation.crowd.polling import hits_look
from annotation.crowd.sender import calls_send
from annotation.hits.presentation import form_fields
from annotation.models import AssignmentStatus, CallStatus, Operation, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.work.answers import Answer
from annotation.selectors.work.sittings import Claim
from marketplace import models as market
from marketplace.actions import workers as their_workers
from marketplace.actions.assignments import assignment_accept, assignment_submit
from marketplace.rules.questions.answers import answers_xml
from tests.acceptances import accepted as acceptance_now
from tests.crowd.in_process import InProcess, operation_of, spoilt
from tests.crowd.published import ANSWER, FEE_PERCENT, REWARD, all_due, hit_queue, money_agrees
from tests.crowd.work import checked_campaign, right_answers, sit

pytestmark = pytest.mark.django_db

USERNAME, EMAIL = "ada.lovelace", "ada@example.org"
COMMENT = "My neighbour Babbage has such a horse"
APPEAL = "It was my sister Anne who clicked"
REPLY = "Dear Ada, we have looked"
BONUS = 7


class Place(NamedTuple):
    """An accepted HIT, as both sides know it."""

    claim: Claim
    accepted: market.Assignment

    def open(self) -> models.Sitting:
        """Open a sitting and answer all questions, as drafts, each with a remark."""
        sitting = sit(self.claim)
        for number, answer in self.answers(sitting).items():
            draft_save(claim=self.claim, number=number, answer=answer)
        return sitting

    def answers(self, sitting: models.Sitting) -> dict[int, Answer]:
        given = right_answers(sitting)
        return {number: replace(answer, comment=COMMENT) for number, answer in given.items()}

    def finish(self) -> models.Sitting:
        """Hand the answers in to us."""
        answers = self.answers(self.open())
        return sitting_finish(claim=self.claim, answers=answers)

    def submit(self, sitting: models.Sitting) -> None:
        """Send the marketplace's form with the fields that the page fills in."""
        fields = form_fields(sitting).items()
        assignment_submit(assignment=self.accepted, answer=answers_xml(fields))


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    """A launched campaign with three questions a HIT, and enough of them."""
    crowd = CrowdSettings(fee_percent=FEE_PERCENT, budget_cents=100_000, check_share=0.0)
    made = checked_campaign(tmp_path, images=24, crowd=crowd)
    campaign_settings_change(campaign=made, questions_per_hit=dict.fromkeys(Stage, 3))
    models.StageSupply.objects.bulk_create(
        [models.StageSupply(campaign=made, stage=stage.value) for stage in Stage]
    )
    return models.Campaign.objects.select_related("current_settings").get(pk=made.pk)


@pytest.fixture
def ada(db: None) -> market.Worker:
    return their_workers.worker_sign_up(
        username=USERNAME,
        password="a long one indeed",
        email=EMAIL,
        country="GB",
        is_adult=True,
        open_to_all=True,
    )


def places(
    campaign: models.Campaign, client: MTurk, worker: market.Worker, count: int
) -> list[Place]:
    """Have a worker accept this many HITs."""
    hits = [hit_queue(campaign) for _ in range(count)]
    send(client, campaign)
    made = []
    for hit in hits:
        hit.refresh_from_db()
        theirs = market.HIT.objects.get(hit_id=hit.hit_id)
        accepted = assignment_accept(hit_id=theirs.pk, worker=worker)
        claim = Claim(
            campaign=campaign.pk,
            stage=Stage.LINKS,
            kind=models.SittingKind.WORK,
            assignment_id=accepted.assignment_id,
            hit_id=theirs.hit_id,
            worker=worker.worker_id,
            acceptance=acceptance_now(),
        )
        made.append(Place(claim, accepted))
    return made


def trusted(campaign: models.Campaign, worker: models.Worker) -> None:
    """Let a worker be trusted at every stage, by a researcher's word."""
    for stage in Stage:
        trust_revoke(campaign=campaign, worker=worker, stage=stage, reason="New", by="me")
    # Only then: whoever loses trust at one stage loses some at the others.
    for stage in Stage:
        trust_reinstate(campaign=campaign, worker=worker, stage=stage, trusted=True, by="me")


def send(client: MTurk, campaign: models.Campaign) -> None:
    all_due(campaign)
    calls_send(client=client, at_once=1)


def look(client: MTurk) -> None:
    models.Hit.objects.exclude(look_at=None).update(look_at=timezone.now() - timedelta(seconds=1))
    hits_look(client=client)


def refuse(server: InProcess, worker: str, *operations: str) -> None:
    """Have the marketplace refuse operations in words that name the worker, as it does."""
    words = {
        "__type": "RequestError",
        "TurkErrorCode": "AWS.MechanicalTurk.WorkerDoesNotExist",
        "Message": f'The value "{worker}" is not valid for the parameter WorkerId.',
    }

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if operation_of(request) in operations:
            return spoilt(request, 400, json.dumps(words))
        return carry_out()

    server.network = network


def found(text: str, *apps_left_out: str) -> set[str]:
    """Name the columns, of all tables, that hold a text anywhere in a value."""
    places: set[str] = set()
    for model in apps.get_models():
        if model._meta.app_label in apps_left_out:
            continue
        for field in model._meta.concrete_fields:
            if isinstance(field, CharField | TextField | JSONField):
                values = model._base_manager.values_list(field.attname, flat=True)
                if any(text.lower() in str(value).lower() for value in values):
                    places.add(f"{model._meta.db_table}.{field.column}")
    return places


def test_an_erased_worker_is_forgotten_and_paid(
    campaign: models.Campaign,
    ada: market.Worker,
    mturk_client: MTurk,
    server: InProcess,
    funded: market.Requester,
) -> None:
    name = ada.worker_id
    at = places(campaign, mturk_client, ada, 7)
    consent_give(claim=at[0].claim, version=1)
    worker = worker_ensure(name=name)
    trusted(campaign, worker)

    # Paid, with a bonus that waits and one that was refused for a reason that names the worker.
    at[0].submit(at[0].finish())
    look(mturk_client)
    send(mturk_client, campaign)
    paid = models.Assignment.objects.get(status=AssignmentStatus.APPROVED)
    bonus_queue(assignment=paid, cents=BONUS, reason="Well done", key="refused")
    qualification_queue(
        campaign=campaign, worker=worker, stage=Stage.QUALITY, value=100, cause="refused"
    )
    refuse(server, name, "SendBonus", "AssociateQualificationWithWorker")
    send(mturk_client, campaign)
    bonus_queue(assignment=paid, cents=BONUS, reason="Well done", key="waiting")
    # Confirmed and not paid; handed in everywhere; to us only; drafts only; to them only; nothing.
    at[1].submit(at[1].finish())
    look(mturk_client)
    at[2].submit(at[2].finish())
    at[3].finish()
    at[4].open()
    at[5].submit(at[5].open())
    at[6].open()
    assignment_submit(assignment=at[6].accepted, answer=ANSWER.format("nothing"))
    # Two appeals, one with a reply, and messages that wait to be sent.
    for stage in (Stage.COVERAGE, Stage.VERIFICATION):
        trust_revoke(campaign=campaign, worker=worker, stage=stage, reason="Too quick", by="me")
        standing = models.WorkerStanding.objects.get(worker=worker, stage=stage.value)
        appeal = appeal_make(standing=standing, words=APPEAL)
    appeal_decide(appeal=appeal, reinstate=False, reply=REPLY, by="me")
    assert {s.status for s in models.Sitting.objects.all()} == {
        SittingStatus.OPEN,
        SittingStatus.FINISHED,
    }
    # What is searched for is there to be found.
    assert found(name, "marketplace") == {"annotation_worker.name"}
    for trace in (USERNAME, EMAIL, COMMENT, APPEAL, REPLY):
        assert found(trace), trace

    worker_erase(worker=worker)
    their_workers.worker_erase(worker=ada)

    def nothing_is_left() -> None:
        assert not found(name, "marketplace")
        for trace in (USERNAME, EMAIL, COMMENT, APPEAL, REPLY):
            assert not found(trace), trace

    nothing_is_left()
    # Bonuses are refused once more, by name; then all goes through.
    look(mturk_client)
    send(mturk_client, campaign)
    nothing_is_left()
    failed = models.OutboxCall.objects.filter(status=CallStatus.FAILED, operation=Operation.BONUS)
    assert len(failed) == 2
    refuse(server, name)
    for call in failed:
        call_retry(call=call)
    look(mturk_client)
    send(mturk_client, campaign)
    nothing_is_left()

    assert not models.OutboxCall.objects.filter(status=CallStatus.WAITING).exists()
    decided = models.Assignment.objects.values_list("assignment_id", "status")
    assert dict(decided) == {
        **{at[n].accepted.assignment_id: AssignmentStatus.APPROVED for n in (0, 1, 2, 5)},
        at[6].accepted.assignment_id: AssignmentStatus.REJECTED,
    }
    earned = market.Account.objects.get(worker=ada, kind=market.AccountKind.EARNINGS)
    assert earned.balance == 4 * REWARD + 2 * BONUS
    money_agrees(funded)
    totals = Totals()
    for hit in models.Hit.objects.select_related("terms"):
        assert list(hit_differences(mturk_client, hit, totals)) == []
    assert totals.our_cents == totals.their_cents == earned.balance
    # Their judgments stay, under the pseudonym; what they were at went to others.
    assert worker.facts.count() == 4 * 3
    assert not models.SittingQuestion.objects.filter(
        sitting__status=SittingStatus.OPEN, released_at=None
    ).exists()
    call_command("state_check")


@pytest.mark.parametrize("opens", [True, False])
def test_whom_we_have_erased_does_not_come_back_without_answers(
    campaign: models.Campaign, ada: market.Worker, mturk_client: MTurk, opens: bool
) -> None:
    [place] = places(campaign, mturk_client, ada, 1)
    if opens:
        consent_give(claim=place.claim, version=1)
        trusted(campaign, worker_ensure(name=ada.worker_id))
        place.open()
    assignment_submit(assignment=place.accepted, answer=ANSWER.format("nothing"))
    look(mturk_client)
    assignment = models.Assignment.objects.get()
    worker_erase(worker=assignment.worker)
    look(mturk_client)
    assert models.Assignment.objects.get() == assignment
    assert not found(ada.worker_id, "marketplace")
