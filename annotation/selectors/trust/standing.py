"""Where workers stand, and everything a worker has done at a stage, in order."""

from collections.abc import Collection, Iterator

from annotation import models
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.protocol.facts import Judgment, decode_body
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.drawing_checks import Drawing
from annotation.pipeline.trust.revocation import Work
from annotation.pipeline.trust.standing import Checked, Standing, decode_event, follow
from annotation.selectors.protocol.state import settings_by_id
from common.rows import only_row

# An image and the number of one of its judgments.
Place = tuple[int, int]


def standing_of(campaign: models.Campaign, worker: models.Worker, stage: Stage) -> Standing:
    """Return where a worker stands at a stage of a campaign."""
    row = only_row(
        models.WorkerStanding.objects.filter(campaign=campaign, worker=worker, stage=stage.value)
    )
    return row.standing if row else Standing()


def work_of(campaign: models.Campaign, worker: models.Worker, stage: Stage) -> list[Work[Place]]:
    """Return a worker's confirmed answers at a stage, oldest first, in three statements.

    Answers to gold questions are checks; judgments of drawings are both, once judged.
    """
    judged = {
        (image_id, key): number
        for image_id, key, number in models.Fact.objects.filter(
            worker=worker, image__campaign=campaign, question__startswith=f"{stage.value}/"
        ).values_list("image_id", "question", "number")
    }
    passed = _checks(campaign, worker, stage)
    asked = models.SittingQuestion.objects.filter(
        sitting__campaign=campaign,
        sitting__worker=worker,
        sitting__stage=stage.value,
        sitting__kind=SittingKind.WORK,
        sitting__status=SittingStatus.FINISHED,
    ).exclude(answer="")
    work: list[Work[Place]] = []
    rows = asked.order_by("sitting__finished_at", "sitting_id", "number")
    for row in rows.only("image_id", "key", "gold_id", "right"):
        place = (row.image_id, row.key)
        if row.gold_id is not None:
            work.append(Work(passed=row.right))
        elif place in judged:
            number = judged[place]
            check = passed.get(drawing_key(row.image_id, number))
            work.append(Work(judgment=(row.image_id, number), passed=check))
    return work


def drawing_key(image_id: int, judgment: int) -> str:
    """Return the key of the event that records whether a drawing was right."""
    return f"drawing/{image_id}/{judgment}"


def _checks(campaign: models.Campaign, worker: models.Worker, stage: Stage) -> dict[str, bool]:
    found = {}
    if stage is Stage.DRAWING:
        events = models.TrustEvent.objects.filter(
            campaign=campaign, worker=worker, stage=stage.value, key__startswith="drawing/"
        )
        for key, body in events.values_list("key", "body"):
            event = decode_event(body)
            assert isinstance(event, Checked)
            found[key] = event.right
    return found


def drawings_of(images: Collection[int]) -> dict[int, list[Drawing]]:
    """Return the drawings of images that counted, in one statement."""
    facts = models.Fact.objects.filter(
        image_id__in=images, question__startswith=f"{Stage.DRAWING.value}/", counted=True
    )
    found: dict[int, list[Drawing]] = {image_id: [] for image_id in images}
    for fact in facts.order_by("number"):
        body = decode_body(fact.body)
        assert isinstance(body, Judgment)  # only judgments have a question
        found[fact.image_id].append(
            Drawing(fact.number, body.worker, body.question.subject[0], body.rect)
        )
    return found


def standing_differences(campaign: models.Campaign | None = None) -> Iterator[str]:
    """Yield the stored standings that differ from their events, one statement for each."""
    settings = settings_by_id()
    events = models.TrustEvent.objects.order_by("pk")
    rows = models.WorkerStanding.objects.select_related("worker").order_by("pk")
    if campaign is not None:
        rows = rows.filter(campaign=campaign)
    for row in rows.iterator(chunk_size=1000):
        standing = Standing()
        of_row = events.filter(campaign=row.campaign_id, worker=row.worker_id, stage=row.stage)
        for body, version in of_row.values_list("body", "settings_id"):
            standing = follow(standing, decode_event(body), Stage(row.stage), settings[version])
        if (row.standing, row.trust) != (standing, standing.trust.value):
            told = f"stored as {row.trust}, but {standing.trust} by its events"
            yield f"{row.worker.name} at {row.stage}: {told}"
