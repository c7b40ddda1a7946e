"""The demo campaign with open questions at a given stage."""

from io import StringIO

from django.core.management import call_command

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import judgments_record
from annotation.management.commands.demo_load import CAMPAIGN, DEMO
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.state import ImageState
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import PERFECT, Crowd
from annotation.simulation.run import answer_key
from annotation.simulation.work import next_judgments


def demo_campaign(questions: int = 3, **settings: object) -> models.Campaign:
    """Import the demo photos and guides, with `questions` a HIT, and nothing answered yet."""
    call_command(
        "corpus_import",
        DEMO,
        campaign=CAMPAIGN,
        images=DEMO / "photos",
        gold=True,
        stdout=StringIO(),
    )
    call_command("guides_import", DEMO / "guides", campaign=CAMPAIGN, stdout=StringIO())
    campaign_settings_change(
        campaign=models.Campaign.objects.get(name=CAMPAIGN),
        questions_per_hit={stage.value: questions for stage in Stage},
        **settings,
    )
    return models.Campaign.objects.get(name=CAMPAIGN)


def open_questions_of(campaign: models.Campaign, stage: Stage, at_least: int = 3) -> None:
    """Let a perfect crowd answer all other questions until enough of this stage are open."""
    crowd = Crowd(workers_simulated(count=12), PERFECT, seed=1)
    images = models.Image.objects.filter(campaign=campaign).select_related(
        "answer_key", "stored_state"
    )
    for image in images.order_by("pk"):
        state, key = image.stored_state.state, answer_key(image)
        while batch := _of_other_stages(state, key, crowd, image.name, stage):
            state = judgments_record(image_id=image.pk, judgments=batch).state
        if models.OpenQuestion.objects.filter(campaign=campaign, stage=stage).count() >= at_least:
            return
    raise AssertionError(f"the demo has fewer than {at_least} open questions of {stage}")


def _of_other_stages(
    state: ImageState, key: AnswerKey, crowd: Crowd, image: str, stage: Stage
) -> list[Judgment]:
    given = next_judgments(state, key, crowd, image)
    return [judgment for judgment in given if judgment.question.stage is not stage]
