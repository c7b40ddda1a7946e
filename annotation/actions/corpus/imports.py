"""Importing a corpus: batches of images with captions, mentions and any annotation."""

from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec
from django.db import connection, transaction

from annotation import models
from annotation.actions.corpus.photos import picture_store
from annotation.actions.protocol.facts import fact_row
from annotation.actions.protocol.state import rows_create
from annotation.pipeline.corpus.corpus_image import CorpusImage
from annotation.pipeline.corpus.pictures import Picture
from annotation.pipeline.engine import apply, begin
from annotation.pipeline.mentions.mention import Mention, MentionFinder, find_mentions
from annotation.pipeline.protocol.facts import Fact, FactRefusedError, encode_body
from annotation.pipeline.protocol.state import ImageState, encode_state
from annotation.selectors.corpus.photo_files import photo_problem


class Take(StrEnum):
    """What to do with the chains and boxes in a corpus."""

    NOTHING = "nothing"
    GOLD = "gold"
    ACCEPT = "accept"


class ImageToImport(msgspec.Struct, frozen=True):
    image: CorpusImage
    picture: Picture | None = None


class Imported(msgspec.Struct, frozen=True):
    """How many images a batch added, gave a photo, or found unchanged.

    `healed` are those whose photo was missing from the file storage or damaged, and was restored.
    """

    added: int = 0
    pictured: int = 0
    healed: int = 0
    unchanged: int = 0

    def __add__(self, other: "Imported") -> "Imported":
        return Imported(
            added=self.added + other.added,
            pictured=self.pictured + other.pictured,
            healed=self.healed + other.healed,
            unchanged=self.unchanged + other.unchanged,
        )


class CorpusConflictError(ValueError):
    """An image of that name already exists, and is different."""


def conflicts(
    *, campaign: models.Campaign, batch: Sequence[CorpusImage], take: Take
) -> list[tuple[CorpusImage, str]]:
    """Return the images that already exist and differ, with the difference in words."""
    existing = _existing(campaign, [image.name for image in batch])
    found = []
    for image in batch:
        if image.name in existing:
            why = _difference(existing[image.name], image, take)
            if why:
                found.append((image, why))
    return found


def images_import(
    *,
    campaign: models.Campaign,
    batch: Sequence[ImageToImport],
    take: Take,
    finder: MentionFinder,
) -> Imported:
    """Import a batch, all or nothing. An existing image is left as it is.

    But if its photo is damaged and the batch has the same photo, the photo is restored.
    CorpusConflictError: an image exists and differs. FactRefusedError: annotation to be accepted
    contradicts itself. PhotoChangedError: a photo is not the one that was checked. All name the
    image or the photo.
    """
    # Before the transaction: nobody should wait while captions are parsed.
    mentions = _mentions_find(campaign, batch, finder)
    return _batch_import(campaign, batch, take, mentions)


def _mentions_find(
    campaign: models.Campaign, batch: Sequence[ImageToImport], finder: MentionFinder
) -> dict[str, tuple[Mention, ...]]:
    """Return the mentions of the new images, by name."""
    names = [item.image.name for item in batch]
    there = set(
        models.Image.objects.filter(campaign=campaign, name__in=names).values_list(
            "name", flat=True
        )
    )
    return {
        item.image.name: (
            find_mentions(item.image.captions, finder)
            if item.image.mentions is None
            else item.image.mentions
        )
        for item in batch
        if item.image.name not in there
    }


@transaction.atomic
def _batch_import(
    campaign: models.Campaign,
    batch: Sequence[ImageToImport],
    take: Take,
    mentions: Mapping[str, tuple[Mention, ...]],
) -> Imported:
    version = campaign.current_settings
    assert version is not None  # every campaign is made with settings
    existing = _existing(campaign, [item.image.name for item in batch])
    pictured = healed = 0
    for item in batch:
        image = existing.get(item.image.name)
        if image is None:
            continue
        why = _difference(image, item.image, take)
        if why:
            raise CorpusConflictError(f"{image.name}: {why}")
        if item.picture is None:
            continue
        if not image.file:
            _picture_attach(image, item.picture)
            pictured += 1
        elif _is_healed_by(item.picture, image):
            picture_store(item.picture)
            healed += 1
    fresh = [item for item in batch if item.image.name not in existing]
    _images_create(campaign, version, fresh, take, mentions)
    return Imported(
        added=len(fresh),
        pictured=pictured,
        healed=healed,
        unchanged=len(batch) - len(fresh) - pictured - healed,
    )


def tables_analyse() -> None:
    """Update the database's statistics of its tables after a large import.

    Until then, PostgreSQL may plan as if they were almost empty, and join them row by row.
    """
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")


def _images_create(
    campaign: models.Campaign,
    version: models.CampaignSettings,
    items: Sequence[ImageToImport],
    take: Take,
    found: Mapping[str, tuple[Mention, ...]],
) -> None:
    images = models.Image.objects.bulk_create(_image_row(campaign, version, i) for i in items)
    captions: list[models.Caption] = []
    mentions: list[models.Mention] = []
    keys: list[models.AnswerKey] = []
    facts: list[models.Fact] = []
    states: list[tuple[models.Image, ImageState]] = []
    settings = version.settings
    for row, item in zip(images, items, strict=True):
        image = item.image
        spans = found[image.name]
        captions += (
            models.Caption(image=row, number=c.number, text=c.text) for c in image.captions
        )
        mentions += (_mention_row(row, mention) for mention in spans)
        state = begin(image.captions, spans, width=row.width, height=row.height, settings=settings)
        if image.annotation is not None and take is Take.GOLD:
            keys.append(models.AnswerKey(image=row, body=encode_body(image.annotation)))
        if image.annotation is not None and take is Take.ACCEPT:
            fact = Fact(number=1, settings=settings, body=image.annotation)
            try:
                state = apply(state, fact)
            except FactRefusedError as error:
                raise FactRefusedError(f"{image.name}: {error}") from None
            facts.append(fact_row(row.pk, 1, version, image.annotation, None))
        states.append((row, state))
    models.Caption.objects.bulk_create(captions)
    models.Mention.objects.bulk_create(mentions)
    models.AnswerKey.objects.bulk_create(keys)
    models.Fact.objects.bulk_create(facts)
    rows_create(states)


def _image_row(
    campaign: models.Campaign, version: models.CampaignSettings, item: ImageToImport
) -> models.Image:
    image, picture = item.image, item.picture
    return models.Image(
        campaign=campaign,
        name=image.name,
        filename=image.filename,
        split=image.split,
        width=picture.width if picture else image.width,
        height=picture.height if picture else image.height,
        depth=picture.depth if picture and not image.width else image.depth,
        file=picture_store(picture) if picture else "",
        sha256=picture.sha256 if picture else "",
        begun_under=version,
    )


def _mention_row(image: models.Image, mention: Mention) -> models.Mention:
    return models.Mention(
        image=image,
        number=mention.number,
        caption=mention.caption,
        start=mention.start,
        end=mention.end,
        types="/".join(mention.types),
    )


def _picture_attach(image: models.Image, picture: Picture) -> None:
    """Add the photo, and so the size, of an image that was imported without it."""
    image.file, image.sha256 = picture_store(picture), picture.sha256
    image.width, image.height = picture.width, picture.height
    image.save(update_fields=["file", "sha256", "width", "height"])
    stored = models.StoredState.objects.select_for_update().get(pk=image.pk)
    state = msgspec.structs.replace(stored.state, width=picture.width, height=picture.height)
    stored.body = encode_state(state)
    stored.save(update_fields=["body"])


def _is_healed_by(picture: Picture, image: models.Image) -> bool:
    return picture.sha256 == image.sha256 and photo_problem(image.file, image.sha256) is not None


def _existing(campaign: models.Campaign, names: Sequence[str]) -> dict[str, models.Image]:
    images = (
        models.Image.objects.filter(campaign=campaign, name__in=names)
        .select_related("stored_state", "answer_key")
        .prefetch_related("captions")
    )
    return {image.name: image for image in images}


def _difference(image: models.Image, new: CorpusImage, take: Take) -> str | None:
    if image.withdrawn_at is not None:
        return "was withdrawn; it cannot be imported again"
    captions = {caption.number: caption.text for caption in image.captions.all()}
    for caption in new.captions:
        if captions.pop(caption.number, None) != caption.text:
            return f"already exists with a different caption {caption.number}"
    if captions:
        return f"already exists with {len(captions)} more captions"
    if new.width and image.width and (new.width, new.height) != (image.width, image.height):
        return f"already exists with a size of {image.width}×{image.height}"
    if (take is Take.GOLD) != hasattr(image, "answer_key"):
        return (
            "already exists, imported "
            + ("with" if take is not Take.GOLD else "without")
            + " --gold"
        )
    accepted = any(chain.imported for chain in image.stored_state.state.chains)
    if take is Take.ACCEPT and not accepted:
        return "already exists, imported without --accept"
    return None
