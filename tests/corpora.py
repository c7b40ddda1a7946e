"""Small corpora for tests that need a campaign in the database."""

from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.corpus.imports import ImageToImport, Take, images_import, tables_analyse
from annotation.models import Campaign, Image
from annotation.pipeline.corpus.corpus_image import (
    CorpusImage,
    annotation_of,
    captions_of,
    mentions_of_sentences,
)
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import MentionFinder
from annotation.pipeline.release.folder import (
    ReleasedBox,
    ReleasedImage,
    UnboxedChain,
    parse_sentence,
)

SENTENCES = (
    "[/EN#1/people A man] in [/EN#2/clothing a red hat] walks [/EN#3/animals two dogs] .",
    "[/EN#1/people A person] with [/EN#3/animals dogs] in [/EN#4/scene a park] .",
    "[/EN#1/people An old man] wears [/EN#2/clothing a hat] in [/EN#0/notvisual the background] .",
)


def released(name: str) -> ReleasedImage:
    """An image with four chains: one thing, one on another, two things, a scene."""
    return ReleasedImage(
        image=name,
        filename=f"{name}.jpg",
        width=400,
        height=300,
        depth=3,
        sentences=tuple(parse_sentence(line) for line in SENTENCES),
        boxes=(
            ReleasedBox(chains=(1,), rect=Rect(100, 50, 180, 280)),
            ReleasedBox(chains=(2,), rect=Rect(120, 50, 160, 80)),
            ReleasedBox(chains=(3,), rect=Rect(200, 200, 260, 280)),
            ReleasedBox(chains=(3,), rect=Rect(300, 210, 380, 290)),
        ),
        unboxed=(UnboxedChain(chain=4, scene=True, nobndbox=False),),
    )


def corpus_image(name: str) -> CorpusImage:
    image = released(name)
    return CorpusImage(
        name=name,
        filename=image.filename,
        captions=captions_of(image.sentences),
        mentions=mentions_of_sentences(image.sentences),
        annotation=annotation_of(image),
        split="train",
        width=image.width,
        height=image.height,
    )


def campaign_with_images(
    count: int, *, name: str = "test", take: Take = Take.GOLD, batch: int = 500
) -> Campaign:
    """Make a campaign of that many images named image-0, image-1, …"""
    campaign = campaign_create(name=name)
    finder = MentionFinder.load()
    for start in range(0, count, batch):
        numbers = range(start, min(start + batch, count))
        images_import(
            campaign=campaign,
            batch=[ImageToImport(image=corpus_image(f"image-{n}")) for n in numbers],
            take=take,
            finder=finder,
        )
    tables_analyse()
    return campaign


def image_of(campaign: Campaign, number: int = 0) -> Image:
    return Image.objects.select_related("stored_state").get(
        campaign=campaign, name=f"image-{number}"
    )
