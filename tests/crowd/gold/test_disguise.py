"""Gold questions look like the others: each question is about an image of its own."""

import pytest

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.gold.gold_questions import gold_make
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.trust.standing import Trust
from tests.corpora import campaign_with_images
from tests.crowd.work import newcomer, sit, turn
from tests.offers import trusted
from tests.web.work.task_pages import agree

pytestmark = pytest.mark.django_db

WORKERS = 6


def campaign_of(images: int) -> models.Campaign:
    """Make a campaign whose images have several open questions each, and checks for all."""
    campaign = campaign_with_images(images)
    models.Image.objects.update(file="photos/some.jpg")
    campaign_settings_change(
        campaign=campaign, crowd=CrowdSettings(check_share=0.2, probation_check_share=0.5)
    )
    gold_make(campaign=campaign, stages=[Stage.LINKS], from_answer_key=True)
    campaign.refresh_from_db()
    return campaign


def sitting_of(campaign: models.Campaign, worker: str, trust: Trust) -> models.Sitting:
    if trust is Trust.PROBATION:
        return sit(newcomer(campaign, worker))
    claim = turn(campaign, worker, 1)
    agree(claim)
    trusted(campaign, worker, Stage.LINKS, trust)
    return sit(claim)


def rows_of(sitting: models.Sitting) -> list[models.SittingQuestion]:
    return list(sitting.questions.order_by("number"))


@pytest.mark.parametrize("trust", [Trust.TRUSTED, Trust.PROBATION])
def test_the_image_does_not_tell(trust: Trust) -> None:
    campaign = campaign_of(100)
    assert models.OpenQuestion.objects.filter(stage="links").count() >= 200, "several of an image"
    for number in range(WORKERS):
        rows = rows_of(sitting_of(campaign, f"A{number}", trust))
        assert [row.number for row in rows] == list(range(1, 11))
        checks = [row for row in rows if row.gold_id]
        assert len(checks) == (2 if trust is Trust.TRUSTED else 5)
        # Each is the only one about its image, checks and others.
        assert len({row.image_id for row in rows}) == 10


def test_few_images_are_asked_about_more_than_once() -> None:
    campaign = campaign_of(3)
    rows = rows_of(sitting_of(campaign, "A1", Trust.TRUSTED))
    assert len({row.image_id for row in rows}) == 3
    real = [row for row in rows if not row.gold_id]
    free = models.OpenQuestion.objects.filter(stage="links").count()
    assert len(real) == min(8, free) > 3
