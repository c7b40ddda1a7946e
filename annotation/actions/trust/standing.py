"""Trust: noting what happened to workers, and what follows when their standing changes."""

import uuid
from collections.abc import Mapping

import msgspec
from django.db import transaction
from django.db.models.functions import Now

from annotation import models
from annotation.actions.crowd.messages import appeal_message, message_queue, trust_message
from annotation.actions.crowd.outbox import call_queue
from annotation.actions.work.leases import sittings_lapse
from annotation.models import Operation, SittingStatus
from annotation.pipeline.crowd.terms import PROBATION_VALUE, REVOKED_VALUE, TRUSTED_VALUE
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.revocation import doubtful
from annotation.pipeline.trust.standing import (
    Event,
    Reinstated,
    Revoked,
    Shaken,
    Standing,
    Trust,
    encode_event,
    follow,
)
from annotation.selectors.trust.standing import work_of
from common.waking import wake

QUALIFICATION = {
    Trust.PROBATION: PROBATION_VALUE,
    Trust.TRUSTED: TRUSTED_VALUE,
    Trust.REVOKED: REVOKED_VALUE,
}


def trust_note(
    *, campaign: models.Campaign, worker: models.Worker, stage: Stage, event: Event, key: str
) -> Standing:
    """Note something that happened, once; return where the worker stands after it."""
    return trust_notes(campaign=campaign, worker=worker, stage=stage, events={key: event})


@transaction.atomic
def trust_notes(
    *,
    campaign: models.Campaign,
    worker: models.Worker,
    stage: Stage,
    events: Mapping[str, Event],
    by: str = "",
) -> Standing:
    """Note what happened, in this order, each event once; `events` maps keys to events.

    All of a worker's standings are locked together, in one order: a loss of trust at one stage may
    affect the others.
    """
    rows = standings_lock(campaign=campaign, worker=worker, stage=stage)
    row = rows[stage]
    campaign = row.campaign  # with its settings as they are now
    noted = models.TrustEvent.objects.filter(
        campaign=campaign, worker=worker, stage=stage.value, key__in=events
    ).values_list("key", flat=True)
    new = {key: event for key, event in events.items() if key not in set(noted)}
    if not new:
        return row.standing
    before = after = row.standing
    settings = campaign.settings
    for event in new.values():
        after = follow(after, event, stage, settings)
    _events_append(row, new, by)
    _standing_save(row, after)
    if before.trust is not after.trust:
        _trust_changed(row, before, after, cause=next(reversed(new)))
        if after.trust is Trust.REVOKED and settings.crowd.shake_others:
            for other in rows:
                if other is not stage and rows[other].trust == Trust.TRUSTED:
                    _shake(rows[other], stage)
    return after


def standings_lock(
    *, campaign: models.Campaign, worker: models.Worker, stage: Stage
) -> dict[Stage, models.WorkerStanding]:
    """Lock a worker's standings in a campaign, including the stage's."""
    models.WorkerStanding.objects.bulk_create(
        [models.WorkerStanding(campaign=campaign, worker=worker, stage=stage.value)],
        ignore_conflicts=True,
    )
    rows = (
        models.WorkerStanding.objects.select_for_update(of=("self",))
        .filter(campaign=campaign, worker=worker)
        .select_related("worker", "campaign__current_settings")
        .order_by("pk")
    )
    return {Stage(row.stage): row for row in rows}


def _events_append(row: models.WorkerStanding, events: Mapping[str, Event], by: str = "") -> None:
    version = row.campaign.current_settings
    assert version is not None  # every campaign is made with settings
    models.TrustEvent.objects.bulk_create(
        models.TrustEvent(
            campaign=row.campaign,
            worker=row.worker,
            stage=row.stage,
            key=key,
            settings=version,
            body=encode_event(event),
            by=by,
        )
        for key, event in events.items()
    )


def _standing_save(row: models.WorkerStanding, standing: Standing) -> None:
    row.trust = standing.trust.value
    row.body = standing_text(standing)
    row.updated_at = Now()
    row.save(update_fields=["trust", "body", "updated_at"])


def standing_text(standing: Standing) -> str:
    return msgspec.json.encode(standing).decode()


def _shake(row: models.WorkerStanding, cause: Stage) -> None:
    """Put a worker who lost trust at one stage back to probation at another."""
    campaign, stage, before = row.campaign, Stage(row.stage), row.standing
    event = Shaken(stage=cause)
    key = f"shaken/{uuid.uuid4().hex}"
    after = follow(before, event, stage, campaign.settings)
    _events_append(row, {key: event})
    _standing_save(row, after)
    _trust_changed(row, before, after, cause=key)


def qualification_queue(
    *, campaign: models.Campaign, worker: models.Worker, stage: Stage, value: int, cause: str
) -> None:
    """Queue a worker's new qualification for the marketplace; `cause` names the change."""
    subject = _subject(campaign, worker, stage)
    call_queue(
        campaign=campaign,
        operation=Operation.QUALIFY,
        key=f"qualify/{subject}/{cause}",
        lane=f"qualify/{subject}",
        worker=worker,
        stage=stage.value,
        value=value,
    )


def _subject(campaign: models.Campaign, worker: models.Worker, stage: Stage) -> str:
    return f"{campaign.pk}/{stage.value}/{worker.pk}"


def _trust_changed(
    row: models.WorkerStanding, before: Standing, after: Standing, *, cause: str
) -> None:
    """Tell the marketplace and the worker; a worker who lost trust has nothing more to do."""
    campaign, worker, stage = row.campaign, row.worker, Stage(row.stage)
    if after.trust in QUALIFICATION:
        value = QUALIFICATION[after.trust]
        qualification_queue(campaign=campaign, worker=worker, stage=stage, value=value, cause=cause)
        words = trust_message(row, before, after)
        message_queue(
            standing=row, key=f"message/{_subject(campaign, worker, stage)}/{cause}", words=words
        )
    if after.trust is Trust.REVOKED:
        sittings_lapse(
            sittings=models.Sitting.objects.filter(
                campaign=campaign, worker=worker, stage=stage.value, status=SittingStatus.OPEN
            )
        )
        _doubts_plan(campaign, worker, stage, after.reason)


def _doubts_plan(
    campaign: models.Campaign, worker: models.Worker, stage: Stage, reason: str
) -> None:
    settings = campaign.settings
    minimum = settings.minimum_performance[stage]
    places = doubtful(work_of(campaign, worker, stage), minimum, settings.crowd)
    models.PendingDoubt.objects.bulk_create(
        [
            models.PendingDoubt(image_id=image_id, judgment=number, reason=reason[:200])
            for image_id, number in places
        ],
        ignore_conflicts=True,
    )
    if places:
        wake("crowd_sweep")


# Decisions of researchers


def trust_revoke(
    *, campaign: models.Campaign, worker: models.Worker, stage: Stage, reason: str, by: str
) -> Standing:
    """End a worker's trust at a stage; the worker reads `reason`."""
    events = {f"revoked/{uuid.uuid4().hex}": Revoked(reason=reason)}
    return trust_notes(campaign=campaign, worker=worker, stage=stage, events=events, by=by)


def trust_reinstate(
    *,
    campaign: models.Campaign,
    worker: models.Worker,
    stage: Stage,
    trusted: bool = False,
    by: str,
) -> Standing:
    """Give a worker another chance: on probation, or trusted at once."""
    events = {f"reinstated/{uuid.uuid4().hex}": Reinstated(trusted=trusted)}
    return trust_notes(campaign=campaign, worker=worker, stage=stage, events=events, by=by)


class AppealRefusedError(ValueError):
    """There is nothing to appeal against, or an appeal is open; the message is for the worker."""


@transaction.atomic
def appeal_make(*, standing: models.WorkerStanding, words: str) -> models.Appeal:
    """Take a worker's appeal against losing trust; one at a time."""
    row = models.WorkerStanding.objects.select_for_update().get(pk=standing.pk)
    if row.trust != Trust.REVOKED:
        raise AppealRefusedError(
            "You can work on this task, so there is nothing to appeal against."
        )
    if row.appeals.filter(decided_at=None).exists():
        raise AppealRefusedError("You have already appealed. Somebody will look at it.")
    return models.Appeal.objects.create(standing=row, words=words)


@transaction.atomic
def appeal_decide(
    *, appeal: models.Appeal, reinstate: bool, reply: str, by: str, trusted: bool = False
) -> None:
    """Answer an appeal, once; the worker is told."""
    appeal = models.Appeal.objects.select_for_update().get(pk=appeal.pk)
    if appeal.decided_at is not None:
        raise AppealRefusedError("Somebody has already answered this appeal.")
    row = appeal.standing
    models.Appeal.objects.filter(pk=appeal.pk).update(
        decided_at=Now(), reinstated=reinstate, reply=reply
    )
    if reinstate:
        trust_reinstate(
            campaign=row.campaign,
            worker=row.worker,
            stage=Stage(row.stage),
            trusted=trusted,
            by=by,
        )
    words = appeal_message(row, reinstate=reinstate, reply=reply)
    message_queue(standing=row, key=f"message/appeal/{appeal.pk}", words=words)
