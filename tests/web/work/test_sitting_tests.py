"""Qualification tests as sittings."""

from pathlib import Path

import pytest

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.work.answers import draft_save, sitting_finish
from annotation.actions.work.confirmations import NotFinishedError, sitting_confirm
from annotation.actions.work.guides import guide_save
from annotation.actions.work.sittings import (
    SittingRefusedError,
    Trouble,
    sitting_open,
)
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.sittings import Claim, sitting_score
from common.clock import database_now
from tests.web.campaigns import image_named, small_campaign
from tests.web.work.sitting_steps import run_out, trouble
from tests.web.work.task_pages import (
    LINKS_TEST,
    agree,
    an_answer,
    claim_of,
    keys,
    opened,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second", "third"])


@pytest.fixture
def test_claim(campaign: models.Campaign) -> Claim:
    guide_save(campaign=campaign, topic="links", source=LINKS_TEST)
    return claim_of(campaign, kind=SittingKind.TEST)


def test_a_test_grades_every_answer_and_keeps_it(
    campaign: models.Campaign, test_claim: Claim
) -> None:
    sitting = opened(test_claim)
    assert sitting.guide is not None
    assert keys(sitting) == [
        (image_named(campaign, "first").pk, ""),
        (image_named(campaign, "second").pk, ""),
    ]
    yes = an_answer(Stage.LINKS)
    for _ in range(2):
        graded = draft_save(claim=test_claim, number=1, answer=yes).graded
        assert graded is not None
        assert (graded.right, graded.lesson.why) == (True, "There is one man.")
    for other in (an_answer(Stage.LINKS, answer="no"), None):
        with pytest.raises(SittingRefusedError) as refused:
            draft_save(claim=test_claim, number=1, answer=other)
        assert trouble(refused) is Trouble.ANSWERED
    wrong = draft_save(claim=test_claim, number=2, answer=yes).graded
    assert wrong is not None
    assert not wrong.right
    with pytest.raises(SittingRefusedError) as refused:
        sitting_finish(claim=test_claim, answers={1: yes, 2: an_answer(Stage.LINKS, answer="no")})
    assert trouble(refused) is Trouble.ANSWERED
    finished = sitting_finish(claim=test_claim, answers={1: yes, 2: yes})
    score = sitting_score(finished)
    assert score is not None
    assert (score.right, score.asked, score.needed, score.passed) == (1, 2, 0.8, False)
    with pytest.raises(NotFinishedError):
        sitting_confirm(sitting=finished)


def test_all_right_passes_and_keeps_passing(campaign: models.Campaign, test_claim: Claim) -> None:
    opened(test_claim)
    answers = {1: an_answer(Stage.LINKS), 2: an_answer(Stage.LINKS, answer="no")}
    finished = sitting_finish(claim=test_claim, answers=answers)
    campaign_settings_change(campaign=campaign, minimum_performance={s.value: 1.0 for s in Stage})
    finished.refresh_from_db()
    score = sitting_score(finished)
    assert score is not None
    assert (score.passed, score.needed) == (True, 0.8)


def test_a_test_holds_no_question_and_goes_on_after_its_time(
    campaign: models.Campaign, test_claim: Claim
) -> None:
    sitting = opened(test_claim)
    assert len(keys(opened(claim_of(campaign, worker="A2")))) == 3
    assert opened(claim_of(campaign, worker="A3", kind=SittingKind.TEST)).pk != sitting.pk
    draft_save(claim=test_claim, number=1, answer=an_answer(Stage.LINKS))
    run_out(sitting)
    again = opened(test_claim)
    assert again.pk == sitting.pk, "who has seen answers does not begin anew"
    assert again.until > database_now()
    assert again.questions.get(number=1).answer


def test_a_test_keeps_the_guide_it_was_begun_with(
    campaign: models.Campaign, test_claim: Claim
) -> None:
    opened(test_claim)
    guide_save(campaign=campaign, topic="links", source=LINKS_TEST.replace('"yes"', '"no"'))
    graded = draft_save(claim=test_claim, number=1, answer=an_answer(Stage.LINKS)).graded
    assert graded is not None
    assert graded.right


def test_a_test_leaves_out_what_was_withdrawn(campaign: models.Campaign, test_claim: Claim) -> None:
    image_withdraw(image=image_named(campaign, "first"), reason="rights")
    sitting = opened(test_claim)
    assert [question.number for question in sitting.questions.all()] == [2]
    graded = draft_save(
        claim=test_claim, number=2, answer=an_answer(Stage.LINKS, answer="no")
    ).graded
    assert graded is not None
    assert graded.right
    finished = sitting_finish(claim=test_claim, answers={2: an_answer(Stage.LINKS, answer="no")})
    assert (finished.right, finished.asked) == (1, 1)


def test_a_test_without_photos_is_with_nobody(campaign: models.Campaign, test_claim: Claim) -> None:
    for name in ("first", "second"):
        image_withdraw(image=image_named(campaign, name), reason="rights")
    agree(test_claim)
    opened(claim_of(campaign, worker="A2"))
    result = sitting_open(claim=test_claim)
    assert (result.sitting, result.empty) == (None, "nothing_left")
