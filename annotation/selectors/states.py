"""Rebuilding an image's state from its source rows and facts."""

from collections.abc import Sequence

from annotation import models
from annotation.pipeline.captions import Caption
from annotation.pipeline.engine import begin, fold
from annotation.pipeline.facts import Fact, decode_body
from annotation.pipeline.mentions import Mention
from annotation.pipeline.state import ImageState


def image_begin(
    image: models.Image,
    captions: Sequence[models.Caption],
    mentions: Sequence[models.Mention],
) -> ImageState:
    """Return the state of an image before its first fact."""
    return begin(
        [Caption(number=c.number, tokens=tuple(c.text.split(" "))) for c in captions],
        [
            Mention(
                number=m.number,
                caption=m.caption,
                start=m.start,
                end=m.end,
                types=tuple(m.types.split("/")),
            )
            for m in mentions
        ],
        width=image.width,
        height=image.height,
        settings=image.begun_under.settings,
    )


def image_fold(image: models.Image) -> ImageState:
    """Fold an image's facts; `rebuild_prefetch` makes this a constant few statements a batch."""
    facts = [
        Fact(number=row.number, settings=row.settings.settings, body=decode_body(row.body))
        for row in sorted(image.facts.all(), key=lambda f: f.number)
    ]
    captions = sorted(image.captions.all(), key=lambda c: c.number)
    mentions = sorted(image.mentions.all(), key=lambda m: m.number)
    return fold(image_begin(image, captions, mentions), facts)
