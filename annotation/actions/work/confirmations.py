"""Answers become judgments when the marketplace has confirmed the assignment.

Every step finds what was done before: a confirmation may come twice, from two processes at once,
or after a crash in the middle.
"""

import logging
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import F

from annotation import models
from annotation.actions.crowd.outbox import call_queue
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.protocol.judgments import Heard, judgments_hear
from annotation.actions.trust.drawing_checks import drawings_check
from annotation.actions.trust.standing import qualification_queue, trust_notes
from annotation.actions.work.leases import leases_release
from annotation.actions.work.recovery import sitting_recover
from annotation.models import AssignmentStatus, Operation, SittingKind, SittingStatus
from annotation.pipeline.crowd.terms import REVOKED_VALUE
from annotation.pipeline.gold.gold_question import is_right
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.trust.standing import Checked, FinishedTest, Standing, Trust
from annotation.pipeline.work.answers import decode_answer, judgment_of
from annotation.selectors.trust.standing import standing_of
from annotation.selectors.work.sittings import Claim, claim_proof, sitting_score
from common.clock import database_now
from common.waking import wake

log = logging.getLogger(__name__)

NO_ANSWERS = "We received no answers for this assignment. If you did answer, please write to us."


class NotFinishedError(ValueError):
    """The sitting has no answers that could become judgments."""


class Submitted(msgspec.Struct, frozen=True):
    """An assignment as the platform reports it; `fields` are those of the page's form."""

    assignment_id: str
    worker: str
    status: AssignmentStatus
    submitted_at: datetime
    fields: Mapping[str, str]


class Confirmed(msgspec.Struct, frozen=True):
    """How many answers were recorded, how many counted, and which were refused, in words."""

    recorded: int
    counted: int
    refused: tuple[str, ...]


def assignment_confirm(*, hit: models.Hit, submitted: Submitted) -> models.Assignment:
    """Record that this worker has submitted this assignment, and pay or reject it.

    Notification and polling both lead here. Answers are recorded; late ones are stored and paid as
    well. Only an assignment without any answers is rejected.
    """
    known = _assignment_find(hit, submitted)
    if known is not None:
        return known
    sitting = _sitting_find(hit, submitted)
    if sitting is not None:
        if not sitting.is_proven:
            _sitting_prove(sitting, submitted)
        if sitting.kind == SittingKind.TEST:
            test_confirm(sitting=sitting)
        else:
            sitting_confirm(sitting=sitting)
    return _assignment_note(hit, submitted, sitting)


def _assignment_find(hit: models.Hit, submitted: Submitted) -> models.Assignment | None:
    """Return the assignment if it was confirmed before, even if its worker was erased since."""
    return (
        hit.assignments.select_related("worker", "sitting")
        .filter(proof=_proof(hit, submitted))
        .first()
    )


def _proof(hit: models.Hit, submitted: Submitted) -> str:
    return claim_proof(
        Claim(
            campaign=hit.campaign_id,
            stage=Stage(hit.stage),
            kind=SittingKind(hit.kind),
            assignment_id=submitted.assignment_id,
            hit_id=hit.hit_id or "",
            worker=submitted.worker,
        )
    )


def _sitting_find(hit: models.Hit, submitted: Submitted) -> models.Sitting | None:
    """Return the finished sitting of this worker at this assignment, if need be from the form."""
    proof = _proof(hit, submitted)
    finished = (
        models.Sitting.objects.select_related("campaign__current_settings", "worker", "guide")
        .filter(proof=proof, campaign=hit.campaign_id, stage=hit.stage, kind=hit.kind)
        .filter(status=SittingStatus.FINISHED)
        .first()
    )
    if finished is not None:
        return finished
    return sitting_recover(
        hit=hit, proof=proof, fields=submitted.fields, submitted_at=submitted.submitted_at
    )


@transaction.atomic
def _sitting_prove(sitting: models.Sitting, submitted: Submitted) -> None:
    """Record the confirmed worker of a sitting, and the consent they gave."""
    if sitting.worker is None:
        sitting.worker = worker_ensure(name=submitted.worker)
    if sitting.agreed_id is not None:
        models.Consent.objects.bulk_create(
            [models.Consent(worker=sitting.worker, guide_id=sitting.agreed_id)],
            ignore_conflicts=True,
        )
    sitting.is_proven, sitting.mark, sitting.agreed = True, "", None
    sitting.save(update_fields=["worker", "is_proven", "mark", "agreed"])


def _worker_find(hit: models.Hit, submitted: Submitted) -> models.Worker:
    """Return the worker of an assignment without answers; an erased one stays erased."""
    sittings = models.Sitting.objects.select_related("worker")
    sitting = sittings.filter(proof=_proof(hit, submitted), worker__isnull=False).first()
    return sitting.known_worker if sitting else worker_ensure(name=submitted.worker)


@transaction.atomic
def _assignment_note(
    hit: models.Hit, submitted: Submitted, sitting: models.Sitting | None
) -> models.Assignment:
    """Record the assignment, once, and queue its approval or rejection."""
    # The HIT's row is the lock: of two confirmations, the second finds what the first recorded.
    hit = models.Hit.objects.select_for_update().get(pk=hit.pk)
    known = _assignment_find(hit, submitted)
    if known is not None:
        return known
    worker = sitting.known_worker if sitting else _worker_find(hit, submitted)
    assignment = models.Assignment.objects.create(
        hit=hit,
        assignment_id=submitted.assignment_id,
        worker=worker,
        proof=_proof(hit, submitted),
        sitting=sitting,
        submitted_at=submitted.submitted_at,
        reason="" if sitting else NO_ANSWERS,
    )
    _decide(hit, assignment)
    return assignment


def _decide(hit: models.Hit, assignment: models.Assignment) -> None:
    campaign = hit.campaign
    if assignment.sitting is None:
        call_queue(
            campaign=campaign,
            operation=Operation.REJECT,
            key=f"reject/{assignment.pk}",
            assignment=assignment,
            hit=hit,
            stage=hit.stage,
            reason=NO_ANSWERS,
        )
        return
    hours = campaign.settings.crowd.approval_hours
    call_queue(
        campaign=campaign,
        operation=Operation.APPROVE,
        key=f"approve/{assignment.pk}",
        assignment=assignment,
        hit=hit,
        stage=hit.stage,
        not_before=database_now() + timedelta(hours=hours) if hours else None,
    )


# Tests


@transaction.atomic
def test_confirm(*, sitting: models.Sitting) -> Standing:
    """Record how a finished test went; a worker who passes can begin."""
    score = sitting_score(sitting)
    if sitting.kind != SittingKind.TEST or score is None:
        raise NotFinishedError(f"sitting {sitting.pk} is not a finished test")
    finished = FinishedTest(right=score.right, asked=score.asked, needed=score.needed)
    standing = trust_notes(
        campaign=sitting.campaign,
        worker=sitting.known_worker,
        stage=Stage(sitting.stage),
        events={f"test/{sitting.pk}": finished},
    )
    _confirmed(sitting)
    # Still under the lock of the standing: another test that is passed meanwhile waits.
    if standing.trust is Trust.TESTING:
        _test_over(sitting)
    return standing


def _test_over(sitting: models.Sitting) -> None:
    """Stop showing the test to workers who have opened it as often as they may."""
    taken = models.Sitting.objects.filter(
        campaign=sitting.campaign,
        worker=sitting.worker,
        stage=sitting.stage,
        kind=SittingKind.TEST,
        is_proven=True,
    ).count()
    if taken >= sitting.campaign.settings.crowd.test_tries:
        qualification_queue(
            campaign=sitting.campaign,
            worker=sitting.known_worker,
            stage=Stage(sitting.stage),
            value=REVOKED_VALUE,
            cause=f"test/{sitting.pk}",
        )


# Work


def sitting_confirm(*, sitting: models.Sitting) -> Confirmed:
    """Record a finished sitting's answers as judgments and give its questions back.

    Called when the platform says that this worker has submitted this assignment. A second call, or
    one after a crash in the middle, finds what is already recorded. An answer that cannot be
    recorded, such as one on a withdrawn image, does not hold up the others.
    """
    if sitting.kind != SittingKind.WORK or sitting.status != SittingStatus.FINISHED:
        raise NotFinishedError(f"sitting {sitting.pk} is not finished work")
    standing = _checks_note(sitting)
    hearing = judgments_hear(judgments=_judgments(sitting), standing=standing)
    drawings_check(campaign=sitting.campaign, hearing=hearing)
    _confirmed(sitting, hearing.heard)
    for problem in hearing.refused:
        log.warning("sitting %s: an answer was not recorded: %s", sitting.pk, problem)
    return Confirmed(
        recorded=len(hearing.heard),
        counted=sum(one.recorded.counted is True for one in hearing.heard),
        refused=hearing.refused,
    )


def _checks_note(sitting: models.Sitting) -> Standing:
    """Grade the answers to gold questions; return the worker's standing."""
    stage = Stage(sitting.stage)
    rows = list(
        sitting.questions.select_related("gold")
        .filter(gold__isnull=False)
        .exclude(answer="")
        .order_by("number")
    )
    if not rows:
        return standing_of(sitting.campaign, sitting.known_worker, stage)
    for row in rows:
        assert row.gold is not None
        row.right = is_right(row.gold.gold, decode_answer(row.answer))
    # Finished before the standing is locked: all code locks standings first, then sittings and
    # their questions.
    with transaction.atomic():
        models.Sitting.objects.select_for_update().get(pk=sitting.pk)
        models.SittingQuestion.objects.bulk_update(rows, ["right"])
    events = {f"check/{sitting.pk}/{row.number}": Checked(right=bool(row.right)) for row in rows}
    return trust_notes(
        campaign=sitting.campaign, worker=sitting.known_worker, stage=stage, events=events
    )


def _judgments(sitting: models.Sitting) -> dict[int, list[Judgment]]:
    """Return the sitting's answers as judgments, by image."""
    by_image: dict[int, list[Judgment]] = defaultdict(list)
    rows = sitting.questions.filter(gold=None).exclude(answer="")
    for row in rows.order_by("image_id", "number"):
        by_image[row.image_id].append(
            judgment_of(
                decode_answer(row.answer),
                worker=sitting.known_worker.pk,
                question=question_from_key(row.key),
            )
        )
    return by_image


@transaction.atomic
def _confirmed(sitting: models.Sitting, heard: Sequence[Heard] | None = None) -> None:
    """Close a sitting's confirmation: its questions go back, and its checks have been used."""
    # A process that was revoking the worker meanwhile has not seen these judgments. It is done by
    # now, or will see them: both lock the standing, and before any sitting.
    standing = list(
        models.WorkerStanding.objects.select_for_update().filter(
            campaign=sitting.campaign_id, worker=sitting.worker_id, stage=sitting.stage
        )
    )
    models.Sitting.objects.select_for_update().get(pk=sitting.pk)
    now = database_now()
    is_new = models.Sitting.objects.filter(pk=sitting.pk, confirmed_at=None).update(
        confirmed_at=now
    )
    leases_release(sitting=sitting, now=now)
    if not is_new or heard is None:
        return
    _gold_used(sitting)
    wake("crowd_supply")
    if any(row.trust == Trust.REVOKED for row in standing):
        models.PendingDoubt.objects.bulk_create(
            [
                models.PendingDoubt(image_id=one.image_id, judgment=one.recorded.number)
                for one in heard
                if not one.doubted
            ],
            ignore_conflicts=True,
        )


def _gold_used(sitting: models.Sitting) -> None:
    # Locked in one order: otherwise sittings that share gold questions could deadlock.
    golds = models.GoldQuestion.objects.filter(askings__sitting=sitting).order_by("pk")
    used = list(golds.select_for_update(of=("self",), no_key=True).values_list("pk", flat=True))
    if used:
        models.GoldQuestion.objects.filter(pk__in=used).update(uses=F("uses") + 1)
