"""Opening a sitting, and a worker's consent; `answers` continues from there.

Where the marketplace does not prove that a worker has accepted an assignment, a sitting reserves
little, for a short time, and stores nothing personal until the marketplace confirms it.
"""

import logging
import random
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Literal

import msgspec
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from msgspec.structs import replace

from annotation import models
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.trust.standing import trust_note
from annotation.actions.work.guides import guide_ensure
from annotation.actions.work.leases import leases_release, leases_take
from annotation.models import CONSENT, HitStatus, SittingKind, SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import DrawingWay, Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.trust.standing import WORKING, BeganTest, Standing, Trust
from annotation.pipeline.work.display import encode_shown
from annotation.pipeline.work.guides import GuideError, lesson_shown
from annotation.selectors.work.arrivals import (
    Arrived,
    arrive,
    is_proof_required,
    is_publishing,
    room_lock,
)
from annotation.selectors.work.guides import lesson_images, stage_guide
from annotation.selectors.work.sittings import (
    Claim,
    Empty,
    claim_proof,
    is_over,
    sitting_lessons,
    sitting_questions,
    sittings_live,
    why_empty,
    worker_mark,
)
from common.rows import only_row

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
    NOT_QUALIFIED = "not_qualified"
    NOT_YET = "not_yet"


class SittingRefusedError(ValueError):
    """The sitting is refused; the message explains why to the worker."""

    def __init__(self, trouble: Trouble, message: str) -> None:
        super().__init__(message)
        self.trouble = trouble


class Opened(msgspec.Struct, frozen=True):
    """A worker's sitting with its questions, or why there is none."""

    sitting: models.Sitting | None
    questions: tuple[models.SittingQuestion, ...]
    standing: Standing
    settings: Settings
    now: datetime
    empty: Empty | Literal[""] = ""


def sitting_open(*, claim: Claim) -> Opened:
    """Return the sitting of this worker at this assignment; a new one if there is none.

    The same call again returns the same sitting. A sitting whose time is up is given back first, so
    the new one has other questions, or the same ones if nobody has taken them.
    """
    arrived = _arrive(claim)
    if not arrived.consented:
        raise SittingRefusedError(
            Trouble.CONSENT, "Please read what the study is about and agree to it first."
        )
    _test_begin(claim, arrived)
    # Two transactions: one that kept a finished sitting locked while it released the overdue
    # sittings of others could deadlock with another that does the same.
    sitting, questions = _again(claim, arrived.now)
    if sitting is None:
        _admit(claim, arrived)
        sitting, questions = _new(claim, arrived)
    return Opened(
        sitting=sitting,
        questions=tuple(questions),
        standing=arrived.standing,
        settings=arrived.settings,
        now=arrived.now,
        empty="" if sitting else _why_empty(claim, arrived),
    )


def _arrive(claim: Claim) -> Arrived:
    """Return what is known of a claim; refuse one that is not proven, or not on our HITs."""
    if claim.acceptance is None and is_proof_required():
        raise SittingRefusedError(
            Trouble.BAD_REQUEST,
            "This page does not show that you have accepted the HIT. Open the HIT again from your "
            "work on the marketplace.",
        )
    arrived = arrive(claim)
    if arrived is None:
        raise _unknown(claim)
    return arrived


def _test_begin(claim: Claim, arrived: Arrived) -> None:
    """Record that a worker tries the test, unless the worker may be made up."""
    if claim.kind != SittingKind.TEST or arrived.standing.trust is not Trust.NEW:
        return
    if arrived.worker is not None and arrived.is_proven:
        # Before the sitting is locked: losing trust locks in the opposite order.
        trust_note(
            campaign=arrived.campaign,
            worker=arrived.worker,
            stage=claim.stage,
            event=BeganTest(),
            key="began",
        )


def _why_empty(claim: Claim, arrived: Arrived) -> Empty:
    if claim.kind == SittingKind.TEST or arrived.worker is None:
        return "nothing_left"
    return why_empty(arrived.campaign, claim.stage, arrived.worker)


@transaction.atomic
def _again(
    claim: Claim, now: datetime
) -> tuple[models.Sitting | None, list[models.SittingQuestion]]:
    """Return the worker's existing sitting with its questions; an overdue one is given back."""
    sitting = sitting_live(claim)
    if sitting is None:
        return None, []
    accepted_at = _accepted_at(claim)
    if accepted_at and sitting.accepted_at and accepted_at > sitting.accepted_at:
        # Returned and accepted again: news of the return does not concern this sitting.
        sitting.accepted_at = accepted_at
        sitting.save(update_fields=["accepted_at"])
    return _resume(sitting, now)


def _accepted_at(claim: Claim) -> datetime | None:
    """Return when the assignment was accepted, by the marketplace's clock, if it has told us."""
    if claim.acceptance is None:
        return None
    return datetime.fromtimestamp(claim.acceptance.accepted / 1000, UTC)


def _unknown(claim: Claim) -> SittingRefusedError:
    """Return the refusal of a HIT that we do not know, or do not know yet.

    A worker can be quicker than the marketplace's reply to us that the HIT is there.
    """
    if is_publishing(claim):
        return SittingRefusedError(Trouble.NOT_YET, "This HIT is being prepared. One moment.")
    return SittingRefusedError(Trouble.NOT_FOUND, "We no longer offer this HIT. Please return it.")


def _admit(claim: Claim, arrived: Arrived) -> None:
    """Refuse a new sitting to workers whom the stage does not trust, in words for them."""
    if arrived.hit.status == HitStatus.CLOSED:
        raise SittingRefusedError(
            Trouble.NOT_FOUND, "This HIT is over. Please return it and take another."
        )
    now = int(arrived.now.timestamp() * 1000)
    if claim.acceptance is not None and claim.acceptance.is_over(now):
        raise SittingRefusedError(
            Trouble.EXPIRED, "Your time for this HIT has run out. Please accept another one."
        )
    if arrived.is_given_back:
        raise SittingRefusedError(
            Trouble.NOT_FOUND,
            "This HIT was returned. If you have accepted it again, open it from your work on "
            "the marketplace in a minute.",
        )
    _admit_trust(arrived)
    _admit_room(arrived.settings, arrived.hit, arrived.is_crowded, arrived.tests)


def _admit_trust(arrived: Arrived) -> None:
    trust = arrived.standing.trust
    if arrived.hit.kind == SittingKind.TEST:
        if trust not in (Trust.NEW, Trust.TESTING):
            raise _not_qualified("You have already passed this test.")
        return
    if trust is Trust.REVOKED:
        raise _not_qualified(f"You can no longer work on this task: {arrived.standing.reason}.")
    if trust not in WORKING:
        raise _not_qualified("Please pass the test for this task first.")


def _admit_room(settings: Settings, hit: models.Hit, is_crowded: bool, tests: int) -> None:
    if hit.kind == SittingKind.TEST and tests >= settings.crowd.test_tries:
        raise _not_qualified("You have already opened this test as often as is allowed.")
    if is_crowded:
        raise SittingRefusedError(
            Trouble.NOT_FOUND,
            "Somebody else is working on this HIT. Please return it and take another.",
        )


def _not_qualified(message: str) -> SittingRefusedError:
    return SittingRefusedError(
        Trouble.NOT_QUALIFIED, f"{message} Returning the HIT does not count against you."
    )


def _resume(
    sitting: models.Sitting, now: datetime
) -> tuple[models.Sitting | None, list[models.SittingQuestion]]:
    """Return the locked sitting without questions on withdrawn images; None if it is over."""
    questions = sitting_questions(sitting, withdrawn=True)
    if sitting.status == SittingStatus.FINISHED:
        return sitting, [q for q in questions if q.image.withdrawn_at is None]
    gone = [question.pk for question in questions if question.image.withdrawn_at is not None]
    if gone:
        sitting.questions.filter(pk__in=gone).update(released_at=now)
        questions = [question for question in questions if question.pk not in gone]
    if is_over(sitting, now) or not questions:
        leases_release(sitting=sitting, now=now)
        sitting.status = SittingStatus.LAPSED
        sitting.save(update_fields=["status"])
        return None, []
    if sitting.kind == SittingKind.TEST:
        sitting.until = sitting_until(sitting, now)
        sitting.save(update_fields=["until"])
    return sitting, questions


def sitting_live(claim: Claim, *, alone: bool = False) -> models.Sitting | None:
    """Lock and return the sitting of a claim that has not lapsed, open or finished.

    `alone`: without its campaign, worker and guide, for the answers that come one by one.
    """
    sitting = only_row(_locked(claim) if alone else _live(claim))
    if sitting is not None:
        _same_task(sitting, claim)
    return sitting


def _live(claim: Claim) -> QuerySet[models.Sitting]:
    return _locked(claim).select_related("campaign__current_settings", "worker", "guide")


def _locked(claim: Claim) -> QuerySet[models.Sitting]:
    return sittings_live(claim).select_for_update(of=("self",))


def _same_task(sitting: models.Sitting, claim: Claim) -> None:
    task = (sitting.campaign_id, sitting.stage, sitting.kind)
    if task != (claim.campaign, claim.stage.value, claim.kind):
        raise SittingRefusedError(
            Trouble.BAD_REQUEST, "This assignment was started as another task. Please return it."
        )


_QUESTIONS = models.SittingQuestion.objects.filter(sitting=OuterRef("pk"))


@transaction.atomic
def _new(
    claim: Claim, arrived: Arrived
) -> tuple[models.Sitting | None, list[models.SittingQuestion]]:
    """Make a sitting, or find the one that a second request is making; None: it would be empty."""
    is_test = claim.kind == SittingKind.TEST
    if is_test or not arrived.is_proven:
        # Of many simultaneous requests, each has to see the sittings that earlier ones opened.
        room = room_lock(claim)
        _admit_room(arrived.settings, arrived.hit, room.is_crowded, room.tests)
    models.Sitting.objects.bulk_create([_row(claim, arrived)], ignore_conflicts=True)
    # Made here, or by the request that was quicker: then it has its questions too.
    sitting = only_row(_live(claim).annotate(is_filled=Exists(_QUESTIONS)))
    if sitting is None:
        # It was given back before we could look.
        return None, []
    _same_task(sitting, claim)
    if sitting.is_filled:
        return sitting, sitting_questions(sitting)
    if is_test:
        questions = _test_fill(sitting)
    else:
        questions = leases_take(sitting=sitting, trust=arrived.standing.trust)
    if questions:
        return sitting, questions
    sitting.delete()
    return None, []


def _row(claim: Claim, arrived: Arrived) -> models.Sitting:
    campaign = arrived.campaign
    is_test = claim.kind == SittingKind.TEST
    sitting = models.Sitting(
        campaign=campaign,
        stage=claim.stage.value,
        kind=claim.kind,
        worker=arrived.worker,
        is_proven=arrived.is_proven,
        mark="" if arrived.worker else worker_mark(claim.worker),
        accepted_at=_accepted_at(claim),
        agreed_id=None if arrived.is_consent_stored else arrived.consent,
        assignment_id=claim.assignment_id,
        hit_id=claim.hit_id,
        proof=claim_proof(claim),
        guide=stage_guide(campaign, claim.stage).row if is_test else None,
        ways=_ways(claim.stage, arrived.settings),
    )
    sitting.until = sitting_until(sitting, arrived.now)
    return sitting


def _test_fill(sitting: models.Sitting) -> list[models.SittingQuestion]:
    """Give a test its questions and return them; those whose photo is gone are left out."""
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
    return sitting_questions(sitting)


def _ways(stage: Stage, settings: Settings) -> str:
    if spec_of(stage).drawn_answer is None:
        return ""
    match settings.drawing_way:
        case DrawingWay.CHOICE:
            return f"{DrawingWay.EXTREME}/{DrawingWay.DRAG}"
        case DrawingWay.RANDOM:
            return random.choice([DrawingWay.EXTREME, DrawingWay.DRAG]).value
        case way:
            return way.value


def sitting_until(sitting: models.Sitting, now: datetime) -> datetime:
    """Return until when questions stay reserved that are given out or submitted now."""
    settings = sitting.campaign.settings
    seconds = settings.sitting_seconds
    if not sitting.is_proven:
        seconds = min(seconds, 60 * settings.crowd.unproven_minutes)
    return now + timedelta(seconds=seconds)


def consent_give(*, claim: Claim, version: int) -> Claim:
    """Note that the worker has read this version of the campaign's consent text and agrees.

    Returns the claim to continue with. Without proof that the worker exists nothing is stored:
    the claim, and later the sitting, then carry the version that they agreed to.
    """
    # Visitors with made-up HITs or assignments are not recorded either.
    arrived = _arrive(claim)
    guide = guide_ensure(campaign=arrived.campaign, topic=CONSENT)
    if guide.version != version:
        raise SittingRefusedError(
            Trouble.CONSENT, "The text has changed. Please load the page again and read it."
        )
    if not arrived.is_proven:
        return replace(claim, agreed=version)
    worker = worker_ensure(name=claim.worker)
    models.Consent.objects.bulk_create(
        [models.Consent(worker=worker, guide=guide)], ignore_conflicts=True
    )
    return claim
