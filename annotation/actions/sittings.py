"""Opening a sitting, and a worker's consent; `answering` takes it from there."""

import logging
import random
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Literal

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.guides import guide_ensure
from annotation.actions.leases import leases_expire, leases_release, leases_take
from annotation.actions.people import worker_ensure
from annotation.models import CONSENT, SittingKind, SittingStatus
from annotation.pipeline.guides import GuideError, lesson_shown
from annotation.pipeline.questions import Stage
from annotation.pipeline.settings import DrawingWay, Settings
from annotation.pipeline.showing import encode_shown
from annotation.selectors.clock import database_now
from annotation.selectors.guides import lesson_images, stage_guide
from annotation.selectors.sittings import (
    Claim,
    Empty,
    campaign_find,
    has_consented,
    is_over,
    settings_of,
    sitting_lessons,
    sittings_of,
    why_empty,
)

log = logging.getLogger(__name__)


class Trouble(StrEnum):
    """Why something about a sitting is refused."""

    BAD_REQUEST = "bad_request"
    EXPIRED = "expired"
    CONSENT = "consent"
    NOT_FOUND = "not_found"
    FINISHED = "finished"
    ANSWERED = "answered"
    INCOMPLETE = "incomplete"


class SittingRefusedError(ValueError):
    """It cannot be; the message says why in words for the worker."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


class Opened(msgspec.Struct, frozen=True):
    """A worker's sitting, or why there is none."""

    sitting: models.Sitting | None
    empty: Empty | Literal[""] = ""


def sitting_open(*, claim: Claim) -> Opened:
    """Return the sitting of this worker at this assignment; a new one if there is none.

    The same call again returns the same sitting. One whose time is up is given back first, so the
    new one has other questions, or the same if nobody has taken them.
    """
    campaign = _campaign(claim)
    if not has_consented(campaign, claim.worker):
        raise SittingRefusedError(
            Trouble.CONSENT, "Please read what the study is about and agree to it first."
        )
    worker = worker_ensure(name=claim.worker)
    leases_expire()
    with transaction.atomic():
        now = database_now()
        sitting = _resume(claim, now)
        if sitting is None:
            sitting = _new(claim, campaign, worker, now)
        if sitting is not None:
            return Opened(sitting=sitting)
        if claim.kind == SittingKind.TEST:
            return Opened(sitting=None, empty="nothing_left")
        return Opened(sitting=None, empty=why_empty(campaign, claim.stage, worker))


def _resume(claim: Claim, now: datetime) -> models.Sitting | None:
    """Lock and return the sitting that is there, without what cannot be answered any more."""
    sitting = sitting_live(claim)
    if sitting is None or sitting.status == SittingStatus.FINISHED:
        return sitting
    sitting.questions.filter(released_at=None, image__withdrawn_at__isnull=False).update(
        released_at=now
    )
    if is_over(sitting, now) or not sitting.questions.filter(released_at=None).exists():
        leases_release(sitting=sitting, now=now)
        sitting.status = SittingStatus.LAPSED
        sitting.save(update_fields=["status"])
        return None
    if sitting.kind == SittingKind.TEST:
        sitting.until = sitting_until(sitting.campaign, now)
        sitting.save(update_fields=["until"])
    return sitting


def sitting_live(claim: Claim) -> models.Sitting | None:
    """Lock and return the sitting of a claim that has not lapsed, open or finished."""
    sitting = (
        sittings_of(claim)
        .exclude(status=SittingStatus.LAPSED)
        .select_related("campaign__current_settings", "worker", "guide")
        .select_for_update(of=("self",))
        .first()
    )
    if sitting is not None:
        _same_task(sitting, claim)
    return sitting


def _same_task(sitting: models.Sitting, claim: Claim) -> None:
    task = (sitting.campaign_id, sitting.stage, sitting.kind)
    if task != (claim.campaign, claim.stage.value, claim.kind):
        raise SittingRefusedError(
            Trouble.BAD_REQUEST, "This assignment was begun as another task. Return it, please."
        )


def _new(
    claim: Claim, campaign: models.Campaign, worker: models.Worker, now: datetime
) -> models.Sitting | None:
    """Make a sitting, or find the one that a second request is making; None: it would be empty."""
    settings = settings_of(campaign)
    is_test = claim.kind == SittingKind.TEST
    guide = stage_guide(campaign, claim.stage).row if is_test else None
    models.Sitting.objects.bulk_create(
        [
            models.Sitting(
                campaign=campaign,
                stage=claim.stage.value,
                kind=claim.kind,
                worker=worker,
                assignment_id=claim.assignment_id,
                hit_id=claim.hit_id,
                guide=guide,
                ways=_ways(claim.stage, settings),
                until=sitting_until(campaign, now),
            )
        ],
        ignore_conflicts=True,
    )
    sitting = sitting_live(claim)
    assert sitting is not None  # made here, or by the request that was quicker
    if sitting.questions.exists():
        return sitting
    filled = _test_fill(sitting) if is_test else leases_take(sitting=sitting)
    if filled:
        return sitting
    sitting.delete()
    return None


def _test_fill(sitting: models.Sitting) -> int:
    """Give a test its questions; those whose photo is gone are left out."""
    lessons = sitting_lessons(sitting)
    stage = Stage(sitting.stage)
    images = lesson_images(sitting.campaign, {lesson.image for lesson in lessons})
    rows = []
    for number, lesson in enumerate(lessons, start=1):
        image = images.get(lesson.image)
        if image is None:
            continue
        row = image.row
        try:
            what = lesson_shown(lesson, stage, image.captions, row.width, row.height)
        except GuideError as error:
            log.warning("test question %s of %s is left out: %s", number, sitting.guide, error)
            continue
        rows.append(
            models.SittingQuestion(
                sitting=sitting, number=number, image=row, shown=encode_shown(what)
            )
        )
    models.SittingQuestion.objects.bulk_create(rows)
    return len(rows)


def _ways(stage: Stage, settings: Settings) -> str:
    if stage is not Stage.DRAWING:
        return ""
    match settings.drawing_way:
        case DrawingWay.CHOICE:
            return f"{DrawingWay.EXTREME}/{DrawingWay.DRAG}"
        case DrawingWay.RANDOM:
            return random.choice([DrawingWay.EXTREME, DrawingWay.DRAG]).value
        case way:
            return way.value


def sitting_until(campaign: models.Campaign, now: datetime) -> datetime:
    """Return until when questions are kept that are given out, or handed in, now."""
    return now + timedelta(seconds=settings_of(campaign).sitting_seconds)


def consent_give(*, claim: Claim, version: int) -> None:
    """Note that the worker has read this version of the campaign's consent text and agrees."""
    guide = guide_ensure(campaign=_campaign(claim), topic=CONSENT)
    if guide.version != version:
        raise SittingRefusedError(
            Trouble.CONSENT, "The text has changed since. Load the page again and read it, please."
        )
    worker = worker_ensure(name=claim.worker)
    models.Consent.objects.bulk_create(
        [models.Consent(worker=worker, guide=guide)], ignore_conflicts=True
    )


def _campaign(claim: Claim) -> models.Campaign:
    campaign = campaign_find(claim.campaign)
    if campaign is None:
        raise SittingRefusedError(Trouble.NOT_FOUND, "There is no such campaign any more.")
    return campaign
