"""What is known about gold questions in use: how they were answered, what they rest on."""

from collections import defaultdict
from collections.abc import Collection

import msgspec
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from annotation import models
from annotation.pipeline.gold.gold_question import GoldAnswer, GoldSource
from annotation.pipeline.gold.upkeep import likely_accuracy
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import WORKING, Tally

# How many are compared with their image in one run; the next run comes soon.
MOST = 500


class Answered(msgspec.Struct, frozen=True):
    """How often a gold question was answered right, and how often not."""

    gold: int
    right: int
    wrong: int


def gold_answered(campaign: models.Campaign) -> list[Answered]:
    """Count the graded answers to each gold question in use, in one statement."""
    rows = (
        _askings(campaign)
        .filter(right__isnull=False)
        .values_list("gold")
        .annotate(
            rights=Count("pk", filter=Q(right=True)), wrongs=Count("pk", filter=Q(right=False))
        )
    )
    return [Answered(*row) for row in rows.order_by("gold")]


def gold_runs(campaign: models.Campaign, golds: Collection[int]) -> dict[int, list[GoldAnswer]]:
    """Return the right answers to these questions since the last wrong one, oldest first.

    Each comes with the probability that its worker answers right. Two statements.
    """
    if not golds:
        return {}
    later = models.SittingQuestion.objects.filter(
        gold=OuterRef("gold"), right=False, pk__gt=OuterRef("pk")
    )
    rows = list(
        _askings(campaign)
        .filter(~Exists(later), right=True, gold__in=golds)
        .order_by("pk")
        .values_list("gold", "gold__stage", "sitting__worker")
    )
    standings = models.WorkerStanding.objects.filter(
        campaign=campaign, worker__in={worker for _, _, worker in rows}
    )
    tallies = {(row.worker_id, row.stage): row.standing.now for row in standings}
    runs: dict[int, list[GoldAnswer]] = defaultdict(list)
    for gold, stage, worker in rows:
        accuracy = likely_accuracy(tallies.get((worker, stage), Tally()))
        runs[gold].append(GoldAnswer(right=True, accuracy=accuracy))
    return runs


def gold_shaken(campaign: models.Campaign) -> list[models.GoldQuestion]:
    """Return those made from an image's own chains, if a doubt or decision came since.

    Each comes with the image's state. One statement.
    """
    since = models.Fact.objects.filter(
        image=OuterRef("image"), created_at__gte=OuterRef("created_at")
    ).exclude(kind="judgment")
    rows = models.GoldQuestion.objects.filter(
        Exists(since),
        campaign=campaign,
        retired_at=None,
        image__withdrawn_at=None,
        source__in=[GoldSource.REVIEWED, GoldSource.UNANIMOUS],
    )
    # In random order: questions that were checked before and are good must not crowd out the
    # others.
    return list(rows.select_related("image__stored_state").order_by("?")[:MOST])


def gold_most_seen(campaign: models.Campaign) -> dict[Stage, int]:
    """Return the largest number of questions in use that any one worker has been asked.

    Only workers who may still work at the stage count. One statement.
    """
    working = models.WorkerStanding.objects.filter(
        campaign=campaign,
        worker=OuterRef("sitting__worker"),
        stage=OuterRef("gold__stage"),
        trust__in=WORKING,
    )
    rows = (
        _askings(campaign)
        .filter(Exists(working))
        .values_list("gold__stage", "sitting__worker")
        .annotate(seen=Count("gold", distinct=True))
    )
    most: dict[Stage, int] = defaultdict(int)
    for stage, _, seen in rows:
        most[Stage(stage)] = max(most[Stage(stage)], seen)
    return most


def _askings(campaign: models.Campaign) -> QuerySet[models.SittingQuestion]:
    return models.SittingQuestion.objects.filter(gold__campaign=campaign, gold__retired_at=None)
