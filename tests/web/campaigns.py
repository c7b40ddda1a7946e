"""Small campaigns for tests, made through the actions like real ones."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from PIL import Image as Picture

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.corpus.imports import ImageToImport, Take, images_import
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import judgments_record
from annotation.pipeline.captions import Caption
from annotation.pipeline.corpus.corpus_image import CorpusImage
from annotation.pipeline.corpus.pictures import read_picture
from annotation.pipeline.engine import open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import ANIMALS, PEOPLE, Mention, MentionFinder
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import BOX, GOOD, TRUE, YES, Question, Stage

# A caption is input from somewhere: this one tries what it can.
HOSTILE = "<script>alert(1)</script>"
CAPTIONS = (
    Caption(number=1, tokens=("A", "man", "rides", "a", "horse", ".")),
    Caption(number=2, tokens=("The", "guy", "sits", "there", HOSTILE, ".")),
)
MENTIONS = (
    Mention(number=1, caption=1, start=0, end=2, types=(PEOPLE,)),
    Mention(number=2, caption=1, start=3, end=5, types=(ANIMALS,)),
    Mention(number=3, caption=2, start=0, end=2, types=(PEOPLE,)),
)
ANSWERS = {
    Stage.LINKS: YES,
    Stage.VERIFICATION: TRUE,
    Stage.REQUIREMENT: BOX,
    Stage.DRAWING: BOX,
    Stage.QUALITY: GOOD,
    Stage.COVERAGE: YES,
}


def small_campaign(folder: Path, names: Sequence[str], name: str = "rides") -> models.Campaign:
    """Import images of 60×40 pixels with two captions and three mentions each."""
    photo = folder / "photo.png"
    Picture.new("RGB", (60, 40), "teal").save(photo)
    picture = read_picture(photo)
    campaign = campaign_create(name=name)
    images_import(
        campaign=campaign,
        batch=[
            ImageToImport(
                image=CorpusImage(
                    name=image,
                    filename=f"{image}.png",
                    captions=CAPTIONS,
                    mentions=MENTIONS,
                    width=60,
                    height=40,
                ),
                picture=picture,
            )
            for image in names
        ],
        take=Take.NOTHING,
        finder=MentionFinder.load(),
    )
    return campaign


def image_named(campaign: models.Campaign, name: str) -> models.Image:
    return models.Image.objects.select_related("stored_state").get(campaign=campaign, name=name)


def judgment(worker: int, question: Question) -> Judgment:
    rect = Rect(5, 6, 24, 35) if question.stage is Stage.DRAWING else None
    return Judgment(worker=worker, question=question, answer=ANSWERS[question.stage], rect=rect)


def answer(image: models.Image, limit: int | None = None) -> list[Judgment]:
    """Let workers answer every question in favour, until it is finished or at the limit."""
    workers = workers_simulated(count=12)
    given: list[Judgment] = []
    state = image.stored_state.state
    turns = cycle(workers)
    while limit is None or len(given) < limit:
        questions = open_questions(state)
        if not questions:
            break
        worker = next(turns)
        if may_answer(state, questions[0], worker):
            given.append(judgment(worker, questions[0]))
            state = judgments_record(image_id=image.pk, judgments=given[-1:]).state
    return given
