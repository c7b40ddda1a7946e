"""HITs on offer and trusted workers, for tests that begin at the task page."""

import msgspec

from annotation import models
from annotation.actions.crowd.workers import worker_ensure
from annotation.models import HitStatus, SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Standing, Trust


def offered(
    campaign: models.Campaign,
    stage: Stage,
    hit_id: str,
    kind: SittingKind = SittingKind.WORK,
    places: int = 1000,
) -> models.Hit:
    """Let a HIT of this id be one of ours."""
    terms, _ = models.HitTerms.objects.get_or_create(
        campaign=campaign,
        stage=stage.value,
        kind=kind,
        digest="of a test",
        defaults={"body": "{}", "reward_cents": 25, "cost_cents": 25},
    )
    hit, _ = models.Hit.objects.get_or_create(
        hit_id=hit_id,
        defaults={
            "campaign": campaign,
            "stage": stage.value,
            "kind": kind,
            "terms": terms,
            "status": HitStatus.OPEN,
            "places": places,
        },
    )
    return hit


def trusted(
    campaign: models.Campaign, worker: str, stage: Stage, trust: Trust = Trust.TRUSTED
) -> models.WorkerStanding:
    """Give a worker trust at a stage, or another standing."""
    row, _ = models.WorkerStanding.objects.update_or_create(
        campaign=campaign,
        worker=worker_ensure(name=worker),
        stage=stage.value,
        defaults={
            "trust": trust.value,
            "body": msgspec.json.encode(Standing(trust=trust)).decode(),
        },
    )
    return row
