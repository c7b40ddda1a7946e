"""From saved answers to judgments: only what the platform confirms, each exactly once."""

import json
from pathlib import Path

import pytest
from django.test import TestCase
from msgspec.structs import replace

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.crowd.hits import hit_close, hit_look_soon
from annotation.actions.crowd.workers import worker_ensure, worker_erase
from annotation.actions.protocol.facts import judgments_record
from annotation.actions.trust.standing import trust_revoke
from annotation.actions.work.answers import sitting_finish
from annotation.actions.work.confirmations import NO_ANSWERS, assignment_confirm, sitting_confirm
from annotation.models import CallStatus, Operation, SittingStatus
from annotation.pipeline.protocol.facts import Doubt, Judgment, decode_body
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.trust.standing import Trust
from annotation.selectors.crowd.hits import LOOK_EVERY
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from common.clock import database_now
from tests.crowd.work import (
    checked_campaign,
    hit_of,
    newcomer,
    right_answers,
    sit,
    submitted,
    turn,
    work,
)
from tests.web.work.task_pages import agree, claim_of

pytestmark = pytest.mark.django_db

NO_CHECKS = CrowdSettings(check_share=0.0)
# Yes to all ten questions, as in the marketplace's form.
ALL = json.dumps([{"number": number, "answer": "yes"} for number in range(1, 11)])


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return checked_campaign(tmp_path, 12, NO_CHECKS)


def calls(operation: Operation) -> list[models.OutboxCall]:
    return list(models.OutboxCall.objects.filter(operation=operation).order_by("pk"))


def check_states() -> None:
    settings = settings_by_id()
    for image in images_with_facts(models.Image.objects.all()):
        assert image_differences(image, settings) == []


def test_a_confirmed_sitting_is_recorded_and_paid_once(campaign: models.Campaign) -> None:
    claim = turn(campaign, "A1", 1)
    agree(claim)
    sitting = sit(claim)
    finished = sitting_finish(claim=claim, answers=right_answers(sitting))
    assert not models.Fact.objects.exists(), "saved answers are no judgments"
    told = submitted(claim, finished)
    first = assignment_confirm(hit=hit_of(claim), submitted=told)
    again = assignment_confirm(hit=hit_of(claim), submitted=told)
    assert first == again
    assert models.Fact.objects.filter(kind="judgment").count() == 10
    [approve] = calls(Operation.APPROVE)
    assert (approve.assignment, approve.hit) == (first, hit_of(claim))
    assert first.worker.name == "A1"
    assert not models.SittingQuestion.objects.filter(released_at=None).exists()
    check_states()


def test_what_is_handed_in_is_looked_at_soon_without_any_notification(
    campaign: models.Campaign,
) -> None:
    claim = turn(campaign, "A1", 1)
    agree(claim)
    sitting = sit(claim)
    now = database_now()
    models.Hit.objects.update(look_at=now + LOOK_EVERY)
    with TestCase.captureOnCommitCallbacks(execute=True):
        sitting_finish(claim=claim, answers=right_answers(sitting))
    look_at = hit_of(claim).look_at
    assert look_at is not None
    assert look_at < now + LOOK_EVERY
    # A look that is due earlier stays.
    models.Hit.objects.update(look_at=now)
    hit_look_soon(hit_id=claim.hit_id)
    assert hit_of(claim).look_at == now


def test_a_claim_of_somebody_elses_work_is_not_confirmed_for_them(
    campaign: models.Campaign,
) -> None:
    """The address said A1; the platform says that A2 has submitted this assignment."""
    claim = turn(campaign, "A1", 1)
    agree(claim)
    finished = sitting_finish(claim=claim, answers=right_answers(sit(claim)))
    told = submitted(claim, finished)
    other = assignment_confirm(hit=hit_of(claim), submitted=replace(told, worker="A2"))
    assert other.sitting is None
    assert not models.Fact.objects.exists()
    [reject] = calls(Operation.REJECT)
    assert NO_ANSWERS in reject.details
    assert not calls(Operation.APPROVE)


def test_answers_that_only_the_platform_has_are_recovered(campaign: models.Campaign) -> None:
    """Our side never heard of the finish, and the sitting's time ran out."""
    claim = turn(campaign, "A1", 1)
    agree(claim)
    sitting = sit(claim)
    answers = right_answers(sitting)
    finished = sitting_finish(claim=claim, answers=answers)
    told = submitted(claim, finished)
    models.SittingQuestion.objects.filter(sitting=sitting).update(
        answer="", released_at=sitting.opened_at
    )
    models.Sitting.objects.filter(pk=sitting.pk).update(
        status=SittingStatus.LAPSED, digest="", finished_at=None
    )
    assert sit(claim).pk != sitting.pk, "the worker came back meanwhile and got other questions"
    assignment = assignment_confirm(hit=hit_of(claim), submitted=told)
    assert assignment.sitting == sitting
    assert models.Fact.objects.filter(worker__name="A1").count() == len(answers)
    assert models.Sitting.objects.filter(status=SittingStatus.OPEN).count() == 0
    check_states()


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"sitting": "1"},
        {"sitting": "x", "answers": "[]"},
        {"sitting": "{sitting}", "answers": "no json"},
        {"sitting": "{sitting}", "answers": '[{"number": 1, "answer": "perhaps"}]'},
        {"sitting": "{sitting}", "answers": '[{"number": 77, "answer": "yes"}]'},
        {"sitting": "{sitting}", "answers": "[]"},
        # One of ten: who could leave questions out would choose what is checked.
        {"sitting": "{sitting}", "answers": '[{"number": 1, "answer": "yes"}]'},
        {"sitting": "{sitting}", "answers": ALL.replace('"yes"', '"yes", "milliseconds": -1')},
        {"sitting": "{sitting}", "answers": ALL.replace("10", "99999999999999999999")},
    ],
)
def test_a_form_that_does_not_fit_is_no_answer(
    campaign: models.Campaign, fields: dict[str, str]
) -> None:
    claim = turn(campaign, "A1", 1)
    agree(claim)
    sitting = sit(claim)
    filled = {name: text.replace("{sitting}", str(sitting.pk)) for name, text in fields.items()}
    told = replace(submitted(claim), fields=filled)
    assert assignment_confirm(hit=hit_of(claim), submitted=told).sitting is None
    assert not models.Fact.objects.exists()
    assert len(calls(Operation.REJECT)) == 1


def test_a_form_says_no_more_than_the_page_could(campaign: models.Campaign) -> None:
    """A photo was withdrawn since, and somebody has put in a comment that no database takes."""
    claim = turn(campaign, "A1", 1)
    agree(claim)
    sitting = sit(claim)
    image_withdraw(image=sitting.questions.order_by("number")[0].image, reason="asked for")
    comment = '"yes", "comment": "\\u0000"'
    fields = {"sitting": str(sitting.pk), "answers": ALL.replace('"yes"', comment)}
    told = replace(submitted(claim), fields=fields)
    assert assignment_confirm(hit=hit_of(claim), submitted=told).sitting == sitting
    assert models.Fact.objects.filter(kind="judgment").count() == 9
    assert not sitting.questions.exclude(comment="").exists()


def test_work_of_another_stage_is_not_paid_as_this_ones(campaign: models.Campaign) -> None:
    """The frame was opened as another task, with this assignment's id."""
    dear = turn(campaign, "A1", 1, Stage.DRAWING)
    cheap = replace(turn(campaign, "A1", 1), assignment_id=dear.assignment_id)
    agree(cheap)
    finished = sitting_finish(claim=cheap, answers=right_answers(sit(cheap)))
    told = submitted(dear, finished)
    assert assignment_confirm(hit=hit_of(dear), submitted=told).sitting is None
    assert not models.Fact.objects.exists()


def test_somebody_elses_sitting_in_the_form_is_not_taken(campaign: models.Campaign) -> None:
    victim = turn(campaign, "A1", 1)
    agree(victim)
    finished = sitting_finish(claim=victim, answers=right_answers(sit(victim)))
    thief = turn(campaign, "A2", 1)
    agree(thief)
    told = submitted(thief, finished)
    assert assignment_confirm(hit=hit_of(thief), submitted=told).sitting is None
    assert not models.Fact.objects.exists()


def test_late_answers_are_stored_and_paid_but_do_not_count(campaign: models.Campaign) -> None:
    claim = turn(campaign, "A1", 1)
    agree(claim)
    finished = sitting_finish(claim=claim, answers=right_answers(sit(claim)))
    # Its time runs out, others get the same questions and are quicker.
    models.SittingQuestion.objects.update(released_at=finished.opened_at)
    quicker = turn(campaign, "A2", 1)
    agree(quicker)
    work(quicker)
    assert models.Fact.objects.filter(counted=True).count() == 10
    assignment_confirm(hit=hit_of(claim), submitted=submitted(claim, finished))
    late = models.Fact.objects.filter(worker__name="A1")
    assert [fact.counted for fact in late] == [False] * 10
    assert len(calls(Operation.APPROVE)) == 2
    check_states()


def test_whom_we_do_not_trust_any_more_is_heard_and_not_believed(campaign: models.Campaign) -> None:
    claim = turn(campaign, "A1", 1)
    agree(claim)
    finished = sitting_finish(claim=claim, answers=right_answers(sit(claim)))
    trust_revoke(
        campaign=campaign,
        worker=worker_ensure(name="A1"),
        stage=Stage.LINKS,
        reason="Spam",
        by="chief",
    )
    assignment_confirm(hit=hit_of(claim), submitted=submitted(claim, finished))
    facts = [decode_body(fact.body) for fact in models.Fact.objects.order_by("image", "number")]
    doubts = [body for body in facts if isinstance(body, Doubt)]
    assert len(facts) == 2 * len(doubts) == 20
    open_links = models.OpenQuestion.objects.filter(stage="links").count()
    assert open_links == 12, "every question is asked again"
    assert len(calls(Operation.APPROVE)) == 1, "and the work is paid"
    check_states()


def test_approval_can_wait_for_a_researchers_word(tmp_path: Path) -> None:
    campaign = checked_campaign(tmp_path, 12, CrowdSettings(check_share=0.0, approval_hours=24))
    claim = turn(campaign, "A1", 1)
    agree(claim)
    work(claim)
    [approve] = calls(Operation.APPROVE)
    assert approve.next_try_at is not None
    assert (approve.next_try_at - approve.created_at).total_seconds() > 23 * 3600


def test_probation_is_gold_questions_only_and_ends_in_trust(tmp_path: Path) -> None:
    crowd = CrowdSettings(probation_items=20, probation_limit=30)
    campaign = checked_campaign(tmp_path, 20, crowd)
    newcomer(campaign, "A1")
    first = work(turn(campaign, "A1", 1))
    assert first.questions.filter(gold=None).count() == 0
    assert not models.Fact.objects.exists()
    standing = models.WorkerStanding.objects.get(worker__name="A1", stage="links")
    assert (standing.trust, standing.standing.now.checks) == (Trust.PROBATION, 10)
    second = work(turn(campaign, "A1", 2), wrong=1)
    asked = models.SittingQuestion.objects.filter(sitting__in=[first, second])
    assert asked.values("gold").distinct().count() == 20, "none is shown twice"
    standing.refresh_from_db()
    assert standing.trust == Trust.TRUSTED
    assert (standing.standing.now.right, standing.standing.now.checks) == (19, 20)
    third = work(turn(campaign, "A1", 3))
    assert models.Fact.objects.count() == third.questions.filter(gold=None).count() > 0
    values = [call.details for call in calls(Operation.QUALIFY)]
    assert values == ['{"value":100}']


def test_an_erased_workers_finished_sitting_is_still_confirmed_and_paid(
    campaign: models.Campaign,
) -> None:
    claim = turn(campaign, "A1", 1)
    agree(claim)
    finished = sitting_finish(claim=claim, answers=right_answers(sit(claim)))
    told = submitted(claim, finished)
    pseudonym = worker_erase(worker=finished.known_worker)
    assignment = assignment_confirm(hit=hit_of(claim), submitted=told)
    assert assignment.worker.name == pseudonym
    assert assignment_confirm(hit=hit_of(claim), submitted=told) == assignment
    assert models.Fact.objects.filter(worker__name=pseudonym).count() == 10
    assert not models.Worker.objects.filter(name="A1").exists()
    assert [call.status for call in calls(Operation.APPROVE)] == [CallStatus.WAITING]
    check_states()


def test_an_erased_worker_does_not_come_back_by_what_they_submitted_without_answers(
    campaign: models.Campaign,
) -> None:
    claim = turn(campaign, "A1", 1)
    told = submitted(claim)
    first = assignment_confirm(hit=hit_of(claim), submitted=told)
    worker_erase(worker=first.worker)
    assert assignment_confirm(hit=hit_of(claim), submitted=told) == first
    assert not models.Worker.objects.filter(name="A1").exists()
    assert len(calls(Operation.REJECT)) == 1


def test_what_is_left_open_at_a_hit_comes_back_when_the_hit_is_over(
    campaign: models.Campaign,
) -> None:
    """Who gave it back within the second they began is noticed at the latest then."""
    claim = turn(campaign, "hasty", 1)
    agree(claim)
    left = sit(claim)
    done = claim_of(campaign, Stage.LINKS, "A2", assignment_id="second", hit_id=claim.hit_id)
    agree(done)
    finished = work(done)
    hit_close(hit=hit_of(claim))
    left.refresh_from_db()
    assert left.status == SittingStatus.LAPSED
    assert not left.questions.filter(released_at=None).exists()
    # What has been handed in stays so.
    finished.refresh_from_db()
    assert finished.status == SittingStatus.FINISHED


def test_a_refused_judgment_says_nothing_of_the_next_ones_drawer(
    campaign: models.Campaign,
) -> None:
    """Recorded judgments are held against their own questions, whatever else was refused."""
    claim = turn(campaign, "A1", 1)
    agree(claim)
    sitting = sit(claim)
    finished = sitting_finish(claim=claim, answers=right_answers(sitting))
    first = sitting.questions.order_by("image_id", "number").first()
    assert first is not None
    contrary = Judgment(
        worker=finished.known_worker.pk, question=question_from_key(first.key), answer="no"
    )
    judgments_record(image_id=first.image_id, judgments=[contrary])
    confirmed = sitting_confirm(sitting=finished)
    assert (confirmed.recorded, len(confirmed.refused)) == (9, 1)
    assert first.key in confirmed.refused[0]
    facts = models.Fact.objects.filter(worker=finished.worker).order_by("pk")
    assert [(fact.image_id, fact.question) for fact in facts[1:]] == list(
        sitting.questions.exclude(pk=first.pk)
        .order_by("image_id", "number")
        .values_list("image_id", "key")
    )
