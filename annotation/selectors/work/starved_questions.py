"""Open questions that no worker who could be there may answer."""

import random
from collections import defaultdict
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import Count, Exists, F, IntegerField, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, Mod

from annotation import models
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust

# A worker who has opened no sitting for this long is not waited for.
ACTIVE_DAYS = 14


def workers_active(campaign: models.Campaign, now: datetime) -> dict[Stage, set[int]]:
    """Return the workers whose answers of a stage would count and who were there lately.

    These are trusted workers; at Drawing also those on probation, whose boxes Quality checks. One
    statement.
    """
    lately = models.Sitting.objects.filter(
        campaign=campaign,
        worker=OuterRef("worker"),
        opened_at__gte=now - timedelta(days=ACTIVE_DAYS),
    )
    may_draw = Q(stage=Stage.DRAWING.value, trust=Trust.PROBATION.value)
    rows = models.WorkerStanding.objects.filter(
        Q(trust=Trust.TRUSTED.value) | may_draw, Exists(lately), campaign=campaign
    )
    found: dict[Stage, set[int]] = defaultdict(set)
    for stage, worker in rows.values_list("stage", "worker"):
        found[Stage(stage)].add(worker)
    return found


def questions_suspect(
    campaign: models.Campaign, stage: Stage, workers: Collection[int], most: int
) -> list[models.OpenQuestion]:
    """Return questions of a stage that may be starved, and some that are marked so, with states.

    Only workers who have answered something about an image can be barred from a question about it,
    so a question is suspect if each of these workers has. If there are very many questions, each
    call looks at one random part. Two statements.
    """
    questions = models.OpenQuestion.objects.filter(campaign=campaign, stage=stage.value)
    marked = Q(starved_at__isnull=False)
    parts = -(-questions.count() // most) or 1
    part = random.randrange(parts)
    judged = (
        models.Fact.objects.filter(image=OuterRef("image"), worker__in=workers)
        .order_by()
        .values("image")
        .annotate(workers=Count("worker", distinct=True))
        .values("workers")
    )
    rows = (
        questions.annotate(part=Mod(F("pk"), parts))
        .filter(marked | Q(part=part, image__stored_state__facts__gte=len(workers)))
        .annotate(judged=Coalesce(Subquery(judged, output_field=IntegerField()), 0))
        .filter(marked | Q(judged=len(workers)))
    )
    return list(rows.select_related("image__stored_state").order_by("?")[:most])


def judges_of(rows: Collection[models.OpenQuestion]) -> dict[tuple[int, str], set[int]]:
    """Return who has answered these questions before, whether it counted or not: they get none of
    them again. One statement."""
    facts = models.Fact.objects.filter(
        image__in={row.image_id for row in rows}, question__in={row.key for row in rows}
    )
    found: dict[tuple[int, str], set[int]] = defaultdict(set)
    for image, key, worker in facts.values_list("image", "question", "worker"):
        found[image, str(key)].add(worker)
    return found


def questions_starved_since(
    campaign: models.Campaign, before: datetime
) -> QuerySet[models.OpenQuestion]:
    """Return the questions that were marked as starved by then, the longest first."""
    return models.OpenQuestion.objects.filter(campaign=campaign, starved_at__lte=before).order_by(
        "starved_at", "pk"
    )
