"""Which gold questions a worker gets, and that choosing them stays cheap."""

from collections import Counter
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.gold.gold_questions import gold_retire, gold_store
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.gold.gold_question import Gold, GoldSource
from annotation.pipeline.protocol.questions import NO, YES, Stage
from annotation.pipeline.work.display import Mark, Shown
from annotation.selectors.gold.gold_questions import gold_available, gold_for
from tests.web.campaigns import small_campaign

pytestmark = pytest.mark.django_db


def pair(image: str, answer: str, workers: tuple[int, ...] = ()) -> Gold:
    """A question about two phrases; which token ends the first tells the answers apart."""
    end = {YES: 2, NO: 3}[answer]
    return Gold(
        stage=Stage.LINKS,
        image=image,
        shown=Shown((1, 2), (Mark(1, 1, 0, end, 1), Mark(3, 2, 0, 2, 2))),
        answer=answer,
        source=GoldSource.UNANIMOUS if workers else GoldSource.FILE,
        workers=workers,
    )


@pytest.fixture
def names() -> list[str]:
    return [f"image-{n}" for n in range(12)]


@pytest.fixture
def campaign(tmp_path: Path, names: list[str]) -> models.Campaign:
    campaign = small_campaign(tmp_path, names)
    golds = [pair(name, answer) for name in names for answer in (YES, NO)]
    assert gold_store(campaign=campaign, golds=golds).added == 24
    return campaign


@pytest.fixture
def worker(db: None) -> models.Worker:
    return worker_ensure(name="A1")


def ask(
    worker: models.Worker, golds: list[models.GoldQuestion], status: str = SittingStatus.OPEN
) -> models.Sitting:
    """Have the worker been asked these."""
    sitting = models.Sitting.objects.create(
        campaign=golds[0].campaign,
        stage=golds[0].stage,
        kind=SittingKind.WORK,
        worker=worker,
        assignment_id=f"a{models.Sitting.objects.count()}",
        until=timezone.now(),
        status=status,
    )
    models.SittingQuestion.objects.bulk_create(
        models.SittingQuestion(
            sitting=sitting,
            number=number,
            image=gold.image,
            gold=gold,
            checked_worker=worker,
            shown="{}",
        )
        for number, gold in enumerate(golds, start=1)
    )
    return sitting


def test_answers_are_balanced_and_images_differ(
    campaign: models.Campaign, worker: models.Worker
) -> None:
    chosen = gold_for(campaign, Stage.LINKS, worker, 10, "seed")
    assert Counter(gold.answer for gold in chosen) == {YES: 5, NO: 5}
    assert len({gold.image_id for gold in chosen}) == 10


def test_never_what_the_worker_has_been_asked(
    campaign: models.Campaign, worker: models.Worker
) -> None:
    other = worker_ensure(name="A2")
    seen: set[int] = set()
    for turn in range(3):
        chosen = gold_for(campaign, Stage.LINKS, worker, 10, f"seed {turn}")
        assert not seen & {gold.pk for gold in chosen}
        seen |= {gold.pk for gold in chosen}
        # A sitting that was given back has been seen all the same.
        ask(worker, chosen, SittingStatus.LAPSED if turn else SittingStatus.OPEN)
    assert len(seen) == 24
    assert gold_for(campaign, Stage.LINKS, worker, 10, "seed") == []
    assert len(gold_for(campaign, Stage.LINKS, other, 10, "seed")) == 10


def test_none_that_rests_on_the_workers_own_judgments(
    campaign: models.Campaign, worker: models.Worker
) -> None:
    models.GoldQuestion.objects.all().delete()
    near = worker.pk * 10 + 1  # the same digits first, and last
    rests_on = [(worker.pk,), (1000, worker.pk), (worker.pk, 2000), (1000, worker.pk, 2000)]
    golds = [pair(f"image-{n}", YES, workers) for n, workers in enumerate(rests_on)]
    free = [pair("image-8", YES, (near,)), pair("image-9", NO, (1000 + worker.pk, 2000))]
    gold_store(campaign=campaign, golds=[*golds, *free])
    chosen = gold_for(campaign, Stage.LINKS, worker, 10, "seed")
    assert {gold.image.name for gold in chosen} == {"image-8", "image-9"}


def test_own_ones_at_the_front_do_not_hide_the_others(
    campaign: models.Campaign, worker: models.Worker, names: list[str]
) -> None:
    models.GoldQuestion.objects.all().delete()
    gold_store(campaign=campaign, golds=[pair(name, YES, (worker.pk,)) for name in names[:-1]])
    gold_store(campaign=campaign, golds=[pair(names[-1], YES, (worker.pk + 1,))])
    [only] = gold_for(campaign, Stage.LINKS, worker, 1, "seed")
    assert only.image.name == names[-1]


def judge(worker: models.Worker, image: str, question: str) -> None:
    row = models.Image.objects.get(name=image)
    models.Fact.objects.create(
        image=row,
        number=models.Fact.objects.filter(image=row).count() + 1,
        settings=row.begun_under,
        kind="judgment",
        body="{}",
        worker=worker,
        question=question,
        counted=True,
    )


def test_no_image_that_the_worker_has_judged_as_long_as_there_are_others(
    campaign: models.Campaign, worker: models.Worker, names: list[str]
) -> None:
    """A question that comes a second time can only be a gold question."""
    for name in names[:4]:
        judge(worker, name, "links/3-1/1")
    # At another stage, and others' judgments, are no obstacle.
    judge(worker, names[4], "coverage/1/1")
    judge(worker_ensure(name="A2"), names[5], "links/3-1/1")
    # Not even if they are used less.
    models.GoldQuestion.objects.exclude(image__name__in=names[:4]).update(uses=3)
    for seed in range(5):
        chosen = gold_for(campaign, Stage.LINKS, worker, 8, f"seed {seed}")
        assert {gold.image.name for gold in chosen} == set(names[4:])
        assert Counter(gold.answer for gold in chosen) == {YES: 4, NO: 4}
    # Who has judged everything still gets them, or nobody would see how they do.
    for name in names[4:]:
        judge(worker, name, "links/3-1/1")
    assert len(gold_for(campaign, Stage.LINKS, worker, 10, "seed")) == 10


def test_many_judged_images_at_the_front_do_not_hide_the_others(
    campaign: models.Campaign, worker: models.Worker, names: list[str]
) -> None:
    for name in names[:-1]:
        judge(worker, name, "links/3-1/1")
    models.GoldQuestion.objects.filter(image__name=names[-1]).update(uses=9)
    with CaptureQueriesContext(connection) as queries:
        [only] = gold_for(campaign, Stage.LINKS, worker, 1, "seed")
    assert len(queries) == 1
    assert only.image.name == names[-1]


def test_least_used_first(campaign: models.Campaign, worker: models.Worker) -> None:
    models.GoldQuestion.objects.update(uses=2)
    fresh = models.GoldQuestion.objects.filter(image__name__in=["image-3", "image-7", "image-11"])
    # Those with the other answer are of images that have to give way: none comes twice.
    fresh.filter(answer=YES).update(uses=3)
    fresh.filter(answer=NO).update(uses=1)
    chosen = gold_for(campaign, Stage.LINKS, worker, 6, "seed")
    assert {gold.pk for gold in fresh.filter(answer=NO)} < {gold.pk for gold in chosen}
    assert Counter(gold.uses for gold in chosen) == {1: 3, 2: 3}


def test_retired_withdrawn_and_without_photo_are_left_out(
    campaign: models.Campaign, worker: models.Worker, names: list[str]
) -> None:
    gold_retire(gold=models.GoldQuestion.objects.get(image__name=names[0], answer=YES), reason="x")
    image_withdraw(image=models.Image.objects.get(name=names[1]), reason="asked for")
    models.Image.objects.filter(name=names[2]).update(file="")
    assert gold_available(campaign) == {Stage.LINKS: {YES: 9, NO: 10}}
    chosen = gold_for(campaign, Stage.LINKS, worker, 24, "seed")
    assert len(chosen) == 19
    assert not {gold.image.name for gold in chosen} & {names[1], names[2]}


def test_other_stages_and_campaigns_have_their_own(
    campaign: models.Campaign, worker: models.Worker, tmp_path: Path
) -> None:
    other = small_campaign(tmp_path, ["image-0"], name="other")
    assert gold_for(campaign, Stage.VERIFICATION, worker, 5, "seed") == []
    assert gold_for(campaign, Stage.DRAWING, worker, 5, "seed") == []
    assert gold_for(campaign, Stage.LINKS, worker, 0, "seed") == []
    assert gold_for(other, Stage.LINKS, worker, 5, "seed") == []
    assert gold_available(other) == {}


def test_the_lot_decides(campaign: models.Campaign, worker: models.Worker) -> None:
    def chosen(seed: str) -> list[int]:
        return [gold.pk for gold in gold_for(campaign, Stage.LINKS, worker, 4, seed)]

    assert chosen("one") == chosen("one")
    assert len({tuple(chosen(f"seed {n}")) for n in range(5)}) > 1


def test_one_statement(campaign: models.Campaign, worker: models.Worker) -> None:
    ask(worker, list(models.GoldQuestion.objects.all()[:4]))
    with CaptureQueriesContext(
        connection,
    ) as queries:
        assert len(gold_for(campaign, Stage.LINKS, worker, 10, "seed")) == 10
    assert len(queries) == 1
    with CaptureQueriesContext(connection) as queries:
        gold_available(campaign)
    assert len(queries) == 1
