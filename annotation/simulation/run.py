"""The simulated crowd at work on a campaign, through the same write path as people."""

from collections import Counter
from collections.abc import Callable
from contextlib import suppress

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.protocol.facts import facts_record, judgments_record, state_lock
from annotation.models import ImageStatus
from annotation.pipeline.protocol.facts import AcceptedImport, FactRefusedError, SendTo, decode_body
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import Crowd
from annotation.simulation.report import SimulationReport, reasons
from annotation.simulation.reviewer import review
from annotation.simulation.work import next_judgments


class SimulationRun(msgspec.Struct, frozen=True):
    """How many judgments this run recorded, and how many questions nobody may answer."""

    judgments: int
    starved: int


def campaign_simulate(
    *,
    campaign: models.Campaign,
    crowd: Crowd,
    limit: int | None = None,
    done: Callable[[], None] = lambda: None,
) -> SimulationRun:
    """Let the crowd answer until nothing can be answered or `limit` judgments are given.

    It takes one image after the other, with all open questions; an interrupted run continues where
    it stopped. `done` is called after each image.
    """
    judgments = starved = 0
    for image_id in _images(campaign, ImageStatus.OPEN, ImageStatus.REVIEW):
        image = models.Image.objects.select_related("answer_key", "stored_state").get(pk=image_id)
        key = answer_key(image)
        state = image.stored_state.state
        while limit is None or judgments < limit:
            batch = list(next_judgments(state, key, crowd, image.name))
            if limit is not None:
                batch = batch[: limit - judgments]
            if not batch:
                break
            outcome = judgments_record(image_id=image.pk, judgments=batch)
            state = outcome.state
            judgments += len(batch)
        else:
            break
        starved += models.OpenQuestion.objects.filter(image_id=image_id).count()
        done()
    return SimulationRun(judgments=judgments, starved=starved)


def campaign_review(
    *, campaign: models.Campaign, crowd_is_done: bool, done: Callable[[], None] = lambda: None
) -> Counter[str]:
    """Let a reviewer with the answer key settle all that is in review; count it by reason.

    If the crowd is done, the reviewer also settles what it left open. `done` is called after each
    image.
    """
    settled: Counter[str] = Counter()
    for image_id in _images(campaign, ImageStatus.OPEN, ImageStatus.REVIEW):
        image = models.Image.objects.select_related("answer_key").get(pk=image_id)
        with suppress(FactRefusedError), transaction.atomic():  # it was withdrawn meanwhile
            # The lock keeps the image unchanged between reading it and deciding.
            state = state_lock(image.pk).state
            decisions = review(
                state, answer_key(image), _settings(campaign), crowd_is_done=crowd_is_done
            )
            if decisions:
                facts_record(bodies={image.pk: decisions})
                settled += reasons(state) + Counter(
                    one.reason for one in decisions if isinstance(one, SendTo) and one.reason
                )
        done()
    return settled


def campaign_report(campaign: models.Campaign) -> SimulationReport:
    """Score every image of the campaign that has an answer key and was worked on."""
    report = SimulationReport()
    settings = _settings(campaign)
    images = (
        models.Image.objects.filter(campaign=campaign, withdrawn_at=None)
        .exclude(answer_key=None)
        .exclude(stored_state__facts=0)
        .select_related("answer_key", "stored_state")
        .prefetch_related("facts")
    )
    for image in images.order_by("pk").iterator(chunk_size=200):
        stages = [Stage(fact.question.split("/")[0]) for fact in image.facts.all() if fact.question]
        report.add(image.stored_state.state, answer_key(image), stages, settings)
    return report


def answer_key(image: models.Image) -> AnswerKey:
    gold = decode_body(image.answer_key.body)
    assert isinstance(gold, AcceptedImport)  # the only kind that an import stores
    return AnswerKey(gold)


def _settings(campaign: models.Campaign) -> Settings:
    version = campaign.current_settings
    assert version is not None  # every campaign is made with settings
    return version.settings


def _images(campaign: models.Campaign, *statuses: ImageStatus) -> list[int]:
    return list(
        models.Image.objects.filter(campaign=campaign)
        .filter(stored_state__status__in=statuses)
        .exclude(answer_key=None)
        .order_by("pk")
        .values_list("pk", flat=True)
    )
