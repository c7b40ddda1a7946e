"""Gold questions that are leaked, disputed or no longer sure; stages that run low."""

from collections.abc import Iterable
from itertools import count
from pathlib import Path

import msgspec
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import models
from annotation.actions.corpus.imports import Take
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.gold.gold_questions import gold_make
from annotation.actions.gold.upkeep import gold_review, gold_top_up
from annotation.actions.protocol.facts import doubts_record
from annotation.models import SittingKind, SittingStatus, SupplyStatus
from annotation.pipeline.protocol.facts import Doubt
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Standing, Tally, Trust
from annotation.selectors.gold.gold_questions import gold_available
from tests.corpora import campaign_with_images
from tests.web.campaigns import answer, image_named, small_campaign

pytestmark = pytest.mark.django_db

_numbers = count(1)


@pytest.fixture
def campaign(db: None) -> models.Campaign:
    campaign = campaign_with_images(10, take=Take.ACCEPT)
    models.Image.objects.update(file="images/photo.jpg")
    gold_make(campaign=campaign, stages=[Stage.LINKS, Stage.QUALITY])
    return campaign


def workers_with(
    campaign: models.Campaign, stage: Stage, number: int, *, right: int, checks: int
) -> list[models.Worker]:
    """Workers who are trusted at a stage, with this many right answers."""
    workers = [worker_ensure(name=f"W{right}OF{checks}N{n}") for n in range(number)]
    standing = Standing(trust=Trust.TRUSTED, now=Tally(checks=checks, right=right))
    models.WorkerStanding.objects.bulk_create(
        [
            models.WorkerStanding(
                campaign=campaign,
                worker=worker,
                stage=stage.value,
                trust=Trust.TRUSTED.value,
                body=msgspec.json.encode(standing).decode(),
            )
            for worker in workers
        ],
        ignore_conflicts=True,
    )
    return workers


def ask(gold: models.GoldQuestion, worker: models.Worker, right: bool | None) -> None:
    sitting = models.Sitting.objects.create(
        campaign_id=gold.campaign_id,
        stage=gold.stage,
        kind=SittingKind.WORK,
        worker=worker,
        assignment_id=f"a{next(_numbers)}",
        until=timezone.now(),
        status=SittingStatus.FINISHED,
    )
    models.SittingQuestion.objects.create(
        sitting=sitting,
        number=1,
        image=gold.image,
        gold=gold,
        checked_worker=sitting.worker,
        shown="{}",
        right=right,
    )


def ask_all(
    gold: models.GoldQuestion, workers: Iterable[models.Worker], *rights: bool | None
) -> None:
    for worker, right in zip(workers, rights, strict=False):
        ask(gold, worker, right)


def reasons() -> dict[int, str]:
    retired = models.GoldQuestion.objects.filter(retired_at__isnull=False)
    return dict(retired.values_list("pk", "retired_reason"))


def test_disputed_and_leaked_ones_are_retired(campaign: models.Campaign) -> None:
    links = list(models.GoldQuestion.objects.filter(stage="links").order_by("pk"))
    usual = workers_with(campaign, Stage.LINKS, 50, right=90, checks=100)
    disputed, split, few, leaked, once_wrong, young, unanswered = links[:7]
    ask_all(disputed, usual, False, True, False, True, False)
    ask_all(split, usual, False, True, False, True, True)
    ask_all(few, usual, *[False] * 4)
    ask_all(leaked, usual, False, *[True] * 45)
    ask_all(once_wrong, usual, *[True] * 40, False, *[True] * 9)
    ask_all(young, usual, *[True] * 19)
    ask_all(unanswered, usual, *[None] * 50)
    reviewed = gold_review(campaign=campaign)
    assert (reviewed.leaked, reviewed.disputed, reviewed.outdated) == (1, 1, 0)
    assert reasons() == {disputed.pk: "disputed", leaked.pk: "leaked"}
    again = gold_review(campaign=campaign)
    assert (again.leaked, again.disputed) == (0, 0)


def test_good_workers_leak_nothing_by_being_right(campaign: models.Campaign) -> None:
    """The same answers mean less from workers who are nearly always right."""
    one, other, unknown = models.GoldQuestion.objects.filter(stage="links").order_by("pk")[:3]
    best = workers_with(campaign, Stage.LINKS, 40, right=200, checks=200)
    poor = workers_with(campaign, Stage.LINKS, 40, right=80, checks=100)
    # Where they stand at another stage says nothing.
    elsewhere = workers_with(campaign, Stage.QUALITY, 40, right=10, checks=100)
    ask_all(one, best, *[True] * 40)
    ask_all(other, poor, *[True] * 25)
    ask_all(unknown, elsewhere, *[True] * 40)
    gold_review(campaign=campaign)
    assert reasons() == {other.pk: "leaked"}


def test_another_campaigns_questions_are_left_alone(campaign: models.Campaign) -> None:
    [gold] = models.GoldQuestion.objects.filter(stage="links")[:1]
    ask_all(gold, workers_with(campaign, Stage.LINKS, 5, right=9, checks=10), *[False] * 5)
    other = campaign_with_images(1, name="other")
    assert gold_review(campaign=other).disputed == 0
    assert reasons() == {}


def test_what_was_doubted_since_is_retired(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["doubted", "agreed"])
    for name in ("doubted", "agreed"):
        answer(image_named(campaign, name))
    gold_make(campaign=campaign)
    doubted = models.GoldQuestion.objects.filter(image__name="doubted")
    assert doubted.filter(stage="coverage").exists()
    assert gold_review(campaign=campaign).outdated == 0
    image = image_named(campaign, "doubted")
    state = image.stored_state.state
    man = next(chain for chain in state.chains if 1 in chain.mentions)
    doubts_record(image_id=image.pk, doubts=[Doubt(judgment=man.coverage[0].fact)])
    reviewed = gold_review(campaign=campaign)
    about_him = [
        row.pk for row in doubted if {1, 3} & {mark.mention for mark in row.gold.shown.marks}
    ]
    assert reviewed.outdated == len(about_him) > 0
    assert reasons() == dict.fromkeys(about_him, "no longer sure")
    assert gold_review(campaign=campaign).outdated == 0


def launch(campaign: models.Campaign, stage: Stage, status: str = SupplyStatus.RUNNING) -> None:
    models.StageSupply.objects.update_or_create(
        campaign=campaign, stage=stage.value, defaults={"status": status}
    )


def test_launched_stages_that_run_low_get_more() -> None:
    campaign = campaign_with_images(60, take=Take.ACCEPT)
    models.Image.objects.update(file="images/photo.jpg")
    assert gold_review(campaign=campaign).added == {}
    launch(campaign, Stage.QUALITY)
    launch(campaign, Stage.COVERAGE, SupplyStatus.PAUSED)
    # 60 of a stage: 30 of each answer.
    assert gold_review(campaign=campaign).added == {Stage.QUALITY: {"good": 30, "bad": 30}}
    assert gold_review(campaign=campaign).added == {}
    # Whoever has seen 20 of them still needs 60.
    [worker] = workers_with(campaign, Stage.QUALITY, 1, right=18, checks=20)
    for gold in models.GoldQuestion.objects.order_by("pk")[:20]:
        ask(gold, worker, right=None)
    assert gold_top_up(campaign=campaign) == {Stage.QUALITY: {"good": 10, "bad": 10}}
    assert gold_available(campaign) == {Stage.QUALITY: {"good": 40, "bad": 40}}
    # Somebody who may not work any more needs none.
    models.WorkerStanding.objects.update(trust=Trust.REVOKED.value)
    models.GoldQuestion.objects.filter(pk__in=_some(10)).update(retired_at=timezone.now())
    assert gold_top_up(campaign=campaign) == {}


def _some(number: int) -> list[int]:
    rows = models.GoldQuestion.objects.filter(answer="good").order_by("pk")
    return list(rows.values_list("pk", flat=True)[:number])


def test_statements_do_not_grow_with_workers_or_questions(campaign: models.Campaign) -> None:
    launch(campaign, Stage.LINKS)

    def statements() -> int:
        with CaptureQueriesContext(connection) as queries:
            reviewed = gold_review(campaign=campaign)
        assert reviewed.leaked
        assert reviewed.disputed
        return len(queries)

    rows = list(models.GoldQuestion.objects.filter(stage="quality").order_by("pk"))
    first = workers_with(campaign, Stage.QUALITY, 20, right=8, checks=20)
    ask_all(rows[0], first, *[False] * 5)
    ask_all(rows[1], first, *[True] * 20)
    few = statements()
    more = workers_with(campaign, Stage.QUALITY, 25, right=9, checks=20)
    for row in rows[2:8]:
        ask_all(row, more, *[False] * 5)
    for row in rows[8:12]:
        ask_all(row, more, *[True] * 20)
    assert statements() == few <= 25
