"""The one write path: facts appended, state folded, nothing doubled, nothing half-done."""

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.corpus.imports import Take
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import (
    AlreadyJudgedError,
    decision_record,
    doubts_record,
    judgments_record,
)
from annotation.models import (
    Campaign,
    CampaignSettings,
    Chain,
    Fact,
    Image,
    ImageStatus,
    OpenQuestion,
    StoredState,
)
from annotation.pipeline.engine import open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import (
    BoxAdjust,
    BoxDelete,
    Doubt,
    FactRefusedError,
    Judgment,
    Undo,
)
from annotation.pipeline.protocol.questions import NO, YES, Question, question_from_key
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from annotation.simulation.crowd import PERFECT, TYPICAL, Crowd
from annotation.simulation.run import campaign_simulate
from tests.corpora import campaign_with_images, image_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign() -> Campaign:
    return campaign_with_images(3)


@pytest.fixture
def image(campaign: Campaign) -> Image:
    return image_of(campaign)


@pytest.fixture
def workers() -> list[int]:
    return workers_simulated(count=8)


def first_question(image: Image) -> Question:
    keys = OpenQuestion.objects.filter(image=image).order_by("pk").values_list("key", flat=True)
    return question_from_key(keys[0])


def assert_clean() -> None:
    settings = settings_by_id()
    for image in images_with_facts(Image.objects.all()):
        assert image_differences(image, settings) == []


def test_a_judgment_is_a_fact_and_moves_the_state(image: Image, workers: list[int]) -> None:
    question = first_question(image)
    judgment = Judgment(worker=workers[0], question=question, answer=YES)
    outcome = judgments_record(image_id=image.pk, judgments=[judgment])
    assert [r.number for r in outcome.recorded] == [1]
    assert outcome.recorded[0].counted is True
    fact = Fact.objects.get(image=image)
    assert (fact.number, fact.kind, fact.worker_id) == (1, "judgment", workers[0])
    assert not OpenQuestion.objects.filter(image=image, key=question.key).exists()
    assert_clean()


def test_the_same_judgment_again_is_found_not_doubled(image: Image, workers: list[int]) -> None:
    judgment = Judgment(worker=workers[0], question=first_question(image), answer=YES)
    first = judgments_record(image_id=image.pk, judgments=[judgment])
    again = judgments_record(image_id=image.pk, judgments=[judgment, judgment])
    assert again.recorded == first.recorded * 2
    assert Fact.objects.filter(image=image).count() == 1


def test_another_answer_of_the_same_worker_is_refused(image: Image, workers: list[int]) -> None:
    question = first_question(image)
    judgments_record(
        image_id=image.pk, judgments=[Judgment(worker=workers[0], question=question, answer=YES)]
    )
    with pytest.raises(AlreadyJudgedError, match="has already answered"):
        judgments_record(
            image_id=image.pk, judgments=[Judgment(worker=workers[0], question=question, answer=NO)]
        )
    assert Fact.objects.filter(image=image).count() == 1


def test_a_late_judgment_is_stored_and_does_not_count(image: Image, workers: list[int]) -> None:
    question = first_question(image)
    for worker in workers[:2]:
        judgments_record(
            image_id=image.pk, judgments=[Judgment(worker=worker, question=question, answer=YES)]
        )
    counted = Fact.objects.filter(image=image).order_by("number").values_list("counted", flat=True)
    assert list(counted) == [True, False]
    assert_clean()


def test_a_batch_with_a_bad_answer_leaves_nothing_behind(image: Image, workers: list[int]) -> None:
    question = first_question(image)
    good = Judgment(worker=workers[0], question=question, answer=YES)
    bad = Judgment(worker=workers[1], question=question, answer="perhaps")
    with pytest.raises(FactRefusedError, match="perhaps"):
        judgments_record(image_id=image.pk, judgments=[good, bad])
    assert Fact.objects.count() == 0
    assert_clean()


@pytest.mark.parametrize(
    "change",
    [
        lambda: Fact.objects.update(body="{}"),
        lambda: Fact.objects.filter(number=1).delete(),
        lambda: CampaignSettings.objects.update(body="{}"),
        lambda: connection.cursor().execute("DELETE FROM annotation_fact"),
        lambda: connection.cursor().execute("UPDATE annotation_campaignsettings SET version = 9"),
    ],
)
def test_the_database_refuses_to_change_facts(
    image: Image, workers: list[int], change: object
) -> None:
    judgment = Judgment(worker=workers[0], question=first_question(image), answer=YES)
    judgments_record(image_id=image.pk, judgments=[judgment])
    assert callable(change)
    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change()
    assert Fact.objects.get().number == 1


@pytest.mark.postgres
def test_the_database_refuses_to_empty_the_facts() -> None:
    with (
        pytest.raises(DatabaseError, match="append-only"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute("TRUNCATE annotation_fact")


def test_one_worker_one_question_one_judgment_whoever_writes(
    image: Image, workers: list[int]
) -> None:
    judgment = Judgment(worker=workers[0], question=first_question(image), answer=YES)
    judgments_record(image_id=image.pk, judgments=[judgment])
    fact = Fact.objects.get()
    with pytest.raises(IntegrityError), transaction.atomic():
        Fact.objects.create(
            image=image,
            number=2,
            settings=fact.settings,
            kind="judgment",
            body=fact.body,
            worker=fact.worker,
            question=fact.question,
            counted=False,
        )
    with pytest.raises(IntegrityError), transaction.atomic():
        Fact.objects.create(
            image=image, number=1, settings=fact.settings, kind="doubt", body=fact.body
        )
    with pytest.raises(IntegrityError), transaction.atomic():
        Fact.objects.create(
            image=image, number=2, settings=fact.settings, kind="judgment", body=fact.body
        )


def test_settings_are_versions_and_facts_keep_theirs(
    campaign: Campaign, image: Image, workers: list[int]
) -> None:
    before = first_question(image)
    judgments_record(
        image_id=image.pk, judgments=[Judgment(worker=workers[0], question=before, answer=YES)]
    )
    campaign_settings_change(campaign=campaign, coverage_votes=1)
    question = first_question(image)
    judgments_record(
        image_id=image.pk, judgments=[Judgment(worker=workers[0], question=question, answer=NO)]
    )
    versions = Fact.objects.order_by("number").values_list("settings__version", flat=True)
    assert list(versions) == [1, 2]
    assert_clean()


def test_a_review_decision_its_undo_and_a_doubt(campaign: Campaign, workers: list[int]) -> None:
    campaign_simulate(campaign=campaign, crowd=Crowd(workers, PERFECT, 0))
    image = image_of(campaign)
    assert image.stored_state.status == ImageStatus.FINISHED
    body = image.stored_state.body
    box = image.stored_state.state.boxes[0]
    outcome = decision_record(
        image_id=image.pk,
        decision=BoxAdjust(reviewer=1, box=box.number, rect=Rect(1, 1, 20, 20)),
    )
    number = outcome.recorded[0].number
    assert image.boxes.get(number=box.number).x_max == 20
    decision_record(image_id=image.pk, decision=Undo(reviewer=1, decision=number))
    restored = StoredState.objects.get(pk=image.pk)
    assert restored.state.boxes == image.stored_state.state.boxes
    assert restored.body != body  # the facts are counted all the same
    last = Fact.objects.filter(image=image, kind="judgment").order_by("-number")[0]
    doubts_record(image_id=image.pk, doubts=[Doubt(judgment=last.number, reason="revoked")])
    assert StoredState.objects.get(pk=image.pk).status == ImageStatus.OPEN
    assert OpenQuestion.objects.get(image=image).key.endswith(f"?{last.number}")
    with pytest.raises(FactRefusedError, match="not a judgment"):
        doubts_record(image_id=image.pk, doubts=[Doubt(judgment=number)])
    assert_clean()


def test_a_refused_decision_says_why_and_stores_nothing(image: Image) -> None:
    with pytest.raises(FactRefusedError, match="no box 99"):
        decision_record(image_id=image.pk, decision=BoxDelete(reviewer=1, box=99))
    assert Fact.objects.count() == 0


def test_an_accepted_import_is_one_fact_and_finished() -> None:
    campaign = campaign_with_images(2, take=Take.ACCEPT)
    assert list(Fact.objects.values_list("number", "kind")) == [(1, "accepted_import")] * 2
    assert set(StoredState.objects.values_list("status", flat=True)) == {ImageStatus.FINISHED}
    assert Chain.objects.filter(image__campaign=campaign).count() == 8
    assert not OpenQuestion.objects.exists()
    assert_clean()


def statements_per_judgment(campaign: Campaign, workers: list[int]) -> list[int]:
    """Work one image to its end, a judgment at a time, and count the statements of each."""
    image = image_of(campaign, campaign.images.count() // 2)
    from annotation.simulation.run import answer_key
    from annotation.simulation.work import next_judgments

    key = answer_key(image)
    crowd = Crowd(workers, TYPICAL, 3)
    state = image.stored_state.state
    counts: list[int] = []
    while open_questions(state):
        judgment = next(next_judgments(state, key, crowd, "the image"))
        with CaptureQueriesContext(connection) as queries:
            state = judgments_record(image_id=image.pk, judgments=[judgment]).state
        counts.append(len(queries))
    return counts


@pytest.mark.slow
@pytest.mark.once
def test_statements_per_judgment_are_few_and_do_not_grow(workers: list[int]) -> None:
    few = statements_per_judgment(campaign_with_images(100, name="small"), workers)
    many = statements_per_judgment(campaign_with_images(5_000, name="large"), workers)
    assert few == many
    assert len(few) > 20
    assert max(few) <= 12, few
