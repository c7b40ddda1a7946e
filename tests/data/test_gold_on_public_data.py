"""Gold questions made of the public val images."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.corpus.imports import ImageToImport, Take, images_import
from annotation.actions.gold.files import gold_import_release
from annotation.actions.gold.gold_questions import gold_make
from annotation.pipeline.corpus.corpus_image import (
    CorpusImage,
    annotation_of,
    captions_of,
    mentions_of_sentences,
)
from annotation.pipeline.gold.files import WrittenGold, gold_of, write_gold
from annotation.pipeline.gold.gold_question import launch_problems
from annotation.pipeline.mentions.mention import MentionFinder
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.release.folder import image_ids, read_image
from annotation.selectors.gold.gold_questions import gold_available

pytestmark = [pytest.mark.django_db, pytest.mark.slow]

IMAGES = 200
# Most images have no scene that is named, and no second box that could be missing.
AT_LEAST = {
    Stage.LINKS: {"yes": 380, "no": 280},
    Stage.VERIFICATION: {"true": 350, "false": 270},
    Stage.REQUIREMENT: {"box": 280, "scene": 30, "nobox": 150},
    Stage.QUALITY: {"good": 380, "bad": 380},
    Stage.COVERAGE: {"yes": 380, "no": 180},
}


def val_images(dataset: Path, count: int = IMAGES) -> Iterator[CorpusImage]:
    for name in image_ids(dataset, "val")[:count]:
        released = read_image(dataset, name)
        yield CorpusImage(
            name=name,
            filename=released.filename,
            captions=captions_of(released.sentences),
            mentions=mentions_of_sentences(released.sentences),
            annotation=annotation_of(released),
            split="val",
            width=released.width,
            height=released.height,
        )


def imported(images: Iterator[CorpusImage], take: Take) -> models.Campaign:
    campaign = campaign_create(name="public")
    batch = [ImageToImport(image=image) for image in images]
    images_import(campaign=campaign, batch=batch, take=take, finder=MentionFinder.load())
    # Nothing here looks at the photos, but without one nobody could be asked.
    models.Image.objects.update(file="images/photo.jpg")
    return campaign


def check_counts(campaign: models.Campaign) -> None:
    available = gold_available(campaign)
    assert launch_problems(available, Settings()) == []
    for stage, counts in AT_LEAST.items():
        for answer, least in counts.items():
            assert least <= available[stage][answer] <= 2 * IMAGES


def test_counts_per_answer_and_what_is_written_reads_back(public_dataset: Path) -> None:
    campaign = imported(val_images(public_dataset), Take.ACCEPT)
    gold_make(campaign=campaign)
    check_counts(campaign)
    rows = models.GoldQuestion.objects.filter(campaign=campaign)
    for row in rows.select_related("image__stored_state"):
        state = row.image.stored_state.state
        text = write_gold(row.gold, {c.number: c.tokens for c in state.captions})
        again = gold_of(msgspec.json.decode(text, type=WrittenGold), state)
        assert again.key == row.key


def test_a_release_about_images_with_phrases_of_our_own(public_dataset: Path) -> None:
    """The corpus came as captions only, and our finder cut the phrases."""
    bare = (
        msgspec.structs.replace(image, mentions=None, annotation=None)
        for image in val_images(public_dataset)
    )
    campaign = imported(bare, Take.NOTHING)
    result = gold_import_release(campaign=campaign, images=val_images(public_dataset))
    assert result.problems == ()
    check_counts(campaign)
