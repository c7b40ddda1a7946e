"""Answers become judgments when the platform has confirmed the assignment."""

import logging
from collections import defaultdict
from collections.abc import Sequence

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.facts import AlreadyJudgedError, Recorded, judgments_record
from annotation.actions.leases import leases_release
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.answers import decode_answer, judgment_of
from annotation.pipeline.facts import FactRefusedError, Judgment
from annotation.pipeline.questions import question_from_key
from annotation.selectors.clock import database_now

log = logging.getLogger(__name__)


class NotFinishedError(ValueError):
    """The sitting has no answers that could become judgments."""


class Confirmed(msgspec.Struct, frozen=True):
    """How many answers were recorded, how many counted, and which were refused, in words."""

    recorded: int
    counted: int
    refused: tuple[str, ...]


def sitting_confirm(*, sitting: models.Sitting) -> Confirmed:
    """Record a finished sitting's answers as judgments and give its questions back.

    Called when the platform says that this worker has submitted this assignment. Again, or after
    a crash in the middle, it finds what is recorded already. An answer that cannot be recorded,
    such as one on an image that was withdrawn, does not keep the others from it.
    """
    if sitting.kind != SittingKind.WORK or sitting.status != SittingStatus.FINISHED:
        raise NotFinishedError(f"sitting {sitting.pk} is no finished work")
    recorded: list[Recorded] = []
    refused: list[str] = []
    for image_id, judgments in _judgments(sitting).items():
        done, problems = _image_record(image_id, judgments)
        recorded += done
        refused += problems
    with transaction.atomic():
        # The sitting before its questions, in the order that all lock in.
        models.Sitting.objects.select_for_update().get(pk=sitting.pk)
        now = database_now()
        models.Sitting.objects.filter(pk=sitting.pk, confirmed_at=None).update(confirmed_at=now)
        leases_release(sitting=sitting, now=now)
    for problem in refused:
        log.warning("sitting %s: an answer was not recorded: %s", sitting.pk, problem)
    return Confirmed(
        recorded=len(recorded),
        counted=sum(one.counted is True for one in recorded),
        refused=tuple(refused),
    )


def _judgments(sitting: models.Sitting) -> dict[int, list[Judgment]]:
    """Return the sitting's answers as judgments, by image."""
    by_image: dict[int, list[Judgment]] = defaultdict(list)
    for row in sitting.questions.exclude(answer="").order_by("image_id", "number"):
        by_image[row.image_id].append(
            judgment_of(
                decode_answer(row.answer),
                worker=sitting.worker_id,
                question=question_from_key(row.key),
            )
        )
    return by_image


def _image_record(image_id: int, judgments: Sequence[Judgment]) -> tuple[list[Recorded], list[str]]:
    """Record what can be recorded: all at once, or one by one if one of them is refused."""
    try:
        return list(judgments_record(image_id=image_id, judgments=judgments).recorded), []
    except (FactRefusedError, AlreadyJudgedError) as error:
        if len(judgments) == 1:
            return [], [f"{judgments[0].question.key}: {error}"]
    recorded: list[Recorded] = []
    refused: list[str] = []
    for judgment in judgments:
        done, problems = _image_record(image_id, [judgment])
        recorded += done
        refused += problems
    return recorded, refused
