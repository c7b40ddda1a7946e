"""Gold questions: how many there are, and which a worker gets."""

from collections.abc import Iterable, Iterator

from django.db.models import BooleanField, Count, Exists, OuterRef, Q, QuerySet, Value

from annotation import models
from annotation.pipeline.gold.gold_question import GoldSource, Offer, choose_gold
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of

# How many candidates are read per wanted question and answer: enough to choose different images,
# and never more, however many questions there are.
READ_PER_WANTED = 4


def gold_in_use(campaign: models.Campaign) -> QuerySet[models.GoldQuestion]:
    """Return the gold questions that can be asked: not retired, and the photo is there."""
    return models.GoldQuestion.objects.filter(
        campaign=campaign, retired_at=None, image__withdrawn_at=None
    ).exclude(image__file="")


def gold_available(campaign: models.Campaign) -> dict[Stage, dict[str, int]]:
    """Count the gold questions that can be asked, by stage and answer. One statement."""
    found: dict[Stage, dict[str, int]] = {}
    counts = gold_in_use(campaign).values_list("stage", "answer").annotate(Count("pk"))
    for stage, answer, count in counts.order_by("stage", "answer"):
        found.setdefault(Stage(stage), {})[answer] = count
    return found


def gold_for(
    campaign: models.Campaign, stage: Stage, worker: models.Worker, count: int, seed: str
) -> list[models.GoldQuestion]:
    """Choose up to `count` gold questions of a stage for a worker, in random order.

    Leaves out questions that the worker was asked before, even in a lapsed sitting, and those that
    rest on the worker's own judgments. Uses images that the worker has judged at the stage only if
    there are no others with the answer: it may be the same question, and only gold questions are
    repeated. The seed must contain a secret. One statement, which reads a few rows per answer, the
    least used first; the caller that hands the questions out increases their use counts.
    """
    answers = spec_of(stage).answers if count > 0 and spec_of(stage).has_gold else ()
    branches = []
    for answer in answers:
        unseen = _unseen(campaign, stage, worker, answer)
        of_new_images = unseen.filter(~Exists(_judged(stage, worker)))
        for found, is_new in ((of_new_images, True), (unseen, False)):
            # SQLite allows no LIMIT in the parts of a union, but allows it in their subqueries.
            first = found.values("pk")[: READ_PER_WANTED * count]
            branch = models.GoldQuestion.objects.filter(pk__in=first)
            branches.append(branch.annotate(is_new=Value(is_new, output_field=BooleanField())))
    if not branches:
        return []
    rows: dict[int, models.GoldQuestion] = {}
    new: set[int] = set()
    for row in branches[0].union(*branches[1:], all=True):
        rows[row.pk] = row
        if row.is_new:
            new.add(row.pk)
    offers = [
        Offer(
            number=row.pk,
            image=str(row.image_id),
            answer=row.answer,
            uses=row.uses,
            is_judged=row.pk not in new,
        )
        for row in rows.values()
    ]
    return [rows[number] for number in choose_gold(offers, (), count, seed)]


def _judged(stage: Stage, worker: models.Worker) -> QuerySet[models.Fact]:
    """Return the worker's judgments at a stage about a gold question's image."""
    return models.Fact.objects.filter(
        image=OuterRef("image"), worker=worker, question__startswith=f"{stage.value}/"
    )


def _unseen(
    campaign: models.Campaign, stage: Stage, worker: models.Worker, answer: str
) -> QuerySet[models.GoldQuestion]:
    asked = models.SittingQuestion.objects.filter(gold=OuterRef("pk"), sitting__worker=worker)
    # The workers come last in a body, and nothing else in a body can look like this.
    own = Q(source=GoldSource.UNANIMOUS, body__regex=rf'"workers":\[([0-9]+,)*{worker.pk}[],]')
    return (
        gold_in_use(campaign)
        .filter(~Exists(asked), stage=stage.value, answer=answer)
        .exclude(own)
        # Sorted by this alone, the index's order: with any second key the database would have to
        # read all rows of equal use.
        .order_by("uses")
    )


def gold_with_captions(
    campaign: models.Campaign, stages: Iterable[str]
) -> Iterator[models.GoldQuestion]:
    """Yield these stages' gold questions in use with their images' captions, oldest first."""
    rows = models.GoldQuestion.objects.filter(
        campaign=campaign, stage__in=list(stages), retired_at=None, image__withdrawn_at=None
    )
    rows = rows.select_related("image").prefetch_related("image__captions").order_by("pk")
    yield from rows.iterator(chunk_size=500)
