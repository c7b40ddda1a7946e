"""Gold questions: storing them, making them from sure chains, retiring them."""

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import TypeVar

import msgspec
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from annotation import models
from annotation.actions.gold.maker import Counts, Making, gold_of_images
from annotation.pipeline.gold.gold_question import (
    Gold,
    GoldSource,
    encode_gold,
    gold_problem,
)
from annotation.pipeline.gold.known_images import (
    KnownImage,
    imported_chains,
    known_annotation,
    known_image,
    reviewed_chains,
    unanimous_chains,
)
from annotation.pipeline.gold.maker import PER_ANSWER
from annotation.pipeline.protocol.facts import AcceptedImport, FactRefusedError, decode_body
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES
from annotation.pipeline.protocol.state import SETTLED
from common.clock import database_now

log = logging.getLogger(__name__)

T = TypeVar("T")

STORED_AT_ONCE = 500
IMAGES_AT_ONCE = 100


class Refused(msgspec.Struct, frozen=True):
    """An invalid gold question, and the reason."""

    gold: Gold
    why: str


class Stored(msgspec.Struct, frozen=True):
    """How many were added and how many already existed, retired ones included."""

    added: int = 0
    known: int = 0
    refused: tuple[Refused, ...] = ()

    def __add__(self, other: "Stored") -> "Stored":
        return Stored(
            added=self.added + other.added,
            known=self.known + other.known,
            refused=self.refused + other.refused,
        )


def gold_store(*, campaign: models.Campaign, golds: Iterable[Gold]) -> Stored:
    """Store gold questions; those that make no sense for their image are refused.

    Each question is stored once. A retired one stays retired.
    """
    stored = Stored()
    for batch in batches(golds, STORED_AT_ONCE):
        images = models.Image.objects.filter(
            campaign=campaign, name__in={gold.image for gold in batch}
        ).select_related("stored_state")
        stored += store_batch(campaign, batch, {image.name: image for image in images})
    return stored


@transaction.atomic
def store_batch(
    campaign: models.Campaign,
    golds: Sequence[Gold],
    images: Mapping[str, models.Image],
    now: datetime | None = None,
) -> Stored:
    """Store gold questions about these images, which come with their states."""
    now = now or database_now()
    answers = dict(
        models.GoldQuestion.objects.filter(
            campaign=campaign, key__in=[gold.key for gold in golds]
        ).values_list("key", "answer")
    )
    rows: list[models.GoldQuestion] = []
    refused = []
    for gold in golds:
        key, image = gold.key, images.get(gold.image)
        why = _problem(gold, image, answers.get(key))
        if why or image is None:
            refused.append(Refused(gold=gold, why=why or ""))
        elif key not in answers:
            answers[key] = gold.answer
            rows.append(_row(campaign, image, gold, now))
    models.GoldQuestion.objects.bulk_create(rows, ignore_conflicts=True)
    return Stored(
        added=len(rows),
        known=len(golds) - len(rows) - len(refused),
        refused=tuple(refused),
    )


def _problem(gold: Gold, image: models.Image | None, answer: str | None) -> str | None:
    if image is None:
        return f"the campaign has no image {gold.image!r}"
    if image.withdrawn_at is not None:
        return f"image {gold.image!r} was withdrawn"
    if answer not in (None, gold.answer):
        return f"the same question already exists, with the answer {answer!r}"
    return gold_problem(gold, image.stored_state.state)


def _row(
    campaign: models.Campaign, image: models.Image, gold: Gold, now: datetime
) -> models.GoldQuestion:
    return models.GoldQuestion(
        campaign=campaign,
        stage=gold.stage.value,
        image=image,
        key=gold.key,
        answer=gold.answer,
        body=encode_gold(gold),
        source=gold.source.value,
        created_at=now,
    )


def gold_retire(*, gold: models.GoldQuestion, reason: str) -> None:
    """Stop asking this gold question; answers that are under way still count."""
    models.GoldQuestion.objects.filter(pk=gold.pk, retired_at=None).update(
        retired_at=Now(), retired_reason=reason[:200]
    )


# Making


def gold_make(
    *,
    campaign: models.Campaign,
    stages: Iterable[Stage] = GOLD_STAGES,
    most_per_answer: int | None = None,
    per_image: int = PER_ANSWER,
    most_images: int | None = None,
    from_answer_key: bool = False,
    lot: str = "",
    done: Callable[[], None] = lambda: None,
) -> Counts:
    """Make gold questions from sure chains; return how many of each stage and answer.

    Sure chains came with an accepted import, were settled by a reviewer, or are unanimous; or the
    answer key is used. Images are drawn at random, the same ones for the same `lot`, until each
    answer has `most_per_answer` in use, or `most_images` were looked at. Each image has at most
    `per_image` in use for each answer; others replace retired ones. Repeating it adds nothing.
    `done` is called after each image.
    """
    making = Making(campaign, tuple(stages), most_per_answer, per_image, lot)
    order = list(_sure_images(campaign, from_answer_key).values_list("pk", flat=True))
    making.random.shuffle(order)
    for pks in batches(order[:most_images], IMAGES_AT_ONCE):
        if making.is_done:
            break
        # Doubts raised after this time may be missing here.
        now = database_now()
        rows = models.Image.objects.filter(pk__in=pks, withdrawn_at=None)
        images = sorted(
            rows.select_related("stored_state", "answer_key"), key=lambda image: pks.index(image.pk)
        )
        there = gold_of_images(pks)
        golds: list[Gold] = []
        for image in images:
            known = list(_known(image, from_answer_key))
            golds += making.of_image(known, there[image.pk])
            done()
        # The least used are asked first: shuffled, these are not all of one image.
        making.random.shuffle(golds)
        store_batch(campaign, golds, {image.name: image for image in images}, now)
    return making.added


def _sure_images(campaign: models.Campaign, from_answer_key: bool) -> QuerySet[models.Image]:
    images = models.Image.objects.filter(campaign=campaign, withdrawn_at=None)
    if from_answer_key:
        return images.exclude(answer_key=None).order_by("pk")
    settled = models.Chain.objects.filter(
        image=OuterRef("pk"), phase__in=[phase.value for phase in SETTLED]
    )
    return images.filter(Exists(settled)).order_by("pk")


def _known(image: models.Image, from_answer_key: bool) -> Iterator[KnownImage]:
    state = image.stored_state.state
    if not from_answer_key:
        for source, chains in (
            (GoldSource.REVIEWED, reviewed_chains(state)),
            (GoldSource.IMPORTED, imported_chains(state)),
            (GoldSource.UNANIMOUS, unanimous_chains(state)),
        ):
            if chains:
                yield known_image(image.name, state, chains, source)
        return
    annotation = decode_body(image.answer_key.body)
    assert isinstance(annotation, AcceptedImport)  # the only kind that an import stores
    try:
        yield known_annotation(image.name, state, annotation)
    except FactRefusedError as error:
        # A reviewer has changed the phrases since.
        log.warning("no gold question of %s: %s", image.name, error)


def batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    items = iter(items)
    while batch := list(islice(items, size)):
        yield batch
