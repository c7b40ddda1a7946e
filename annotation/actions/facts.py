"""The one write path for facts: lock one image, fold, save the difference, in one transaction."""

from collections.abc import Sequence

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.state import state_save
from annotation.models import ImageStatus
from annotation.pipeline.engine import apply, counts
from annotation.pipeline.facts import (
    Body,
    Decision,
    Doubt,
    Fact,
    FactRefusedError,
    Judgment,
    Undo,
    body_kind,
    decode_body,
    encode_body,
)
from annotation.pipeline.settings import Settings
from annotation.pipeline.state import ImageState


class AlreadyJudgedError(ValueError):
    """The worker has answered this question before, and otherwise."""


class Recorded(msgspec.Struct, frozen=True):
    """The number a fact got, and whether it counted (None: it is no judgment)."""

    number: int
    counted: bool | None = None


class Outcome(msgspec.Struct, frozen=True):
    """What became of the bodies, in their order, and the image's state after them."""

    recorded: tuple[Recorded, ...]
    state: ImageState


def judgments_record(*, image_id: int, judgments: Sequence[Judgment]) -> Outcome:
    """Record judgments on one image, all or none.

    The same judgment again is found, not doubled. A late one is stored and does not count.
    FactRefusedError: an answer makes no sense. AlreadyJudgedError: it contradicts the worker's own.
    """
    return _facts_record(image_id, judgments)


def doubt_record(*, image_id: int, doubt: Doubt) -> Outcome:
    """Doubt a judgment of the image."""
    known = models.Fact.objects.filter(
        image_id=image_id, number=doubt.judgment, kind="judgment"
    ).exists()
    if not known:
        raise FactRefusedError(f"fact {doubt.judgment} of this image is no judgment")
    return _facts_record(image_id, [doubt])


def decision_record(*, image_id: int, decision: Decision | Undo) -> Outcome:
    """Carry out a review decision, or take one back."""
    return _facts_record(image_id, [decision])


@transaction.atomic
def _facts_record(image_id: int, bodies: Sequence[Body]) -> Outcome:
    stored = state_lock(image_id)
    image = stored.image
    version = image.campaign.current_settings
    assert version is not None  # every campaign is made with settings
    settings = version.settings
    before = after = stored.state
    known = _known_judgments(image_id, bodies)
    recorded: list[Recorded] = []
    rows: list[models.Fact] = []
    for body in bodies:
        counted = None
        if isinstance(body, Judgment):
            earlier = known.get((body.question.key, body.worker))
            if earlier is not None:
                recorded.append(_same_or_refuse(body, earlier))
                continue
            counted = counts(after, body)
        after = _apply(after, body, settings)
        row = fact_row(image_id, after.facts, version, body, counted)
        known[row.question, row.worker_id] = row
        rows.append(row)
        recorded.append(Recorded(number=after.facts, counted=counted))
    if rows:
        models.Fact.objects.bulk_create(rows)
        state_save(image=image, before=before, after=after)
    return Outcome(recorded=tuple(recorded), state=after)


def state_lock(image_id: int) -> models.StoredState:
    """Lock an image until the transaction ends and return its state."""
    stored = (
        models.StoredState.objects.select_for_update(of=("self",))
        .select_related("image__campaign__current_settings")
        .get(pk=image_id)
    )
    if stored.status == ImageStatus.WITHDRAWN:
        raise FactRefusedError(f"image {stored.image.name} was withdrawn")
    return stored


def _apply(state: ImageState, body: Body, settings: Settings) -> ImageState:
    return apply(state, Fact(number=state.facts + 1, settings=settings, body=body))


def fact_row(
    image_id: int,
    number: int,
    version: models.CampaignSettings,
    body: Body,
    counted: bool | None,
) -> models.Fact:
    judgment = body if isinstance(body, Judgment) else None
    return models.Fact(
        image_id=image_id,
        number=number,
        settings=version,
        kind=body_kind(body),
        body=encode_body(body),
        worker_id=judgment.worker if judgment else None,
        question=judgment.question.key if judgment else None,
        counted=counted,
    )


def _known_judgments(
    image_id: int, bodies: Sequence[Body]
) -> dict[tuple[str | None, int | None], models.Fact]:
    judgments = [body for body in bodies if isinstance(body, Judgment)]
    if not judgments:
        return {}
    facts = models.Fact.objects.filter(
        image_id=image_id,
        question__in={j.question.key for j in judgments},
        worker_id__in={j.worker for j in judgments},
    )
    return {(fact.question, fact.worker_id): fact for fact in facts}


def _same_or_refuse(judgment: Judgment, fact: models.Fact) -> Recorded:
    if decode_body(fact.body) != judgment:
        raise AlreadyJudgedError(
            f"worker {judgment.worker} has answered {judgment.question.key} before, and otherwise"
        )
    return Recorded(number=fact.number, counted=fact.counted)
