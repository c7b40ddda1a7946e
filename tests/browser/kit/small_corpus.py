"""A campaign of a few pictures with one caption and one phrase each: Box Requirement is open."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from PIL import Image as Picture
from PIL import ImageDraw

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create, campaign_settings_change
from annotation.actions.corpus.imports import ImageToImport, Take, images_import
from annotation.pipeline.captions import Caption
from annotation.pipeline.corpus.corpus_image import CorpusImage
from annotation.pipeline.corpus.pictures import read_picture
from annotation.pipeline.mentions.mention import OTHER, Mention, MentionFinder
from annotation.pipeline.protocol.questions import Stage


class Pictured(NamedTuple):
    """A picture, the words of its caption, and which of them are the phrase."""

    name: str
    tokens: tuple[str, ...] = ("A", "thing", "lies", "there", ".")
    start: int = 0
    end: int = 2
    size: tuple[int, int] = (320, 240)

    @property
    def phrase(self) -> str:
        return " ".join(self.tokens[self.start : self.end])


def small_campaign(
    folder: Path, pictures: Sequence[Pictured], name: str = "small"
) -> models.Campaign:
    """Import the pictures; a HIT holds as many questions as there are."""
    campaign = campaign_create(name=name)
    images_import(
        campaign=campaign,
        batch=[_item(folder, number, one) for number, one in enumerate(pictures)],
        take=Take.NOTHING,
        finder=MentionFinder.load(),
    )
    campaign_settings_change(
        campaign=campaign, questions_per_hit={stage.value: len(pictures) for stage in Stage}
    )
    campaign.refresh_from_db()
    return campaign


def _item(folder: Path, number: int, one: Pictured) -> ImageToImport:
    return ImageToImport(
        image=CorpusImage(
            name=one.name,
            filename=f"{number}.jpg",
            captions=(Caption(number=1, tokens=one.tokens),),
            mentions=(Mention(number=1, caption=1, start=one.start, end=one.end, types=(OTHER,)),),
            width=one.size[0],
            height=one.size[1],
        ),
        picture=read_picture(paint(folder / f"{number}.jpg", one.size, number)),
    )


def paint(path: Path, size: tuple[int, int], number: int = 0) -> Path:
    """Write a picture with an ellipse in its middle, a different one for each number."""
    width, height = size
    picture = Picture.new("RGB", size, (200, 220, 90 + number))
    ImageDraw.Draw(picture).ellipse(
        (width // 4, height // 4, width * 3 // 4, height * 3 // 4), fill=(120, 40, 60)
    )
    picture.save(path, quality=80)
    return path
