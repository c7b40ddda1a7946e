"""Saving guides: checked against the campaign's images, every change a new version."""

from collections.abc import Mapping

import msgspec
from django.db import transaction

from annotation import models
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.guides import (
    GuideError,
    Lesson,
    StageGuide,
    campaign_guide,
    guide_file,
    lesson_shown,
    read_consent,
    shipped_source,
)
from annotation.selectors.work.guides import (
    TOPICS,
    LessonImage,
    guide_current,
    guides_current,
    lesson_images,
)


class GuideChangedError(ValueError):
    """Somebody else has saved a newer version in the meantime: `row`."""

    def __init__(self, row: models.Guide) -> None:
        super().__init__(f"version {row.version} was saved in the meantime")
        self.row = row


class SavedGuide(msgspec.Struct, frozen=True):
    """A guide as it is now, and whether saving changed it."""

    row: models.Guide
    is_new: bool


def guide_save(
    *, campaign: models.Campaign, topic: str, source: str, seen: int | None = None
) -> models.Guide:
    """Make this text the topic's current version; the same text again changes nothing.

    GuideError: the text cannot be used. `seen` is the version it was written from, 0 for the
    shipped text; GuideChangedError if that is no longer the current one.
    """
    (saved,) = guides_save_all(
        campaign=campaign, sources={topic: source}, seen=None if seen is None else {topic: seen}
    )
    return saved.row


def guides_save_all(
    *,
    campaign: models.Campaign,
    sources: Mapping[str, str],
    seen: Mapping[str, int] | None = None,
) -> list[SavedGuide]:
    """Save the texts of several topics, all or none.

    They are read and checked before the transaction: nobody should wait while a text is parsed.
    """
    guides_check(campaign=campaign, sources=sources)
    return _store(campaign, sources, seen or {})


@transaction.atomic
def _store(
    campaign: models.Campaign, sources: Mapping[str, str], seen: Mapping[str, int]
) -> list[SavedGuide]:
    current = _lock(campaign)
    for topic, version in seen.items():
        row = current.get(topic)
        if row is not None and row.version != version and row.source != sources[topic]:
            raise GuideChangedError(row)
    fresh = [
        models.Guide(
            campaign=campaign,
            topic=topic,
            version=current[topic].version + 1 if topic in current else 1,
            source=source,
        )
        for topic, source in sources.items()
        if topic not in current or current[topic].source != source
    ]
    made = {row.topic: row for row in models.Guide.objects.bulk_create(fresh)}
    return [
        SavedGuide(row=made.get(topic) or current[topic], is_new=topic in made) for topic in sources
    ]


def guide_ensure(*, campaign: models.Campaign, topic: str) -> models.Guide:
    """Return the topic's current version; the shipped text becomes version 1 if there is none.

    A consent points at the very words that the worker has read.
    """
    found = guide_current(campaign, topic)
    return found if found is not None else _store_shipped(campaign, topic)


def guides_check(*, campaign: models.Campaign, sources: Mapping[str, str]) -> None:
    """Check texts without saving them; GuideError names every problem of all of them."""
    problems: list[str] = []
    guides: dict[Stage, StageGuide] = {}
    for topic, source in sources.items():
        try:
            if topic == models.CONSENT:
                read_consent(source)
            elif topic in TOPICS:
                stage = Stage(topic)
                guides[stage] = campaign_guide(source, stage)
            else:
                known = ", ".join(TOPICS)
                problems.append(f"{guide_file(topic)}: there is no such topic; there are {known}")
        except GuideError as error:
            problems += error.problems
    names = {lesson.image for guide in guides.values() for _, lesson in guide.lessons()}
    images = lesson_images(campaign, names) if names else {}
    for stage, guide in guides.items():
        for place, lesson in guide.lessons():
            problems += (
                f"{guide_file(stage.value)}: {place}: {problem}"
                for problem in _lesson_problems(lesson, stage, images, campaign)
            )
    if problems:
        raise GuideError(*problems)


def _lesson_problems(
    lesson: Lesson, stage: Stage, images: Mapping[str, LessonImage], campaign: models.Campaign
) -> tuple[str, ...]:
    image = images.get(lesson.image)
    if image is None:
        return (f"campaign {campaign.name!r} has no image {lesson.image!r} with a photo",)
    try:
        lesson_shown(lesson, stage, image.captions, image.row.width, image.row.height)
    except GuideError as error:
        return error.problems
    return ()


@transaction.atomic
def _store_shipped(campaign: models.Campaign, topic: str) -> models.Guide:
    current = _lock(campaign)
    if topic in current:
        return current[topic]
    return models.Guide.objects.create(
        campaign=campaign, topic=topic, version=1, source=shipped_source(topic)
    )


def _lock(campaign: models.Campaign) -> dict[str, models.Guide]:
    """Let nobody else save a guide of this campaign until the transaction ends."""
    models.Campaign.objects.select_for_update().get(pk=campaign.pk)
    return guides_current(campaign)
