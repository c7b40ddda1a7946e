"""The estimates that the dashboard shows."""

from typing import NamedTuple

from annotation import models
from annotation.models.estimates import UNDER_WAY


class Estimates(NamedTuple):
    """The estimate in progress, and the latest one before it."""

    under_way: models.StoredEstimate | None
    last: models.StoredEstimate | None


def campaign_estimates(campaign: models.Campaign) -> Estimates:
    """Return a campaign's newest estimates, in one statement."""
    newest = list(
        models.StoredEstimate.objects.filter(campaign=campaign)
        .select_related("settings")
        .order_by("-pk")[:2]
    )
    if newest and newest[0].status in UNDER_WAY:
        return Estimates(newest[0], newest[1] if len(newest) > 1 else None)
    return Estimates(None, newest[0] if newest else None)
