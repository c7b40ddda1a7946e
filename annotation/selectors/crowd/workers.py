"""Workers of a campaign: where they stand, what happened, what they did and were paid."""

from collections.abc import Iterable
from datetime import datetime

import msgspec
from django.core.paginator import Page, Paginator
from django.db.models import Count, Max, Q, Sum

from annotation import models
from annotation.models import SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.trust.accuracy import Accuracy
from annotation.pipeline.trust.standing import Event, Trust, decode_event

WORKERS_PER_PAGE = 50
EVENTS_SHOWN = 200
PAYMENTS_SHOWN = 20
# How many appeals one page shows; the others follow when these are answered.
APPEALS_SHOWN = 50


class StandingLine(msgspec.Struct, frozen=True):
    """A worker's standing at a stage, with what it takes there."""

    row: models.WorkerStanding
    stage: Stage
    trust: Trust
    accuracy: Accuracy
    minimum: float
    reason: str


class SittingCount(msgspec.Struct, frozen=True):
    """Sittings of a worker at a stage."""

    stage: Stage
    kind: str
    handed_in: int
    lapsed: int
    open: int
    last_at: datetime


class WorkerHistory(msgspec.Struct, frozen=True):
    """Everything known about a worker, in one campaign or in all."""

    standings: tuple[StandingLine, ...]
    events: tuple[tuple[models.TrustEvent, Event], ...]
    # There were more than are listed.
    is_cut: bool
    sittings: tuple[SittingCount, ...]
    appeals: tuple[models.Appeal, ...]
    payments: tuple[models.Payment, ...]
    paid_cents: int
    payment_count: int


def standing_lines(rows: Iterable[models.WorkerStanding]) -> list[StandingLine]:
    """Return where these workers stand. The rows come with `campaign__current_settings`."""
    settings: dict[int, Settings] = {}
    lines = []
    for row in rows:
        version = row.campaign.current_settings
        assert version is not None  # every campaign is made with settings
        numbers = settings.setdefault(version.pk, version.settings)
        standing, stage = row.standing, Stage(row.stage)
        lines.append(
            StandingLine(
                row=row,
                stage=stage,
                trust=Trust(row.trust),
                accuracy=standing.now.accuracy,
                minimum=numbers.minimum_performance[stage],
                reason=standing.reason,
            )
        )
    return lines


def workers_page(
    campaign: models.Campaign, *, trust: str, stage: str, name: str, page: str
) -> "Page[models.Worker]":
    """Return a page of workers with a standing here, the most recently active first.

    Empty arguments filter nobody out. An invalid page number gives the nearest page.
    """
    standing = Q(standings__campaign=campaign)
    if trust:
        standing &= Q(standings__trust=trust)
    if stage:
        standing &= Q(standings__stage=stage)
    if name:
        standing &= Q(name__startswith=name)
    workers = (
        models.Worker.objects.filter(standing)
        .annotate(changed_at=Max("standings__updated_at"))
        .order_by("-changed_at", "pk")
    )
    paginator: Paginator[models.Worker] = Paginator(workers, WORKERS_PER_PAGE)
    return paginator.get_page(page)


def standings_of(
    campaign: models.Campaign, workers: Iterable[models.Worker]
) -> dict[int, list[StandingLine]]:
    """Return the standings of workers in a campaign, by worker, in the order of the stages."""
    rows = (
        models.WorkerStanding.objects.filter(campaign=campaign, worker__in=list(workers))
        .select_related("campaign__current_settings")
        .order_by("pk")
    )
    found: dict[int, list[StandingLine]] = {}
    for line in _by_stage(standing_lines(rows)):
        found.setdefault(line.row.worker_id, []).append(line)
    return found


def standings_count(campaign: models.Campaign) -> dict[Stage, dict[Trust, int]]:
    """Count workers by stage and trust."""
    found: dict[Stage, dict[Trust, int]] = {stage: {} for stage in Stage}
    rows = models.WorkerStanding.objects.filter(campaign=campaign)
    for stage, trust, count in (
        rows.values_list("stage", "trust").annotate(rows=Count("pk")).order_by()
    ):
        found[Stage(stage)][Trust(trust)] = count
    return found


def worker_history(worker: models.Worker, campaign: models.Campaign | None = None) -> WorkerHistory:
    """Return what is known of a worker, in a constant few statements."""
    of = {"campaign": campaign} if campaign is not None else {}
    standings = models.WorkerStanding.objects.filter(worker=worker, **of)
    events = models.TrustEvent.objects.filter(worker=worker, **of).select_related("campaign")
    newest = list(events.order_by("-pk")[: EVENTS_SHOWN + 1])
    appeals = models.Appeal.objects.filter(standing__in=standings)
    payments = models.Payment.objects.filter(assignment__worker=worker, **of)
    paid = payments.aggregate(cents=Sum("cents"), count=Count("pk"))
    return WorkerHistory(
        standings=tuple(
            _by_stage(standing_lines(standings.select_related("campaign__current_settings")))
        ),
        events=tuple((event, decode_event(event.body)) for event in newest[:EVENTS_SHOWN]),
        is_cut=len(newest) > EVENTS_SHOWN,
        sittings=tuple(_sittings(worker, campaign)),
        appeals=tuple(appeals.select_related("standing").order_by("-pk")),
        payments=tuple(payments.select_related("campaign").order_by("-pk")[:PAYMENTS_SHOWN]),
        paid_cents=paid["cents"] or 0,
        payment_count=paid["count"],
    )


def appeals_open(campaign: models.Campaign) -> list[models.Appeal]:
    """Return the appeals that wait for an answer, the oldest first, with who made them."""
    return list(
        models.Appeal.objects.filter(standing__campaign=campaign, decided_at=None)
        .select_related("standing__worker", "standing__campaign__current_settings")
        .order_by("pk")[:APPEALS_SHOWN]
    )


def _sittings(worker: models.Worker, campaign: models.Campaign | None) -> Iterable[SittingCount]:
    rows = models.Sitting.objects.filter(worker=worker)
    if campaign is not None:
        rows = rows.filter(campaign=campaign)
    counts = rows.values_list("stage", "kind").annotate(
        handed_in=Count("pk", filter=Q(status=SittingStatus.FINISHED)),
        lapsed=Count("pk", filter=Q(status=SittingStatus.LAPSED)),
        open=Count("pk", filter=Q(status=SittingStatus.OPEN)),
        last_at=Max("opened_at"),
    )
    found = {(stage, kind): rest for stage, kind, *rest in counts.order_by()}
    for stage in Stage:
        for kind in models.SittingKind.values:
            if (stage.value, kind) in found:
                handed_in, lapsed, still_open, last_at = found[stage.value, kind]
                yield SittingCount(
                    stage=stage,
                    kind=kind,
                    handed_in=handed_in,
                    lapsed=lapsed,
                    open=still_open,
                    last_at=last_at,
                )


def _by_stage(lines: list[StandingLine]) -> list[StandingLine]:
    stages = list(Stage)
    return sorted(lines, key=lambda line: (-line.row.campaign_id, stages.index(line.stage)))
