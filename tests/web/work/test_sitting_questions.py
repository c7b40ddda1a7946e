"""Opening a sitting: who gets which questions."""

from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.protocol.facts import judgments_record
from annotation.actions.work.answers import draft_save, sitting_finish
from annotation.actions.work.confirmations import sitting_confirm
from annotation.actions.work.guides import guide_save
from annotation.actions.work.sittings import (
    SittingRefusedError,
    Trouble,
    consent_give,
    sitting_open,
)
from annotation.hits.presentation import finished_reply, sitting_reply
from annotation.models import Fact, Sitting, SittingKind, SittingQuestion, Worker
from annotation.pipeline.engine import open_questions
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.protocol.settings import CrowdSettings
from tests.web.campaigns import image_named, judgment, small_campaign
from tests.web.work.sitting_steps import drawing, keys_of, run_out, trouble
from tests.web.work.task_pages import (
    agree,
    all_answers,
    an_answer,
    claim_of,
    keys,
    opened,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second", "third"])


def test_nobody_gets_questions_without_consent(campaign: models.Campaign) -> None:
    with pytest.raises(SittingRefusedError) as refused:
        sitting_open(claim=claim_of(campaign))
    assert trouble(refused) is Trouble.CONSENT
    assert not Worker.objects.exists()


def test_consent_is_asked_again_when_the_text_is_new(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    opened(claim)
    guide_save(campaign=campaign, topic="consent", source='title = "New"\nparagraphs = ["Yes."]\n')
    with pytest.raises(SittingRefusedError) as refused:
        sitting_open(claim=claim)
    assert trouble(refused) is Trouble.CONSENT
    with pytest.raises(SittingRefusedError, match="has changed") as refused:
        consent_give(claim=claim, version=1)
    agree(claim)
    agree(claim)
    assert sitting_open(claim=claim).sitting is not None


def test_a_sitting_takes_the_oldest_questions_of_its_stage(campaign: models.Campaign) -> None:
    campaign_settings_change(
        campaign=campaign, questions_per_hit={stage.value: 2 for stage in Stage}
    )
    sitting = opened(claim_of(campaign))
    oldest = models.OpenQuestion.objects.filter(stage="links").order_by("pk")[:2]
    assert set(keys(sitting)) == {(question.image_id, question.key) for question in oldest}
    others = opened(claim_of(campaign, worker="A2"))
    assert len(keys(others)) == 1
    assert not set(keys(others)) & set(keys(sitting))


def test_nearly_finished_images_come_first(campaign: models.Campaign) -> None:
    """The oldest questions are of the first image; the last one is nearer to its end."""
    campaign_settings_change(
        campaign=campaign, questions_per_hit={stage.value: 1 for stage in Stage}
    )
    last = image_named(campaign, "third")
    # The horse is settled there, in few or many steps; the men still wait for their link.
    while questions := [
        question
        for question in open_questions(image_named(campaign, "third").stored_state.state)
        if question.stage is not Stage.LINKS
    ]:
        worker = worker_ensure(name=f"of {Fact.objects.count()}").pk
        judgments_record(image_id=last.pk, judgments=[judgment(worker, questions[0])])
    taken = [opened(claim_of(campaign, worker=f"A{number}")) for number in range(3)]
    names = [SittingQuestion.objects.get(sitting=one).image.name for one in taken]
    assert names == ["third", "first", "second"]


def test_the_same_call_returns_the_same_sitting(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    draft_save(claim=claim, number=2, answer=an_answer(Stage.LINKS, comment="hm"))
    again = opened(claim)
    assert again == sitting
    assert again.until == sitting.until
    assert again.questions.get(number=2).comment == "hm"
    assert SittingQuestion.objects.count() == 3


def test_an_assignment_that_another_worker_has_now_is_another_sitting(
    campaign: models.Campaign,
) -> None:
    sitting = opened(claim_of(campaign, assignment_id="shared"))
    agree(claim_of(campaign, worker="A2"))
    other = sitting_open(claim=claim_of(campaign, worker="A2", assignment_id="shared"))
    assert (other.sitting, other.empty) == (None, "with_others")
    run_out(sitting)
    theirs = opened(claim_of(campaign, worker="A2", assignment_id="shared"))
    assert (theirs.assignment_id, len(keys(theirs))) == ("shared", 3)


def test_an_assignment_keeps_its_task(campaign: models.Campaign) -> None:
    opened(claim_of(campaign))
    for claim in (
        claim_of(campaign, Stage.REQUIREMENT),
        claim_of(campaign, kind=SittingKind.TEST),
    ):
        with pytest.raises(SittingRefusedError, match="another task"):
            sitting_open(claim=claim)


def test_nothing_left_is_not_the_same_as_with_others(campaign: models.Campaign) -> None:
    claim = claim_of(campaign, Stage.COVERAGE)
    agree(claim)
    assert sitting_open(claim=claim).empty == "nothing_left"
    opened(claim_of(campaign, worker="A2"))
    agree(claim_of(campaign))
    assert sitting_open(claim=claim_of(campaign)).empty == "with_others"
    assert not Sitting.objects.filter(worker__name="A1").exists(), "an empty sitting is not kept"


def test_a_worker_does_not_get_what_they_have_answered(campaign: models.Campaign) -> None:
    claim = claim_of(campaign, Stage.REQUIREMENT)
    agree(claim)
    worker = Worker.objects.get(name="A1")
    question = models.OpenQuestion.objects.filter(stage="requirement").order_by("pk")[0]
    judgments_record(
        image_id=question.image_id,
        judgments=[
            Judgment(worker=worker.pk, question=question_from_key(question.key), answer="nobox")
        ],
    )
    assert (question.image_id, question.key) not in keys(opened(claim))
    other = opened(claim_of(campaign, Stage.REQUIREMENT, worker="A2"))
    assert keys(other) == [(question.image_id, question.key)], "it is still open, for others"


def test_nobody_judges_their_own_box(campaign: models.Campaign) -> None:
    claim = drawing(campaign)
    sitting = opened(claim)
    sitting_finish(claim=claim, answers=all_answers(sitting))
    sitting.refresh_from_db()
    sitting_confirm(sitting=sitting)
    assert models.OpenQuestion.objects.filter(stage="quality").count() == len(keys_of(sitting))
    quality = claim_of(campaign, Stage.QUALITY, "A1", assignment_id="Q1")
    assert sitting_open(claim=quality).empty == "nothing_left"
    assert keys(opened(claim_of(campaign, Stage.QUALITY, "A2")))


def test_a_question_without_its_photo_is_not_asked(campaign: models.Campaign) -> None:
    models.Image.objects.exclude(name="second").update(file="")
    sitting = opened(claim_of(campaign))
    assert [image for image, _ in keys(sitting)] == [image_named(campaign, "second").pk]


def test_statements_do_not_grow_with_the_dataset(tmp_path: Path) -> None:
    counts = []
    for size in (12, 60):
        campaign = small_campaign(tmp_path, [str(n) for n in range(size)], name=f"of {size}")
        # A gold question, which comes by lot, would take one more.
        campaign_settings_change(campaign=campaign, crowd=CrowdSettings(check_share=0.0))
        claim = claim_of(campaign, worker=f"A{size}")
        agree(claim)
        with CaptureQueriesContext(connection) as first:
            sitting = sitting_open(claim=claim).sitting
        assert sitting is not None
        assert len(keys(sitting)) == 10
        with CaptureQueriesContext(connection) as again:
            sitting_open(claim=claim)
        with CaptureQueriesContext(connection) as finish:
            sitting_finish(claim=claim, answers=all_answers(sitting))
        counts.append((len(first), len(again), len(finish)))
    assert counts[0] == counts[1]
    assert max(counts[0]) < 30


def test_statements_do_not_grow_with_the_sitting(tmp_path: Path) -> None:
    counts = []
    for size in (2, 40):
        campaign = small_campaign(tmp_path, [str(n) for n in range(size)], name=f"of {size}")
        campaign_settings_change(
            campaign=campaign,
            questions_per_hit=dict.fromkeys(Stage, size),
            crowd=CrowdSettings(check_share=0.0),
        )
        claim = claim_of(campaign, worker=f"A{size}")
        agree(claim)
        with CaptureQueriesContext(connection) as first:
            sitting = sitting_open(claim=claim).sitting
        assert sitting is not None
        assert len(keys(sitting)) == size
        with CaptureQueriesContext(connection) as load:
            sitting_reply(sitting_open(claim=claim), claim.stage)
        with CaptureQueriesContext(connection) as draft:
            draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS))
        with CaptureQueriesContext(connection) as finish:
            finished_reply(sitting_finish(claim=claim, answers=all_answers(sitting)))
        with CaptureQueriesContext(connection) as confirm:
            sitting_confirm(sitting=models.Sitting.objects.get(pk=sitting.pk))
        counts.append([len(first), len(load), len(draft), len(finish), len(confirm)])
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("way", "ways"),
    [
        ("choice", {"extreme/drag"}),
        ("drag", {"drag"}),
        ("extreme", {"extreme"}),
        ("random", {"drag", "extreme"}),
    ],
)
def test_ways_of_drawing(campaign: models.Campaign, way: str, ways: set[str]) -> None:
    campaign_settings_change(
        campaign=campaign,
        drawing_way=way,
        questions_per_hit={stage.value: 1 for stage in Stage},
    )
    drawing(campaign)
    seen = set()
    for number in range(30):
        claim = claim_of(campaign, Stage.DRAWING, f"A{number}")
        sitting = opened(claim)
        seen.add(sitting.ways)
        run_out(sitting)
    assert seen == ways
    assert opened(claim_of(campaign, Stage.REQUIREMENT, "A1", assignment_id="R")).ways == ""
