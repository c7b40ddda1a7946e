"""The effects of a change in a worker's standing: the qualification, the message, the doubts."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from annotation import models
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.review.doubts import doubts_raise
from annotation.actions.trust.standing import (
    AppealRefusedError,
    appeal_decide,
    appeal_make,
    trust_note,
    trust_reinstate,
    trust_revoke,
)
from annotation.actions.work.answers import sitting_finish
from annotation.actions.work.confirmations import sitting_confirm
from annotation.actions.work.sittings import (
    SittingRefusedError,
    Trouble,
    consent_give,
    sitting_open,
)
from annotation.models import CallStatus, HitStatus, Operation, SittingKind, SittingStatus
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import Doubt, decode_body
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.trust.standing import Checked, FinishedTest, Trust
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from annotation.selectors.trust.standing import standing_differences, work_of
from tests.crowd.work import checked_campaign, newcomer, right_answers, sit, turn, work
from tests.offers import trusted
from tests.web.work.task_pages import agree, an_answer, claim_of

pytestmark = pytest.mark.django_db

HALF = CrowdSettings(check_share=0.5, probation_items=10, probation_limit=20)


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return checked_campaign(tmp_path, 40, HALF)


def standing(worker: str, stage: Stage = Stage.LINKS) -> models.WorkerStanding:
    return models.WorkerStanding.objects.get(worker__name=worker, stage=stage.value)


def begin_trusted(campaign: models.Campaign, name: str, *stages: Stage) -> models.Worker:
    """A worker whom events have made trusted."""
    worker = worker_ensure(name=name)
    at_stages: list[dict[str, Any]] = [
        {"campaign": campaign, "worker": worker, "stage": stage} for stage in stages
    ]
    for note in at_stages:
        trust_note(**note, event=FinishedTest(right=1, asked=1), key="test/1")
        trust_revoke(**note, reason="-", by="test")
    for note in at_stages:
        trust_reinstate(**note, trusted=True, by="test")
    models.OutboxCall.objects.all().delete()
    agree_only(campaign, name)
    return worker


def agree_only(campaign: models.Campaign, name: str) -> None:
    """Agree to the study and leave the standing as it is."""
    before = list(models.WorkerStanding.objects.filter(worker__name=name))
    agree(claim_of(campaign, worker=name))
    models.WorkerStanding.objects.filter(worker__name=name).exclude(
        pk__in=[row.pk for row in before]
    ).delete()
    for row in before:
        row.save()


def test_spam_after_trust_loses_it_and_is_doubted(campaign: models.Campaign) -> None:
    worker = begin_trusted(campaign, "A1", Stage.LINKS, Stage.COVERAGE)
    good = [work(turn(campaign, "A1", number)) for number in range(2)]
    assert standing("A1").trust == Trust.TRUSTED
    facts_of_good_work = models.Fact.objects.count()
    open_elsewhere = turn(campaign, "A1", 77)
    held = sit(open_elsewhere)
    spam = []
    for number in range(2, 5):
        if standing("A1").trust != Trust.TRUSTED:
            break
        spam.append(work(turn(campaign, "A1", number), wrong=5))
    row = standing("A1")
    assert row.trust == Trust.REVOKED
    assert "checked answers were wrong" in row.standing.reason
    held.refresh_from_db()
    assert held.status == SittingStatus.LAPSED, "no further question, at once"
    assert not models.SittingQuestion.objects.filter(sitting=held, released_at=None).exists()
    with pytest.raises(SittingRefusedError) as refused:
        sitting_open(claim=turn(campaign, "A1", 99))
    assert refused.value.trouble is Trouble.NOT_QUALIFIED
    assert standing("A1", Stage.COVERAGE).trust == Trust.PROBATION, "shaken elsewhere"
    qualify = models.OutboxCall.objects.filter(operation=Operation.QUALIFY, stage="links")
    assert [call.details for call in qualify.order_by("pk")] == ['{"value":0}']
    [message] = models.OutboxCall.objects.filter(operation=Operation.MESSAGE, stage="links")
    assert "checked answers were wrong" in message.details
    assert "/hits/appeal/" in message.details
    doubts_raise()
    assert not models.PendingDoubt.objects.exists()
    doubted = {
        (fact.image_id, body.judgment)
        for fact in models.Fact.objects.filter(kind="doubt")
        if isinstance(body := decode_body(fact.body), Doubt)
    }
    places = [one.judgment for one in work_of(campaign, worker, Stage.LINKS) if one.judgment]
    # Nothing speaks for what came after the last check that was passed, wherever it stood.
    checks = good[-1].questions.filter(gold__isnull=False).order_by("number")
    last = checks.values_list("number", flat=True).reverse()[0]
    unchecked = good[-1].questions.filter(gold=None, number__gt=last).count()
    since = facts_of_good_work - unchecked
    assert doubted == set(places[since:]), "all of the spam and nothing before the last good check"
    assert len(spam) < 4, "found out within three sittings of five checks"
    assert len(good) == 2
    settings = settings_by_id()
    for image in images_with_facts(models.Image.objects.all()):
        assert image_differences(image, settings) == []
    assert list(standing_differences()) == []


def test_two_unlucky_answers_end_no_trust(campaign: models.Campaign) -> None:
    begin_trusted(campaign, "A1", Stage.LINKS)
    work(turn(campaign, "A1", 1), wrong=2)
    assert standing("A1").trust == Trust.TRUSTED


def test_an_event_is_noted_once(campaign: models.Campaign) -> None:
    worker = begin_trusted(campaign, "A1", Stage.LINKS)
    for _ in range(3):
        after = trust_note(
            campaign=campaign,
            worker=worker,
            stage=Stage.LINKS,
            event=Checked(right=True),
            key="check/1/1",
        )
    assert after.now.checks == 1
    assert models.TrustEvent.objects.filter(key="check/1/1").count() == 1


def test_only_the_latest_qualification_of_a_worker_waits_to_be_sent(
    campaign: models.Campaign,
) -> None:
    worker = worker_ensure(name="A1")
    note: dict[str, Any] = {"campaign": campaign, "worker": worker, "stage": Stage.LINKS}
    trust_note(**note, event=FinishedTest(right=1, asked=1), key="test/1")
    trust_revoke(**note, reason="Spam", by="chief")
    trust_reinstate(**note, trusted=True, by="chief")
    calls = models.OutboxCall.objects.filter(operation=Operation.QUALIFY).order_by("pk")
    assert [(msgspec.json.decode(call.details)["value"], call.status) for call in calls] == [
        (50, CallStatus.DROPPED),
        (0, CallStatus.DROPPED),
        (100, CallStatus.WAITING),
    ]
    assert [event.by for event in models.TrustEvent.objects.order_by("pk")] == [
        "",
        "chief",
        "chief",
    ]


def test_boxes_are_checked_by_quality(campaign: models.Campaign) -> None:
    """One drawer's boxes are called good, the other's bad, by a third worker."""
    names = ["A1", "A2", "A3"]
    for name in names:
        agree(claim_of(campaign, worker=name))
    while models.OpenQuestion.objects.filter(stage="links").exists():
        work(turn(campaign, "A3", models.Sitting.objects.count()))
    for number in (500, 501):
        work(turn(campaign, "A2", number, Stage.VERIFICATION))
    for name in ("A1", "A2"):
        claim = turn(campaign, name, 600, Stage.DRAWING)
        rect = Rect(5, 6, 24, 35) if name == "A1" else Rect(1, 1, 60, 40)
        answers = {n: an_answer(Stage.DRAWING, rect=rect) for n in _numbers(sit(claim))}
        work(claim, answers)
    claim = turn(campaign, "A3", 700, Stage.QUALITY)
    sitting = sit(claim)
    answers = {}
    for row in sitting.questions.all():
        is_good = '"candidate":[5,6,24,35]' in row.shown
        answers[row.number] = an_answer(Stage.QUALITY, answer="good" if is_good else "bad")
    work(claim, answers)
    right = standing("A1", Stage.DRAWING).standing.now
    wrong = standing("A2", Stage.DRAWING).standing
    assert (right.right, right.checks) == (5, 5)
    assert wrong.now.right == 0
    assert wrong.trust is Trust.REVOKED, "none of five boxes passed"
    checks = [one.passed for one in work_of(campaign, worker_ensure(name="A1"), Stage.DRAWING)]
    assert checks == [True] * 5


def _numbers(sitting: models.Sitting) -> list[int]:
    return list(sitting.questions.values_list("number", flat=True))


def test_a_failed_test_can_be_taken_again_but_not_for_ever(campaign: models.Campaign) -> None:
    worker = worker_ensure(name="A1")
    for number in (1, 2):
        after = trust_note(
            campaign=campaign,
            worker=worker,
            stage=Stage.LINKS,
            event=FinishedTest(right=0, asked=4),
            key=f"test/{number}",
        )
        assert after.trust is Trust.TESTING
        models.Sitting.objects.create(
            campaign=campaign,
            stage="links",
            kind=SittingKind.TEST,
            worker=worker,
            assignment_id=f"T{number}",
            status=SittingStatus.FINISHED,
            until=campaign.created_at,
            confirmed_at=campaign.created_at,
        )
    claim = claim_of(campaign, worker="A1", kind=SittingKind.TEST)
    agree(claim)
    with pytest.raises(SittingRefusedError, match="as often as is allowed"):
        sitting_open(claim=claim)


def test_a_hit_that_is_none_of_ours_opens_nothing(campaign: models.Campaign) -> None:
    claim = claim_of(campaign, worker="A1")
    agree(claim)
    for invented in (
        msgspec.structs.replace(claim, hit_id="HIT-made-up"),
        msgspec.structs.replace(claim, hit_id=""),
        msgspec.structs.replace(claim, stage=Stage.QUALITY),
    ):
        with pytest.raises(SittingRefusedError) as refused:
            sitting_open(claim=invented)
        assert refused.value.trouble is Trouble.NOT_FOUND
    assert not models.Sitting.objects.exists()


def test_made_up_assignments_hold_few_questions(campaign: models.Campaign) -> None:
    """Whoever knows a HIT's id and trusted workers' ids can make up assignments, but not many."""
    real = turn(campaign, "A1", 1)
    for number in range(9):
        name = f"A{number}"
        agree(claim_of(campaign, worker=name))
        claim = msgspec.structs.replace(real, worker=name, assignment_id=f"made-up-{number}")
        if number < 3:
            sitting = sit(claim)
            # Handing in what the marketplace will never confirm makes no more room.
            sitting_finish(claim=claim, answers=right_answers(sitting))
            continue
        with pytest.raises(SittingRefusedError):
            sitting_open(claim=claim)


def test_a_hit_that_is_over_opens_nothing_new(campaign: models.Campaign) -> None:
    claim = turn(campaign, "A1", 1)
    agree(claim)
    finished = work(claim)
    models.Hit.objects.update(status=HitStatus.CLOSED)
    assert sitting_open(claim=claim).sitting == finished, "what was handed in is still shown"
    with pytest.raises(SittingRefusedError, match="over"):
        sitting_open(claim=msgspec.structs.replace(claim, assignment_id="made-up"))


def test_nobody_makes_up_a_worker_who_agrees(campaign: models.Campaign) -> None:
    claim = msgspec.structs.replace(claim_of(campaign, worker="A9"), hit_id="HIT-made-up")
    with pytest.raises(SittingRefusedError):
        consent_give(claim=claim, version=1)
    assert not models.Worker.objects.filter(name="A9").exists()


# Appeals


def test_an_appeal_is_heard_once_and_can_reinstate(campaign: models.Campaign) -> None:
    worker = worker_ensure(name="A1")
    trusted(campaign, "A1", Stage.LINKS)
    with pytest.raises(AppealRefusedError, match="nothing to appeal"):
        appeal_make(standing=standing("A1"), words="Please")
    trust_revoke(campaign=campaign, worker=worker, stage=Stage.LINKS, reason="Spam", by="chief")
    appeal = appeal_make(standing=standing("A1"), words="It was my cat")
    with pytest.raises(AppealRefusedError, match="already"):
        appeal_make(standing=standing("A1"), words="Hello?")
    appeal_decide(appeal=appeal, reinstate=True, reply="Welcome back.", by="chief")
    with pytest.raises(AppealRefusedError, match="answered"):
        appeal_decide(appeal=appeal, reinstate=False, reply="", by="chief")
    assert standing("A1").trust == Trust.PROBATION
    told = models.OutboxCall.objects.get(key=f"message/appeal/{appeal.pk}")
    assert "Welcome back." in told.details


def test_a_newcomers_wrong_answers_reach_no_fact(campaign: models.Campaign) -> None:
    newcomer(campaign, "A1")
    claim = turn(campaign, "A1", 1)
    sitting = sit(claim)
    numbers = _numbers(sitting)
    sitting_finish(claim=claim, answers=right_answers(sitting, wrong=numbers))
    sitting_confirm(sitting=models.Sitting.objects.get(pk=sitting.pk))
    assert standing("A1").trust == Trust.REVOKED
    assert not models.Fact.objects.exists()
