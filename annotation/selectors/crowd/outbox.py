"""The outbox as pages show it."""

from django.core.paginator import Page, Paginator
from django.db.models import Count

from annotation import models
from annotation.models import CallStatus

CALLS_PER_PAGE = 50
FAILED_SHOWN = 10


def calls_count(campaign: models.Campaign) -> dict[str, int]:
    """Count a campaign's calls by status, including statuses without any calls."""
    rows = models.OutboxCall.objects.filter(campaign=campaign)
    counts = dict(rows.values_list("status").annotate(rows=Count("pk")).order_by())
    return {status: counts.get(status, 0) for status in CallStatus.values}


def calls_failed(campaign: models.Campaign) -> list[models.OutboxCall]:
    """Return the latest calls that somebody has to look at."""
    rows = models.OutboxCall.objects.filter(campaign=campaign, status=CallStatus.FAILED)
    return list(rows.select_related("worker").order_by("-pk")[:FAILED_SHOWN])


def calls_page(
    campaign: models.Campaign, *, counts: dict[str, int], status: str, page: str
) -> "Page[models.OutboxCall]":
    """Return a page of calls, the newest first; an empty status means all."""
    rows = models.OutboxCall.objects.filter(campaign=campaign).select_related("worker")
    if status:
        rows = rows.filter(status=status)
    paginator: Paginator[models.OutboxCall] = Paginator(rows.order_by("-pk"), CALLS_PER_PAGE)
    # Counted already.
    paginator.count = counts.get(status, 0) if status else sum(counts.values())
    return paginator.get_page(page)
