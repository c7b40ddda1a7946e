"""What the dashboard shows: a constant few statements per page, however large the campaign is."""

from collections import Counter, defaultdict
from collections.abc import Mapping
from datetime import datetime
from typing import TypeVar

import msgspec
from django.core.paginator import Page, Paginator
from django.db.models import Count, Model, Prefetch, Q, QuerySet, Sum, Value
from django.db.models.functions import Left, StrIndex
from django.utils import timezone

from annotation import models
from annotation.models import ImageStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.state import BoxStatus, Phase
from common.cache import cached
from common.rows import only_row

IMAGES_PER_PAGE = 24
RECENT_FACTS = 20
# Up to this many facts, judgments are counted at every view of the page. Beyond that, counting
# takes seconds, so the numbers may be as old as this.
FACTS_COUNTED_AT_ONCE = 100_000
COUNT_SECONDS = 300

Row = TypeVar("Row", bound=Model)


class CampaignSummary(msgspec.Struct, frozen=True):
    """A campaign in a few numbers; `statuses` counts its images."""

    campaign: models.Campaign
    statuses: Mapping[str, int]
    judgments: int = 0
    chains: int = 0
    boxes: int = 0

    @property
    def images(self) -> int:
        return sum(self.statuses.values())


class StageWork(msgspec.Struct, frozen=True):
    """One stage: judgments recorded, those that counted, who gave them, and what is still open."""

    stage: Stage
    recorded: int
    counted: int
    workers: int
    open: int

    @property
    def late(self) -> int:
        """Judgments that came after the question was settled: stored, not counted."""
        return self.recorded - self.counted


class ReviewReason(msgspec.Struct, frozen=True):
    """Why chains wait for a reviewer, and how many; an empty reason is the image's captions."""

    reason: str
    chains: int
    images: int


class JudgmentCount(msgspec.Struct, frozen=True):
    """Judgments by stage at one moment: recorded, counted, and by how many workers."""

    at: datetime
    recorded: Mapping[str, int]
    counted: Mapping[str, int]
    workers: Mapping[str, int]
    all_workers: int


class CampaignWork(msgspec.Struct, frozen=True):
    """What happened in a campaign so far. `counted_at` is None if judgments were counted now."""

    statuses: Mapping[str, int]
    stages: tuple[StageWork, ...]
    workers: int
    counted_at: datetime | None
    phases: Mapping[str, int]
    boxes: Mapping[str, int]
    reasons: tuple[ReviewReason, ...]

    @property
    def images(self) -> int:
        return sum(self.statuses.values())

    @property
    def judgments(self) -> int:
        return sum(stage.recorded for stage in self.stages)

    @property
    def counted(self) -> int:
        return sum(stage.counted for stage in self.stages)

    @property
    def late(self) -> int:
        return sum(stage.late for stage in self.stages)

    @property
    def open(self) -> int:
        return sum(stage.open for stage in self.stages)

    @property
    def chains(self) -> int:
        return sum(self.phases.values())

    @property
    def accepted_boxes(self) -> int:
        return self.boxes.get(BoxStatus.ACCEPTED.value, 0)


def campaign_summaries() -> list[CampaignSummary]:
    """Return every campaign, the newest first."""
    statuses: dict[int, dict[str, int]] = defaultdict(dict)
    facts: Counter[int] = Counter()
    for campaign, status, images, seen in (
        models.StoredState.objects.values_list("image__campaign", "status")
        .annotate(images=Count("pk"), seen=Sum("facts"))
        .order_by()
    ):
        statuses[campaign][status] = images
        facts[campaign] += seen
    # Judgments are nearly all of the facts. The others are counted with an index, without reading
    # all the facts.
    others = _per_campaign(models.Fact.objects.filter(worker=None))
    chains = _per_campaign(models.Chain.objects.all())
    boxes = _per_campaign(models.Box.objects.filter(status=BoxStatus.ACCEPTED.value))
    return [
        CampaignSummary(
            campaign=campaign,
            statuses=statuses[campaign.pk],
            judgments=facts[campaign.pk] - others.get(campaign.pk, 0),
            chains=chains.get(campaign.pk, 0),
            boxes=boxes.get(campaign.pk, 0),
        )
        for campaign in models.Campaign.objects.order_by("-pk")
    ]


def campaign_work(campaign: models.Campaign) -> CampaignWork:
    """Return the numbers of a campaign's page."""
    images = models.StoredState.objects.filter(image__campaign=campaign)
    statuses: dict[str, int] = {}
    facts = 0
    for status, count, seen in (
        images.values_list("status").annotate(images=Count("pk"), seen=Sum("facts")).order_by()
    ):
        statuses[status] = count
        facts += seen
    phases = _counts(models.Chain.objects.filter(image__campaign=campaign), "phase")
    judgments = _judgments(campaign, facts)
    still_open = _counts(models.OpenQuestion.objects.filter(campaign=campaign), "stage")
    return CampaignWork(
        statuses=statuses,
        stages=tuple(
            StageWork(
                stage=stage,
                recorded=judgments.recorded.get(stage.value, 0),
                counted=judgments.counted.get(stage.value, 0),
                workers=judgments.workers.get(stage.value, 0),
                open=still_open.get(stage.value, 0),
            )
            for stage in Stage
        ),
        workers=judgments.all_workers,
        counted_at=judgments.at if facts > FACTS_COUNTED_AT_ONCE else None,
        phases={phase.value: phases.get(phase.value, 0) for phase in Phase},
        boxes=_counts(models.Box.objects.filter(image__campaign=campaign), "status"),
        reasons=_reasons(campaign),
    )


def recent_facts(campaign: models.Campaign) -> list[models.Fact]:
    """Return the newest facts, the newest first, with the image and state that they are about.

    Withdrawn images are left out.
    """
    # The newest facts belong to the images that changed last, so only those are read. A few more
    # are read because several images may have changed at the same moment.
    changed = (
        models.StoredState.objects.filter(image__campaign=campaign, facts__gt=0)
        .exclude(status=ImageStatus.WITHDRAWN)
        .order_by("-updated_at", "-pk")
        .values("pk")[: 2 * RECENT_FACTS]
    )
    facts = models.Fact.objects.filter(image_id__in=changed)
    return list(facts.select_related("image__stored_state").order_by("-pk")[:RECENT_FACTS])


def images_page(
    campaign: models.Campaign, *, statuses: Mapping[str, int], status: str, page: str
) -> "Page[models.Image]":
    """Return a page of images by name; `first_captions` and `in_review` come with each.

    `statuses` are the numbers of images by status; an empty `status` means all. An invalid page
    number gives the nearest existing page.
    """
    images = models.Image.objects.filter(campaign=campaign).order_by("name")
    if status:
        images = images.filter(stored_state__status=status)
    images = (
        images.select_related("stored_state")
        .defer("stored_state__body")
        .prefetch_related(
            Prefetch(
                "captions",
                queryset=models.Caption.objects.filter(number=1),
                to_attr="first_captions",
            ),
            Prefetch(
                "chains",
                queryset=models.Chain.objects.filter(phase=Phase.REVIEW.value).order_by("number"),
                to_attr="in_review",
            ),
        )
    )
    total = statuses.get(status, 0) if status else sum(statuses.values())
    paginator: Paginator[models.Image] = Paginator(images, IMAGES_PER_PAGE)
    # Known already, so the paginator need not count: `count` is computed once, unless it is set.
    paginator.count = total
    return paginator.get_page(page)


def image_find(campaign_id: int, name: str) -> models.Image | None:
    """Return an image with its campaign and state."""
    return only_row(
        models.Image.objects.select_related("campaign", "stored_state").filter(
            campaign_id=campaign_id, name=name
        )
    )


def image_facts(image: models.Image) -> list[models.Fact]:
    """Return the image's facts, the newest first."""
    return list(models.Fact.objects.filter(image=image).order_by("-number"))


def image_neighbours(image: models.Image) -> tuple[str, str]:
    """Return the names of the images before and after this one; empty where there is none."""
    names = models.Image.objects.filter(campaign_id=image.campaign_id).values_list(
        "name", flat=True
    )
    before = names.filter(name__lt=image.name).order_by("-name").first()
    after = names.filter(name__gt=image.name).order_by("name").first()
    return before or "", after or ""


def _judgments(campaign: models.Campaign, facts: int) -> JudgmentCount:
    if facts <= FACTS_COUNTED_AT_ONCE:
        return _judgments_count(campaign)
    return cached(
        f"dashboard:judgments:{campaign.pk}",
        JudgmentCount,
        lambda: _judgments_count(campaign),
        seconds=COUNT_SECONDS,
    )


def _judgments_count(campaign: models.Campaign) -> JudgmentCount:
    """Count in one pass over the facts."""
    recorded: Counter[str] = Counter()
    counted: Counter[str] = Counter()
    workers: Counter[str] = Counter()
    everyone: set[int | None] = set()
    for worker, stage, given, good in (
        models.Fact.objects.filter(image__campaign=campaign, kind="judgment")
        .annotate(stage=Left("question", StrIndex("question", Value("/")) - 1))
        .values_list("worker", "stage")
        .annotate(given=Count("pk"), good=Count("pk", filter=Q(counted=True)))
        .order_by()
    ):
        recorded[stage] += given
        counted[stage] += good
        workers[stage] += 1
        everyone.add(worker)
    return JudgmentCount(
        at=timezone.now(),
        recorded=dict(recorded),
        counted=dict(counted),
        workers=dict(workers),
        all_workers=len(everyone),
    )


def _reasons(campaign: models.Campaign) -> tuple[ReviewReason, ...]:
    waiting = models.Chain.objects.filter(image__campaign=campaign, phase=Phase.REVIEW.value)
    found = [
        ReviewReason(reason=reason, chains=chains, images=images)
        for reason, chains, images in waiting.values_list("review")
        .annotate(chains=Count("pk"), images=Count("image", distinct=True))
        .order_by("-chains", "review")
    ]
    # If an image waits but none of its chains does, it waits for its captions.
    captions = models.StoredState.objects.filter(
        image__campaign=campaign, status=ImageStatus.REVIEW
    ).exclude(image__in=waiting.values("image"))
    images = captions.count()
    if images:
        found.append(ReviewReason(reason="", chains=0, images=images))
    return tuple(found)


def _per_campaign(rows: QuerySet[Row]) -> dict[int, int]:
    counts = rows.values_list("image__campaign").annotate(rows=Count("pk")).order_by()
    return dict(counts)


def _counts(rows: QuerySet[Row], column: str) -> dict[str, int]:
    counts = rows.values_list(column).annotate(rows=Count("pk")).order_by()
    return dict(counts)
