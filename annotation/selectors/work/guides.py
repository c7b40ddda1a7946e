"""Guides as they are now, and the images that their lessons show."""

from collections.abc import Collection, Mapping

import msgspec
from django.db.models import Max, OuterRef, Prefetch, QuerySet, Subquery

from annotation import models
from annotation.pipeline.captions import Caption
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.guides import (
    ConsentGuide,
    StageGuide,
    campaign_guide,
    read_consent,
    shipped_consent,
    shipped_guide,
)

TOPICS: tuple[str, ...] = (*(stage.value for stage in Stage), models.CONSENT)


class CurrentGuide(msgspec.Struct, frozen=True):
    """A stage's guide; without a row it is the shipped one, which has no lessons."""

    row: models.Guide | None
    guide: StageGuide


class CurrentConsent(msgspec.Struct, frozen=True):
    """A consent text; without a row it is the shipped one."""

    row: models.Guide | None
    guide: ConsentGuide


class LessonImage(msgspec.Struct, frozen=True):
    """An image that lessons can show."""

    row: models.Image
    captions: Mapping[int, Caption]


def stage_guide(campaign: models.Campaign, stage: Stage) -> CurrentGuide:
    """Return the guide that workers get now."""
    row = guide_current(campaign, stage.value)
    return CurrentGuide(row=row, guide=shipped_guide(stage) if row is None else guide_read(row))


def guide_read(row: models.Guide) -> StageGuide:
    """Read one version of a stage's guide, as a test's sitting keeps it."""
    return campaign_guide(row.source, Stage(row.topic))


def consent_guide(campaign: models.Campaign) -> CurrentConsent:
    """Return the consent text that workers get now."""
    row = guide_current(campaign, models.CONSENT)
    return CurrentConsent(
        row=row, guide=shipped_consent() if row is None else read_consent(row.source)
    )


def guide_current(campaign: models.Campaign, topic: str) -> models.Guide | None:
    """Return a topic's highest version, or None while the shipped text applies."""
    return models.Guide.objects.filter(campaign=campaign, topic=topic).order_by("-version").first()


def guides_current(campaign: models.Campaign) -> dict[str, models.Guide]:
    """Return the highest version of every topic that has one, in one statement."""
    highest = (
        models.Guide.objects.filter(campaign=campaign, topic=OuterRef("topic"))
        .values("topic")
        .annotate(highest=Max("version"))
        .values("highest")
    )
    rows = models.Guide.objects.filter(campaign=campaign, version=Subquery(highest))
    return {row.topic: row for row in rows}


def lesson_images(campaign: models.Campaign, names: Collection[str]) -> dict[str, LessonImage]:
    """Return the images of these names that have a photo, with their captions: two statements.

    An image that was withdrawn since its lesson was written is not among them.
    """
    images: QuerySet[models.Image] = models.Image.objects.filter(
        campaign=campaign, name__in=[name for name in names if "\0" not in name], withdrawn_at=None
    ).exclude(file="")
    return {
        image.name: LessonImage(
            row=image,
            captions={
                caption.number: Caption(
                    number=caption.number, tokens=tuple(caption.text.split(" "))
                )
                for caption in image.captions.all()
            },
        )
        for image in images.prefetch_related(
            Prefetch("captions", models.Caption.objects.order_by("number"))
        )
    }
