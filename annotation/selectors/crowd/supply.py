"""What the stages of a campaign need, and how much is already on the marketplace."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import Coalesce

from annotation import models
from annotation.models import HitStatus, SittingKind, SittingStatus, SupplyStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from common.clock import database_now

# HITs that a worker could still accept, if nobody has them and they have not expired.
LIVE = (HitStatus.CREATING, HitStatus.OPEN)
# Accepted, as far as we have heard, and not given back since.
_TAKEN = Q(accepted_at__isnull=False) & (
    Q(given_back_at=None) | Q(given_back_at__lt=F("accepted_at"))
)


class WaitingHit(msgspec.Struct, frozen=True):
    """A HIT that nobody has; for a test, a HIT that has places left."""

    pk: int
    stage: Stage
    kind: SittingKind
    status: HitStatus
    terms: int
    held_cents: int


class StageSupplyRow(msgspec.Struct, frozen=True):
    """A stage as the dashboard shows it. All HITs counted are those with work, except `tests`."""

    stage: Stage
    # None: the campaign is not launched.
    status: SupplyStatus | None
    # Open questions, those among them that sittings hold, that nobody may answer at present, and
    # whose photo is missing.
    open: int
    leased: int
    starved: int
    without_photo: int
    # HITs that the marketplace has not confirmed, that wait for somebody, that somebody has.
    creating: int
    waiting: int
    at_work: int
    # Assignments that were submitted, whatever their outcome.
    done: int
    # HITs with tests that have places left.
    tests: int


def campaigns_launched() -> list[models.Campaign]:
    """Return the campaigns that are, or were, supplied with HITs."""
    return list(
        models.Campaign.objects.filter(
            Exists(models.StageSupply.objects.filter(campaign=OuterRef("pk")))
        )
        .select_related("current_settings")
        .order_by("pk")
    )


def questions_waiting(campaign: models.Campaign, stage: Stage, most: int) -> int:
    """Count the questions that could be given out now, up to `most`.

    They have a photo, no sitting holds them, and somebody may answer them.
    """
    leases = models.SittingQuestion.objects.filter(
        image=OuterRef("image"), key=OuterRef("key"), released_at=None
    ).exclude(key="")
    rows = models.OpenQuestion.objects.filter(
        ~Exists(leases), campaign=campaign, stage=stage.value, starved_at=None
    ).exclude(image__file="")
    return rows[:most].count()


def demand_ceiling(stage: Stage, settings: Settings) -> int:
    """Return how many questions fill as many HITs as may wait at once."""
    return settings.crowd.hits_ceiling[stage] * settings.questions_per_hit[stage]


def hits_waiting(campaign: models.Campaign, now: datetime) -> list[WaitingHit]:
    """Return the HITs that a worker could accept now or soon, the oldest first.

    A worker may have one before the marketplace tells us: then it has a sitting whose time is not
    up.
    """
    sittings = models.Sitting.objects.filter(
        hit_id=OuterRef("hit_id"), kind=SittingKind.WORK, until__gt=now
    ).exclude(status=SittingStatus.LAPSED)
    rows = models.Hit.objects.filter(
        Q(expires_at=None) | Q(expires_at__gt=now),
        ~Exists(sittings),
        campaign=campaign,
        status__in=LIVE,
        is_free=True,
    )
    return [
        WaitingHit(
            pk=pk,
            stage=Stage(stage),
            kind=SittingKind(kind),
            status=HitStatus(status),
            terms=terms,
            held_cents=held,
        )
        for pk, stage, kind, status, terms, held in rows.order_by("pk").values_list(
            "pk", "stage", "kind", "status", "terms", "held_cents"
        )
    ]


def cents_coming_back(campaign: models.Campaign) -> int:
    """Return the money held for HITs that were taken back and that nobody seems to have."""
    closing = models.Hit.objects.filter(
        ~_TAKEN, ~Exists(_handed_in()), campaign=campaign, status=HitStatus.CLOSING
    ).aggregate(cents=Coalesce(Sum("held_cents"), 0))
    cents: int = closing["cents"]
    return cents


def _handed_in() -> QuerySet[models.Assignment]:
    return models.Assignment.objects.filter(hit=OuterRef("pk"))


def stage_supplies(campaign: models.Campaign) -> tuple[StageSupplyRow, ...]:
    """Return all six stages in a constant few statements, launched or not."""
    statuses = dict(campaign.supplies.values_list("stage", "status"))
    questions = _by_stage(
        campaign.open_questions.values("stage").annotate(
            open=Count("pk"),
            starved=Count("pk", filter=Q(starved_at__isnull=False)),
            without_photo=Count("pk", filter=Q(image__file="")),
        )
    )
    leased = dict(
        models.SittingQuestion.objects.filter(released_at=None, sitting__campaign=campaign)
        .exclude(key="")
        .values_list("sitting__stage")
        .annotate(Count("pk"))
    )
    hits = _hit_counts(campaign, database_now())
    done = dict(
        models.Assignment.objects.filter(hit__campaign=campaign, hit__kind=SittingKind.WORK)
        .values_list("hit__stage")
        .annotate(Count("pk"))
    )
    return tuple(
        StageSupplyRow(
            stage=stage,
            status=SupplyStatus(statuses[stage.value]) if stage.value in statuses else None,
            open=questions[stage]["open"],
            leased=leased.get(stage.value, 0),
            starved=questions[stage]["starved"],
            without_photo=questions[stage]["without_photo"],
            creating=hits[stage]["creating"],
            waiting=hits[stage]["waiting"],
            at_work=hits[stage]["at_work"],
            done=done.get(stage.value, 0),
            tests=hits[stage]["tests"],
        )
        for stage in Stage
    )


def _hit_counts(campaign: models.Campaign, now: datetime) -> dict[Stage, Counter[str]]:
    fresh = Q(expires_at=None) | Q(expires_at__gt=now)
    work = Q(kind=SittingKind.WORK)
    has_somebody = Q(status=HitStatus.OPEN, is_free=False) | (Q(status=HitStatus.CLOSING) & _TAKEN)
    return _by_stage(
        models.Hit.objects.exclude(status=HitStatus.CLOSED)
        .filter(campaign=campaign)
        .annotate(is_handed_in=Exists(_handed_in()))
        .values("stage")
        .annotate(
            creating=Count("pk", filter=work & Q(status=HitStatus.CREATING)),
            waiting=Count("pk", filter=work & fresh & Q(status=HitStatus.OPEN, is_free=True)),
            at_work=Count("pk", filter=work & has_somebody & Q(is_handed_in=False)),
            tests=Count("pk", filter=~work & fresh & Q(status__in=LIVE, is_free=True)),
        )
    )


def _by_stage(rows: Iterable[Mapping[str, Any]]) -> dict[Stage, Counter[str]]:
    """Return each stage's numbers by name; missing numbers are 0."""
    found = {
        row["stage"]: Counter({name: row[name] for name in row if name != "stage"}) for row in rows
    }
    return {stage: found.get(stage.value, Counter()) for stage in Stage}
