"""Which HITs to ask the marketplace about now, so that no two processes ask about one."""

from collections.abc import Sequence
from datetime import timedelta

from django.db import transaction

from annotation import models
from annotation.selectors.crowd.hits import LOOK_SOON
from common.clock import database_now

# Whoever looks has this long; then others may.
CLAIM = timedelta(seconds=45)


@transaction.atomic
def hits_claim(*, most: int) -> list[models.Hit]:
    """Take HITs that are due, the longest due first, and keep others from them for a while."""
    now = database_now()
    due = list(
        models.Hit.objects.select_for_update(skip_locked=True)
        .filter(look_at__lte=now, hit_id__isnull=False)
        .order_by("look_at", "pk")
        .values_list("pk", flat=True)[:most]
    )
    if not due:
        return []
    models.Hit.objects.filter(pk__in=due).update(look_at=now + CLAIM)
    return list(
        models.Hit.objects.filter(pk__in=due)
        .select_related("campaign__current_settings", "terms")
        .order_by("pk")
    )


def hits_give_back(*, hits: Sequence[models.Hit]) -> None:
    """Let others look at HITs that were claimed and not looked at."""
    for hit in hits:
        hit_look_again(hit=hit, after=timedelta())


def hit_look_again(*, hit: models.Hit, after: timedelta) -> None:
    """Ask about a HIT again then, unless we have heard of it since it was claimed."""
    models.Hit.objects.filter(pk=hit.pk, look_at=hit.look_at).update(look_at=database_now() + after)


def hit_look_soon(*, hit_id: str) -> None:
    """Ask about a HIT before long: somebody has handed it in, whether we hear of it or not."""
    soon = database_now() + LOOK_SOON
    models.Hit.objects.filter(hit_id=hit_id, look_at__gt=soon).update(look_at=soon)
