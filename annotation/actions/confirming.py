"""Answers become judgments when the platform has confirmed the assignment.

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
from annotation.actions.facts import (
    AlreadyJudgedError,
    Outcome,
    facts_record,
)
from annotation.actions.leases import leases_release
from annotation.actions.outbox import call_queue
from annotation.actions.people import ERASED, worker_ensure
from annotation.actions.recovering import sitting_recover
from annotation.actions.trusting import qualification_queue, trust_notes
from annotation.models import AssignmentStatus, Operation, SittingKind, SittingStatus
from annotation.pipeline.answers import decode_answer, judgment_of
from annotation.pipeline.facts import Doubt, FactRefusedError, Judgment
from annotation.pipeline.gold import is_right
from annotation.pipeline.questions import GOOD, Stage, question_from_key
from annotation.pipeline.state import find_box
from annotation.pipeline.trust import Checked, Event, FinishedTest, Standing, Trust
from annotation.selectors.clock import database_now
from annotation.selectors.sittings import Claim, claim_proof, settings_of, sitting_score
from annotation.selectors.trust import Drawn, box_key, drawings_find, standing_of
from config.waking import wake

log = logging.getLogger(__name__)

NO_ANSWERS = (
    "We have received no answers with this assignment that belong to it. If you did answer, "
    "please write to us."
)


class NotFinishedError(ValueError):
    """The sitting has no answers that could become judgments."""


class Submitted(msgspec.Struct, frozen=True):
    """An assignment as the platform tells of it; `fields` are those of the page's form."""

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
    """Take note that the platform has this assignment from this worker, and pay or refuse it.

    Notification and polling both lead here. What was answered is recorded; what came late is
    stored and paid all the same. Only an assignment without any answers is rejected.
    """
    known = _assignment_find(hit, submitted)
    if known is not None:
        return known
    sitting = _sitting_find(hit, submitted)
    if sitting is not None:
        if sitting.kind == SittingKind.TEST:
            test_confirm(sitting=sitting)
        else:
            sitting_confirm(sitting=sitting)
    return _assignment_note(hit, submitted, sitting)


def _assignment_find(hit: models.Hit, submitted: Submitted) -> models.Assignment | None:
    """Return the assignment if it was confirmed before; whose it was may be forgotten by now."""
    found = hit.assignments.select_related("worker", "sitting").filter(
        assignment_id=submitted.assignment_id
    )
    proof = _proof(hit, submitted)
    return next(
        (
            one
            for one in found
            if one.worker.name == submitted.worker
            # Without a sitting there is no proof; but what was submitted is nobody else's any more.
            or (one.sitting.proof == proof if one.sitting else one.worker.name.startswith(ERASED))
        ),
        None,
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
        proof=proof, fields=submitted.fields, submitted_at=submitted.submitted_at
    )


def _worker_find(hit: models.Hit, submitted: Submitted) -> models.Worker:
    """Return whose assignment without answers this is; who was erased since stays erased."""
    sittings = models.Sitting.objects.select_related("worker")
    sitting = sittings.filter(proof=_proof(hit, submitted)).first()
    return sitting.worker if sitting else worker_ensure(name=submitted.worker)


@transaction.atomic
def _assignment_note(
    hit: models.Hit, submitted: Submitted, sitting: models.Sitting | None
) -> models.Assignment:
    """Write the assignment down, once, and queue what becomes of it."""
    # The HIT's row is the lock: of two confirmations the second finds what the first has noted.
    hit = models.Hit.objects.select_for_update().get(pk=hit.pk)
    known = _assignment_find(hit, submitted)
    if known is not None:
        return known
    worker = sitting.worker if sitting else _worker_find(hit, submitted)
    assignment = models.Assignment.objects.create(
        hit=hit,
        assignment_id=submitted.assignment_id,
        worker=worker,
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
    hours = settings_of(campaign).crowd.approval_hours
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


def test_confirm(*, sitting: models.Sitting) -> Standing:
    """Note how a finished test went; who passes can begin."""
    score = sitting_score(sitting)
    if sitting.kind != SittingKind.TEST or score is None:
        raise NotFinishedError(f"sitting {sitting.pk} is no finished test")
    standing = trust_notes(
        campaign=sitting.campaign,
        worker=sitting.worker,
        stage=Stage(sitting.stage),
        events={f"test/{sitting.pk}": FinishedTest(right=score.right, asked=score.asked)},
    )
    if standing.trust is Trust.TESTING:
        _test_over(sitting)
    _confirmed(sitting)
    return standing


def _test_over(sitting: models.Sitting) -> None:
    """Show the test no more to whom it has been given as often as it may."""
    taken = models.Sitting.objects.filter(
        campaign=sitting.campaign,
        worker=sitting.worker,
        stage=sitting.stage,
        kind=SittingKind.TEST,
        status=SittingStatus.FINISHED,
    ).count()
    if taken >= settings_of(sitting.campaign).crowd.test_tries:
        qualification_queue(
            campaign=sitting.campaign,
            worker=sitting.worker,
            stage=Stage(sitting.stage),
            value=0,
            cause=f"test/{sitting.pk}",
        )


# Work


def sitting_confirm(*, sitting: models.Sitting) -> Confirmed:
    """Record a finished sitting's answers as judgments and give its questions back.

    Called when the platform says that this worker has submitted this assignment. Again, or after
    a crash in the middle, it finds what is recorded already. An answer that cannot be recorded,
    such as one on an image that was withdrawn, does not keep the others from it.
    """
    if sitting.kind != SittingKind.WORK or sitting.status != SittingStatus.FINISHED:
        raise NotFinishedError(f"sitting {sitting.pk} is no finished work")
    standing = _checks_note(sitting)
    judgments = _judgments(sitting)
    # Whom we do not trust any more is heard, and not believed.
    doubt = standing.reason or "trust was lost" if standing.trust is Trust.REVOKED else ""
    recorded, refused = _record(judgments, doubt)
    if not doubt and sitting.stage == Stage.QUALITY:
        _boxes_note(judgments, recorded)
    _confirmed(sitting, recorded, doubted=bool(doubt))
    for problem in refused:
        log.warning("sitting %s: an answer was not recorded: %s", sitting.pk, problem)
    done = [one for outcome in recorded.values() for one in outcome.recorded]
    return Confirmed(
        recorded=len(done),
        counted=sum(one.counted is True for one in done),
        refused=tuple(refused),
    )


@transaction.atomic
def _checks_note(sitting: models.Sitting) -> Standing:
    """Hold the answers to verification questions against what is known; return the standing."""
    stage = Stage(sitting.stage)
    rows = list(
        sitting.questions.select_related("gold")
        .filter(gold__isnull=False)
        .exclude(answer="")
        .order_by("number")
    )
    if not rows:
        return standing_of(sitting.campaign, sitting.worker, stage)
    for row in rows:
        assert row.gold is not None
        row.right = is_right(row.gold.gold, decode_answer(row.answer))
    models.SittingQuestion.objects.bulk_update(rows, ["right"])
    events = {f"check/{sitting.pk}/{row.number}": Checked(right=bool(row.right)) for row in rows}
    return trust_notes(campaign=sitting.campaign, worker=sitting.worker, stage=stage, events=events)


def _judgments(sitting: models.Sitting) -> dict[int, list[Judgment]]:
    """Return the sitting's answers as judgments, by image."""
    by_image: dict[int, list[Judgment]] = defaultdict(list)
    rows = sitting.questions.filter(gold=None).exclude(answer="")
    for row in rows.order_by("image_id", "number"):
        by_image[row.image_id].append(
            judgment_of(
                decode_answer(row.answer),
                worker=sitting.worker_id,
                question=question_from_key(row.key),
            )
        )
    return by_image


def _record(
    judgments: Mapping[int, Sequence[Judgment]], doubt: str
) -> tuple[dict[int, Outcome], list[str]]:
    """Record what can be recorded: all at once, or in parts if something is refused."""
    if not judgments:
        return {}, []
    try:
        return _record_all(judgments, doubt), []
    except (FactRefusedError, AlreadyJudgedError) as error:
        parts = _parts(judgments)
        if len(parts) == 1:
            [(_, [judgment])] = judgments.items()
            return {}, [f"{judgment.question.key}: {error}"]
    recorded: dict[int, Outcome] = {}
    refused: list[str] = []
    for part in parts:
        done, problems = _record(part, doubt)
        for image_id, outcome in done.items():
            before = recorded[image_id].recorded if image_id in recorded else ()
            recorded[image_id] = Outcome((*before, *outcome.recorded), outcome.state)
        refused += problems
    return recorded, refused


def _parts(judgments: Mapping[int, Sequence[Judgment]]) -> list[dict[int, Sequence[Judgment]]]:
    """Take judgments apart: by image, or one by one where there is one image only."""
    if len(judgments) > 1:
        return [{image_id: of_image} for image_id, of_image in judgments.items()]
    [(image_id, of_image)] = judgments.items()
    return [{image_id: [judgment]} for judgment in of_image]


@transaction.atomic
def _record_all(judgments: Mapping[int, Sequence[Judgment]], doubt: str) -> dict[int, Outcome]:
    """Record judgments; those of whom we do not trust are doubted before anybody else can look."""
    outcomes = facts_record(bodies=judgments)
    if doubt:
        facts_record(
            bodies={
                image_id: [Doubt(judgment=one.number, reason=doubt[:200]) for one in done.recorded]
                for image_id, done in outcomes.items()
            }
        )
    return outcomes


def _boxes_note(
    judgments: Mapping[int, Sequence[Judgment]], outcomes: Mapping[int, Outcome]
) -> None:
    """Note for their drawers how boxes were judged: that is how drawing is checked."""
    judged: dict[Drawn, bool] = {}
    for image_id, outcome in outcomes.items():
        for judgment, one in zip(judgments[image_id], outcome.recorded, strict=False):
            box = find_box(outcome.state, judgment.question.subject[0])
            # A second opinion is about the first judge, not about the drawer.
            if one.counted and box is not None and box.drawer and not judgment.question.doubted:
                judged[Drawn(image_id, box.drawer, box.rect)] = judgment.answer == GOOD
    if not judged:
        return
    campaign = models.Campaign.objects.select_related("current_settings").get(
        images=next(iter(judged)).image_id
    )
    numbers = drawings_find(judged)
    by_drawer: dict[int, dict[str, Event]] = defaultdict(dict)
    for drawn, number in numbers.items():
        key = box_key(drawn.image_id, number)
        by_drawer[drawn.drawer][key] = Checked(right=judged[drawn])
    for worker in models.Worker.objects.filter(pk__in=by_drawer).order_by("pk"):
        trust_notes(
            campaign=campaign, worker=worker, stage=Stage.DRAWING, events=by_drawer[worker.pk]
        )


@transaction.atomic
def _confirmed(
    sitting: models.Sitting, recorded: Mapping[int, Outcome] | None = None, *, doubted: bool = False
) -> None:
    """Close a sitting's confirmation: its questions go back, and its checks have been used."""
    # The sitting before its questions, in the order that all lock in.
    models.Sitting.objects.select_for_update().get(pk=sitting.pk)
    now = database_now()
    is_new = models.Sitting.objects.filter(pk=sitting.pk, confirmed_at=None).update(
        confirmed_at=now
    )
    leases_release(sitting=sitting, now=now)
    if not is_new or recorded is None:
        return
    models.GoldQuestion.objects.filter(askings__sitting=sitting).update(uses=F("uses") + 1)
    wake("crowd_supply")
    # Whoever was revoking the worker meanwhile has not seen these judgments. They are done by now,
    # or will see them: both lock the standing.
    standing = models.WorkerStanding.objects.select_for_update().filter(
        campaign=sitting.campaign_id, worker=sitting.worker_id, stage=sitting.stage
    )
    if not doubted and any(row.trust == Trust.REVOKED for row in standing):
        models.PendingDoubt.objects.bulk_create(
            [
                models.PendingDoubt(image_id=image_id, judgment=one.number)
                for image_id, outcome in recorded.items()
                for one in outcome.recorded
            ],
            ignore_conflicts=True,
        )
