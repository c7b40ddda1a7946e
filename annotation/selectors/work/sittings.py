"""Which questions a worker gets, and what a sitting holds."""

from collections.abc import Collection
from datetime import datetime
from typing import Literal

import msgspec
from django.conf import settings as site
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.urls import reverse
from django.utils.crypto import salted_hmac

from annotation import models
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.gold.mix import spread
from annotation.pipeline.protocol.questions import Question, Stage, question_from_key
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.work.acceptance import Acceptance
from annotation.pipeline.work.answers import decode_answer
from annotation.pipeline.work.guides import Lesson, is_right
from annotation.selectors.work.guides import consent_guide, guide_read
from common.rows import only_row

Empty = Literal["with_others", "nothing_left"]


class Claim(msgspec.Struct, frozen=True):
    """The parameters of the page's address: who works on which assignment of which task.

    Without proof of acceptance it is only a claim, until the marketplace confirms it.
    """

    campaign: int
    stage: Stage
    kind: SittingKind
    assignment_id: str
    hit_id: str
    worker: str
    # What the marketplace has signed, verified by us; None where it signs nothing.
    acceptance: Acceptance | None = None
    # The version of the consent text that the worker agreed to, while it must not be stored.
    agreed: int = 0


class Choice(msgspec.Struct, frozen=True):
    """A question for a worker, and the image's state that it comes from."""

    image_id: int
    question: Question
    state: ImageState


class Graded(msgspec.Struct, frozen=True):
    """A test question's answer, compared with the right one."""

    lesson: Lesson
    right: bool


class Score(msgspec.Struct, frozen=True):
    """How a test ended; `needed` is the share of right answers that passes."""

    right: int
    asked: int
    needed: float

    @property
    def passed(self) -> bool:
        return self.asked > 0 and self.right / self.asked >= self.needed


def questions_choose(
    campaign: models.Campaign,
    stage: Stage,
    worker: models.Worker,
    limit: int,
    images: Collection[int] = (),
) -> list[Choice]:
    """Choose questions for a worker's sitting: free, new to them, of nearly finished images first.

    This way images get finished, not only begun. Takes one question per image, and none about the
    `images` that the sitting already has, as long as there are others. Only this function decides
    who gets which question. Called in a transaction. On PostgreSQL it locks the rows it reads until
    the transaction ends, and skips rows that others have locked. One statement, read only as far as
    needed.
    """
    rows = (
        _askable(campaign, stage)
        .filter(_open_to(worker), ~Exists(_live_leases()))
        .select_for_update(skip_locked=True, of=("self",))
    )
    # PostgreSQL locks a row when it is read: no more at a time than are needed.
    choices = (
        Choice(
            image_id=row.image_id,
            question=question_from_key(row.key),
            state=row.image.stored_state.state,
        )
        for row in rows.iterator(chunk_size=limit)
    )
    return spread(choices, lambda choice: choice.image_id, limit, images)


def _open_to(worker: models.Worker) -> Q:
    """Return the condition that a worker may answer a question and has not answered it."""
    return ~Q(kept_out__contains=f",{worker.pk},") & Q(~Exists(_judged(worker)))


def _askable(campaign: models.Campaign, stage: Stage) -> QuerySet[models.OpenQuestion]:
    return (
        # Without its photo nobody can answer a question.
        models.OpenQuestion.objects.exclude(image__file="")
        .filter(campaign=campaign, stage=stage.value)
        .select_related("image__stored_state")
        .order_by("left", "pk")
    )


def _judged(worker: models.Worker) -> QuerySet[models.Fact]:
    return models.Fact.objects.filter(
        image=OuterRef("image"), question=OuterRef("key"), worker=worker
    )


def _live_leases() -> QuerySet[models.SittingQuestion]:
    # No key is ever empty, but with this condition the database uses the constraint's index.
    return models.SittingQuestion.objects.filter(
        image=OuterRef("image"), key=OuterRef("key"), released_at=None
    ).exclude(key="")


def why_empty(campaign: models.Campaign, stage: Stage, worker: models.Worker) -> Empty:
    """Return why there is no question for a worker: others have the rest, or nothing is left."""
    # A question that is free now was skipped because another sitting is choosing it. One statement
    # sees one moment: two could both miss a question that changes hands in between.
    is_there = _askable(campaign, stage).filter(Exists(_live_leases()) | _open_to(worker)).exists()
    return "with_others" if is_there else "nothing_left"


def campaign_find(campaign_id: int) -> models.Campaign | None:
    return only_row(
        models.Campaign.objects.select_related("current_settings").filter(pk=campaign_id)
    )


def claim_proof(claim: Claim) -> str:
    """Return a hash that finds a claim's sitting again without revealing the worker."""
    about = f"{claim.assignment_id}/{claim.worker}"
    return salted_hmac("chainbox.claim", about, algorithm="sha256").hexdigest()


def worker_mark(name: str) -> str:
    """Return a hash that tells workers apart without revealing who they are."""
    return salted_hmac("chainbox.mark", name, algorithm="sha256").hexdigest()


def has_consented(campaign: models.Campaign, claim: Claim) -> bool:
    """Tell whether the claim's worker has agreed to the text as it is now."""
    row = consent_guide(campaign).row
    # While there is no row nobody can have agreed: agreeing makes one.
    if row is None:
        return False
    stored = models.Consent.objects.filter(guide=row, worker__name=claim.worker)
    with_sitting = sittings_live(claim).filter(agreed=row)
    return stored.values("pk").union(with_sitting.values("pk")).exists()


def sittings_of(claim: Claim) -> QuerySet[models.Sitting]:
    """Return the sittings of an assignment and a worker; at most one has not lapsed."""
    # Not by the hash alone: an erased worker's sittings belong to nobody.
    return models.Sitting.objects.filter(
        Q(worker=None, proof=claim_proof(claim)) | Q(worker__name=claim.worker),
        assignment_id=claim.assignment_id,
    )


def sittings_live(claim: Claim) -> QuerySet[models.Sitting]:
    return sittings_of(claim).exclude(status=SittingStatus.LAPSED)


def sitting_questions(
    sitting: models.Sitting, *, withdrawn: bool = False
) -> list[models.SittingQuestion]:
    """Return a sitting's questions with images and captions, in two statements.

    For a finished sitting, those that were answered; else those that are still the worker's.
    Questions about withdrawn images are included only on request.
    """
    rows = sitting.questions.all()
    if not withdrawn:
        rows = rows.filter(image__withdrawn_at=None)
    if sitting.status == SittingStatus.FINISHED:
        rows = rows.exclude(answer="")
    else:
        rows = rows.filter(released_at=None)
    captions = Prefetch("image__captions", models.Caption.objects.order_by("number"))
    return list(rows.select_related("image").prefetch_related(captions).order_by("number"))


def sitting_lessons(sitting: models.Sitting) -> tuple[Lesson, ...]:
    """Return the questions of a test's sitting, in the order of their numbers from 1."""
    return () if sitting.guide is None else guide_read(sitting.guide).test


def grade(
    sitting: models.Sitting, question: models.SittingQuestion, lessons: tuple[Lesson, ...]
) -> Graded:
    """Compare the answer to a test question with the lesson of its number."""
    lesson = lessons[question.number - 1]
    given = decode_answer(question.answer)
    iou_needed = sitting.campaign.settings.test_iou
    return Graded(
        lesson=lesson,
        right=is_right(lesson, Stage(sitting.stage), given.answer, given.rect, iou_needed),
    )


def sitting_ways(sitting: models.Sitting) -> tuple[str, ...]:
    return tuple(sitting.ways.split("/")) if sitting.ways else ()


def sitting_score(sitting: models.Sitting) -> Score | None:
    if sitting.right is None or sitting.asked is None or sitting.needed is None:
        return None
    return Score(right=sitting.right, asked=sitting.asked, needed=sitting.needed)


def is_explained(sitting: models.Sitting) -> bool:
    """Tell whether a test may show which answers were right: only to a proven worker."""
    return sitting.is_proven or sitting.confirmed_at is not None


def is_over(sitting: models.Sitting, now: datetime) -> bool:
    """Tell whether an open sitting's time is up. A test reserves nothing, so its time never is."""
    return (
        sitting.kind == SittingKind.WORK
        and sitting.status == SittingStatus.OPEN
        and sitting.until <= now
    )


def task_url(campaign_id: int, stage: Stage, kind: SittingKind = SittingKind.WORK) -> str:
    """Return the address of a task page, as it goes into an ExternalQuestion."""
    name = "hits:test" if kind == SittingKind.TEST else "hits:page"
    path = reverse(name, kwargs={"campaign_id": campaign_id, "stage": stage.value})
    base: str = site.CHAINBOX_TASK_URL
    if not base:
        raise ImproperlyConfigured("CHAINBOX_TASK_URL must be the address of the task pages.")
    return base + path
