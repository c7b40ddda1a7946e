"""Who comes to a task, with which HIT: all that opening a sitting has to know, in two statements.

What the platform's address says is a claim. A HIT that we did not publish, and a worker whom the
stage does not trust, get nothing.
"""

from datetime import datetime
from typing import Any

import msgspec
from django.db.models import Count, Exists, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce, Now

from annotation import models
from annotation.models import CONSENT, HitStatus, SittingKind, SittingStatus
from annotation.pipeline.settings import Settings
from annotation.pipeline.trust import Standing
from annotation.selectors.sittings import Claim, settings_of

# Sittings of one place at a time: a returned HIT's next worker may come before we hear of it, but
# made-up assignments must not hold questions without end.
MOST_AT_A_PLACE = 3


class Arrived(msgspec.Struct, frozen=True):
    """A claim held against what we know."""

    hit: models.Hit
    campaign: models.Campaign
    settings: Settings
    # None: nobody of this name has agreed to anything yet.
    worker: models.Worker | None
    consented: bool
    standing: Standing
    now: datetime
    # Others' sittings at the same HIT.
    others: int
    # Tests of this stage that the worker has finished, confirmed by the marketplace.
    tests: int

    @property
    def is_crowded(self) -> bool:
        """Tell whether too many sittings are open at the HIT for this one to be real."""
        return self.others >= MOST_AT_A_PLACE * self.hit.places


def arrive(claim: Claim) -> Arrived | None:
    """Return what is known of a claim; None if the HIT is none of ours."""
    hit = (
        models.Hit.objects.select_related("campaign__current_settings")
        .annotate(others=Coalesce(Subquery(_others(claim)), 0), now=Now())
        .filter(
            hit_id=claim.hit_id,
            campaign=claim.campaign,
            stage=claim.stage.value,
            kind=claim.kind,
        )
        .first()
    )
    if hit is None:
        return None
    of_worker = models.WorkerStanding.objects.filter(
        campaign=claim.campaign, stage=claim.stage.value, worker=OuterRef("pk")
    )
    worker = (
        models.Worker.objects.filter(name=claim.worker)
        .annotate(
            consented=Exists(_consents(claim)),
            standing_body=Subquery(of_worker.values("body")),
            tests=Coalesce(Subquery(_tests(claim)), 0),
        )
        .first()
    )
    body = worker.standing_body if worker else None
    return Arrived(
        hit=hit,
        campaign=hit.campaign,
        settings=settings_of(hit.campaign),
        worker=worker,
        consented=worker.consented if worker else False,
        standing=msgspec.json.decode(body, type=Standing) if body else Standing(),
        now=hit.now,
        others=hit.others,
        tests=worker.tests if worker else 0,
    )


def is_publishing(claim: Claim) -> bool:
    """Tell whether HITs of this task are on their way to the marketplace."""
    return models.Hit.objects.filter(
        campaign=claim.campaign,
        stage=claim.stage.value,
        kind=claim.kind,
        status__in=[HitStatus.CREATING, HitStatus.CLOSING],
        hit_id=None,
    ).exists()


def _others(claim: Claim) -> QuerySet[models.Sitting, Any]:
    return (
        models.Sitting.objects.filter(
            # Handed in and not confirmed counts too: its questions are kept all the same.
            hit_id=OuterRef("hit_id"),
            kind=SittingKind.WORK,
            confirmed_at=None,
            until__gt=Now(),
        )
        .exclude(status=SittingStatus.LAPSED)
        .exclude(assignment_id=claim.assignment_id, worker__name=claim.worker)
        .values("hit_id")
        .annotate(number=Count("pk"))
        .values("number")
    )


def _consents(claim: Claim) -> QuerySet[models.Consent]:
    current = (
        models.Guide.objects.filter(campaign=claim.campaign, topic=CONSENT)
        .order_by("-version")
        .values("pk")[:1]
    )
    return models.Consent.objects.filter(worker=OuterRef("pk"), guide=Subquery(current))


def _tests(claim: Claim) -> QuerySet[models.Sitting, Any]:
    return (
        models.Sitting.objects.filter(
            worker=OuterRef("pk"),
            campaign=claim.campaign,
            stage=claim.stage.value,
            kind=SittingKind.TEST,
            confirmed_at__isnull=False,
        )
        .values("worker")
        .annotate(number=Count("pk"))
        .values("number")
    )
