"""Who comes to a task, and with which HIT: all that opening a sitting needs, in a few statements.

The parameters of the page's address are only a claim. A HIT that we did not publish, and a worker
whom the stage does not trust, get nothing. The marketplace's signature proves that the worker has
accepted the HIT; without it, no more sittings are open than the HIT has places.
"""

from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.conf import settings as site
from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery, Value
from django.db.models.functions import Coalesce, Now

from annotation import models
from annotation.models import CONSENT, HitStatus, SittingKind, SittingStatus
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.trust.standing import Standing
from annotation.selectors.work.sittings import Claim, claim_proof, sittings_live, worker_mark
from common.rows import only_row

# Sittings of one place at a time: a returned HIT's next worker may come before we hear of it, but
# questions must not be held without end.
MOST_AT_A_PLACE = 3
# How long an unproven try of a test counts. The worker it names may know nothing about it, and must
# not lose the test for good.
UNPROVEN_TRY = timedelta(days=1)


class Arrived(msgspec.Struct, frozen=True):
    """A claim, compared with what we know."""

    hit: models.Hit
    campaign: models.Campaign
    settings: Settings
    # None: we know no worker of this name.
    worker: models.Worker | None
    # The number of the consent text as it is now; None: nobody has agreed to it yet.
    consent: int | None
    # Whether the worker has agreed to it, and whether that is noted as theirs.
    consented: bool
    is_consent_stored: bool
    standing: Standing
    now: datetime
    is_proven: bool
    # We have heard that the place was given back after this worker had accepted it.
    is_given_back: bool
    # There are too many sittings at the HIT for this one to be real.
    is_crowded: bool
    # How often the worker has opened the stage's test.
    tests: int


def is_proof_required() -> bool:
    """Tell whether the marketplace proves that a worker has accepted what they come with."""
    return bool(site.CHAINBOX_CROWD_PROOF == "required")


def arrive(claim: Claim) -> Arrived | None:
    """Return what is known of a claim; None if the HIT is not ours."""
    hit = _hit(claim)
    if hit is None:
        return None
    worker = _worker(claim)
    body = worker.standing_body if worker else None
    is_stored = worker.consented if worker else False
    is_kept = claim.agreed > 0 and claim.agreed == hit.consent_version
    room = _room(hit, claim)
    return Arrived(
        hit=hit,
        campaign=hit.campaign,
        settings=hit.campaign.settings,
        worker=worker,
        consent=hit.consent,
        consented=is_stored or is_kept or _has_agreed_before(claim, hit.consent),
        is_consent_stored=is_stored,
        standing=msgspec.json.decode(body, type=Standing) if body else Standing(),
        now=hit.now,
        is_proven=claim.acceptance is not None,
        is_given_back=_is_given_back(hit, claim),
        is_crowded=room.is_crowded,
        tests=room.tests,
    )


def _hit(claim: Claim) -> Any:
    consent = _consent_text(claim)
    return only_row(
        models.Hit.objects.select_related("campaign__current_settings")
        .annotate(
            consent=Subquery(consent.values("pk")),
            consent_version=Subquery(consent.values("version")),
            others=_number(_others(claim)) if _is_proven_work(claim) else Value(0),
            now=Now(),
        )
        .filter(
            hit_id=claim.hit_id,
            campaign=claim.campaign,
            stage=claim.stage.value,
            kind=claim.kind,
        )
    )


def _has_agreed_before(claim: Claim, consent: int | None) -> bool:
    """Tell whether the worker agreed when they opened the sitting that they come back to."""
    return consent is not None and sittings_live(claim).filter(agreed=consent).exists()


def _worker(claim: Claim) -> Any:
    of_worker = models.WorkerStanding.objects.filter(
        campaign=claim.campaign, stage=claim.stage.value, worker=OuterRef("pk")
    )
    consents = models.Consent.objects.filter(
        worker=OuterRef("pk"), guide=Subquery(_consent_text(claim).values("pk"))
    )
    return only_row(
        models.Worker.objects.filter(name=claim.worker).annotate(
            consented=Exists(consents), standing_body=Subquery(of_worker.values("body"))
        )
    )


class Room(msgspec.Struct, frozen=True):
    """Whether there is room for one more sitting, asked again under a lock."""

    is_crowded: bool
    tests: int


def room_lock(claim: Claim) -> Room:
    """Let one sitting of a task be opened at a time, and return whether there is room for it.

    Called in a transaction, before any sitting is locked. Tests are counted over all HITs of the
    stage, so the stage's first test HIT is locked for all of them.
    """
    hits = models.Hit.objects.filter(
        campaign=claim.campaign, stage=claim.stage.value, kind=claim.kind
    )
    if claim.kind == SittingKind.WORK:
        hits = hits.filter(hit_id=claim.hit_id)
    gate = hits.order_by("pk").values("pk")[:1]
    list(models.Hit.objects.select_for_update(no_key=True).filter(pk__in=gate).values("pk"))
    return _room(_hit(claim), claim)


def is_publishing(claim: Claim) -> bool:
    """Tell whether HITs of this task are on their way to the marketplace."""
    return models.Hit.objects.filter(
        campaign=claim.campaign,
        stage=claim.stage.value,
        kind=claim.kind,
        status__in=[HitStatus.CREATING, HitStatus.CLOSING],
        hit_id=None,
    ).exists()


def _room(hit: Any, claim: Claim) -> Room:
    """Count the sittings that leave room for this one, or none, and the worker's tests."""
    return Room(
        is_crowded=_is_crowded(hit, claim),
        tests=_tests(claim) if claim.kind == SittingKind.TEST else 0,
    )


def _is_crowded(hit: Any, claim: Claim) -> bool:
    if claim.acceptance is None:
        others = _others(claim, hit.hit_id).aggregate(
            all=Count("pk"), own=Count("pk", filter=_of_worker(claim))
        )
        return bool(others["all"] >= hit.places or others["own"])
    # The marketplace gives a test no more places than it has, and a test holds no questions.
    return _is_proven_work(claim) and bool(hit.others >= MOST_AT_A_PLACE * hit.places)


def _is_proven_work(claim: Claim) -> bool:
    return claim.acceptance is not None and claim.kind == SittingKind.WORK


def _is_given_back(hit: models.Hit, claim: Claim) -> bool:
    # A HIT that holds questions has one place, so the last return was of that place.
    if hit.given_back_at is None or hit.kind != SittingKind.WORK or hit.places != 1:
        return False
    if claim.acceptance is None:
        return hit.is_free
    # The marketplace gives whole seconds: a worker who accepts within the same one is let in.
    return claim.acceptance.accepted < hit.given_back_at.timestamp() * 1000


def _of_worker(claim: Claim) -> Q:
    return Q(worker__name=claim.worker) | Q(mark=worker_mark(claim.worker))


def _others(claim: Claim, hit_id: str | OuterRef | None = None) -> QuerySet[models.Sitting]:
    """Return the sittings at a HIT besides the claim's own; by default those of the outer query."""
    return (
        models.Sitting.objects.filter(
            # A submitted, unconfirmed sitting counts too: its questions are still reserved.
            hit_id=hit_id or OuterRef("hit_id"),
            confirmed_at=None,
            until__gt=Now(),
        )
        .exclude(status=SittingStatus.LAPSED)
        .exclude(proof=claim_proof(claim))
    )


def _number(sittings: QuerySet[models.Sitting]) -> Any:
    counted = sittings.order_by().values("hit_id").annotate(number=Count("pk")).values("number")
    return Coalesce(Subquery(counted), 0)


def _tests(claim: Claim) -> int:
    # Tests count from the moment they are opened: a worker who gives one back has seen answers. The
    # current one does not count, because a second request may be opening it.
    counts = Q(is_proven=True) | Q(confirmed_at__isnull=False)
    opened = models.Sitting.objects.filter(
        counts | Q(opened_at__gt=Now() - UNPROVEN_TRY),
        campaign=claim.campaign,
        stage=claim.stage.value,
        kind=SittingKind.TEST,
    ).exclude(pk__in=sittings_live(claim).values("pk"))
    # Two separate counts, so that the database uses an index for each.
    by_name = opened.filter(worker__name=claim.worker).count()
    return by_name + opened.filter(mark=worker_mark(claim.worker)).count()


def _consent_text(claim: Claim) -> QuerySet[models.Guide]:
    guides = models.Guide.objects.filter(campaign=claim.campaign, topic=CONSENT)
    return guides.order_by("-version")[:1]
