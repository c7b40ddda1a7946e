"""Sittings from their first draft on: time, answers, confirmation, withdrawn images."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.crowd.workers import worker_erase
from annotation.actions.protocol.facts import judgments_record
from annotation.actions.work.answers import Kept, draft_save, sitting_finish
from annotation.actions.work.confirmations import NotFinishedError, sitting_confirm
from annotation.actions.work.sittings import (
    SittingRefusedError,
    Trouble,
    sitting_open,
)
from annotation.hits.presentation import sitting_reply
from annotation.models import Fact, Sitting, SittingQuestion, SittingStatus, Worker
from annotation.pipeline.protocol.facts import Judgment, decode_body
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.work.answers import Answer, decode_answer, tidy
from annotation.pipeline.work.display import decode_shown
from common.clock import database_now
from tests.web.campaigns import answer, image_named, small_campaign
from tests.web.work.sitting_steps import drawing, keys_of, run_out, trouble
from tests.web.work.task_pages import (
    BOX,
    agree,
    all_answers,
    an_answer,
    claim_of,
    keys,
    opened,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second", "third"])


# Time


def test_when_time_is_up_the_questions_go_to_others(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS))
    run_out(sitting)
    for call in (
        lambda: draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS)),
        lambda: sitting_finish(claim=claim, answers=all_answers(sitting)),
    ):
        with pytest.raises(SittingRefusedError, match="time for these questions is up") as refused:
            call()
        assert trouble(refused) is Trouble.EXPIRED
    other = opened(claim_of(campaign, worker="A2"))
    assert len(keys(other)) == 3
    sitting.refresh_from_db()
    assert sitting.status == SittingStatus.LAPSED
    with pytest.raises(SittingRefusedError) as refused:
        draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS))
    assert trouble(refused) is Trouble.EXPIRED


def test_who_comes_back_too_late_gets_a_new_sitting(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS))
    run_out(sitting)
    new = opened(claim)
    assert new.pk != sitting.pk
    assert len(keys(new)) == 3
    # A page that still shows the former questions cannot answer these.
    for call in (
        lambda: draft_save(
            claim=claim, number=1, answer=an_answer(Stage.LINKS), sitting_id=sitting.pk
        ),
        lambda: sitting_finish(claim=claim, answers=all_answers(new), sitting_id=sitting.pk),
    ):
        with pytest.raises(SittingRefusedError) as refused:
            call()
        assert trouble(refused) is Trouble.EXPIRED
    assert not new.questions.exclude(answer="").exists()


def test_answers_that_are_not_confirmed_in_time_keep_nobody_waiting(
    campaign: models.Campaign,
) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    run_out_soon = database_now() + timedelta(seconds=30)
    Sitting.objects.filter(pk=sitting.pk).update(until=run_out_soon)
    sitting_finish(claim=claim, answers=all_answers(sitting))
    sitting.refresh_from_db()
    assert sitting.until > run_out_soon + timedelta(minutes=30), "the platform has time to confirm"
    agree(claim_of(campaign, worker="A2"))
    assert sitting_open(claim=claim_of(campaign, worker="A2")).empty == "with_others"
    run_out(sitting)
    other = opened(claim_of(campaign, worker="A2"))
    assert len(keys(other)) == 3
    sitting.refresh_from_db()
    assert sitting.status == SittingStatus.FINISHED
    assert sitting_confirm(sitting=sitting).counted == 3, "late, but still the first"


# Drafts and finishing


def test_drafts_overwrite_and_can_be_taken_back(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    for given in (an_answer(Stage.LINKS), an_answer(Stage.LINKS, answer="no"), None):
        assert draft_save(claim=claim, number=1, answer=given) == Kept()
        stored = sitting.questions.get(number=1).answer
        assert ('"no"' in stored, bool(stored)) == (
            given is not None and given.answer == "no",
            given is not None,
        )
    with pytest.raises(SittingRefusedError, match="no question 9") as refused:
        draft_save(claim=claim, number=9, answer=None)
    assert trouble(refused) is Trouble.NOT_FOUND
    with pytest.raises(SittingRefusedError, match=r"Question 2: 'maybe' is not an answer"):
        draft_save(claim=claim, number=2, answer=Answer(answer="maybe"))


def test_a_remark_is_kept_before_there_is_an_answer(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    mark = decode_shown(sitting.questions.get(number=1).shown).marks[0]
    remark = Answer(answer="", comment="blurred", cut_wrongly=(mark.mention,))
    draft_save(claim=claim, number=1, answer=remark)
    [first, *_] = sitting_reply(sitting_open(claim=claim), claim.stage).items
    assert first.answer is not None
    assert (first.answer.answer, first.answer.comment) == ("", "blurred")
    assert first.answer.cut_wrongly == (mark.mention,)
    answers = all_answers(sitting)
    with pytest.raises(SittingRefusedError, match="Question 1: '' is not an answer here"):
        sitting_finish(claim=claim, answers=answers | {1: remark})
    for wrong in (
        Answer(answer="", unrelated=(99,)),
        Answer(answer="", cut_wrongly=(99,)),
        Answer(answer="", way="drag"),
    ):
        with pytest.raises(SittingRefusedError, match="Question 1: "):
            draft_save(claim=claim, number=1, answer=wrong)
    sitting_finish(claim=claim, answers=answers)
    assert decode_answer(sitting.questions.get(number=1).answer) == tidy(answers[1])


def test_a_draft_that_arrives_after_a_newer_one_changes_nothing(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    for said, at, stands in (("yes", 20, "yes"), ("no", 30, "no"), ("yes", 29, "no")):
        draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS, answer=said), at=at)
        assert f'"{stands}"' in sitting.questions.get(number=1).answer
    draft_save(claim=claim, number=1, answer=None, at=25)
    draft_save(claim=claim, number=2, answer=an_answer(Stage.LINKS), at=10)
    assert sitting.questions.exclude(answer="").count() == 2


def test_a_draft_needs_a_sitting(campaign: models.Campaign) -> None:
    with pytest.raises(SittingRefusedError) as refused:
        draft_save(claim=claim_of(campaign), number=1, answer=None)
    assert trouble(refused) is Trouble.NOT_FOUND


def test_the_first_finish_stands(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    answers = all_answers(sitting)
    with pytest.raises(SittingRefusedError, match=r"no answer yet: 2, 3\.") as refused:
        sitting_finish(claim=claim, answers={1: answers[1]})
    assert trouble(refused) is Trouble.INCOMPLETE
    with pytest.raises(SittingRefusedError, match="no question 7"):
        sitting_finish(claim=claim, answers=answers | {7: answers[1]})
    first = sitting_finish(claim=claim, answers=answers)
    again = sitting_finish(claim=claim, answers=dict(reversed(answers.items())))
    assert (again.digest, again.finished_at) == (first.digest, first.finished_at)
    with pytest.raises(SittingRefusedError, match="those count") as refused:
        sitting_finish(claim=claim, answers=answers | {1: an_answer(Stage.LINKS, answer="no")})
    assert trouble(refused) is Trouble.FINISHED
    with pytest.raises(SittingRefusedError) as refused:
        draft_save(claim=claim, number=1, answer=answers[1])
    assert trouble(refused) is Trouble.FINISHED
    assert opened(claim).status == SittingStatus.FINISHED
    assert not Fact.objects.exists(), "the platform has confirmed nothing"


def test_nothing_is_stored_of_a_finish_that_is_refused(campaign: models.Campaign) -> None:
    claim = drawing(campaign)
    sitting = opened(claim)
    answers = all_answers(sitting)
    last = max(answers)
    outside = an_answer(Stage.DRAWING, rect=BOX.__class__(1, 1, 999, 5))
    with pytest.raises(SittingRefusedError, match=rf"Question {last}: box .* outside the 60×40"):
        sitting_finish(claim=claim, answers=answers | {last: outside})
    assert not sitting.questions.exclude(answer="").exists()
    assert opened(claim).status == SittingStatus.OPEN


# Withdrawn images


def test_a_withdrawn_image_leaves_the_sitting(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    answers = all_answers(sitting)
    image_withdraw(image=image_named(campaign, "second"), reason="rights")
    assert list(all_answers(opened(claim))) == [1, 3]
    with pytest.raises(SittingRefusedError, match="no question 2") as error:
        draft_save(claim=claim, number=2, answer=answers[2])
    assert trouble(error) is Trouble.NOT_FOUND
    finished = sitting_finish(claim=claim, answers={n: answers[n] for n in (1, 3)})
    assert sitting_confirm(sitting=finished).counted == 2


def test_an_answer_on_an_image_withdrawn_meanwhile_is_no_obstacle(
    campaign: models.Campaign,
) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    answers = all_answers(sitting)
    draft_save(claim=claim, number=2, answer=answers[2])
    image_withdraw(image=image_named(campaign, "second"), reason="rights")
    finished = sitting_finish(claim=claim, answers=answers)
    confirmed = sitting_confirm(sitting=finished)
    assert (confirmed.recorded, confirmed.counted) == (2, 2)
    assert ["withdrawn" in problem for problem in confirmed.refused] == [True]


def test_a_sitting_of_withdrawn_images_only_is_replaced(campaign: models.Campaign) -> None:
    campaign_settings_change(
        campaign=campaign, questions_per_hit={stage.value: 1 for stage in Stage}
    )
    claim = claim_of(campaign)
    sitting = opened(claim)
    image_withdraw(image=image_named(campaign, "first"), reason="rights")
    new = opened(claim)
    assert new.pk != sitting.pk
    assert keys(new)[0][0] == image_named(campaign, "second").pk


# Confirmation


def test_confirmed_answers_become_judgments_once(campaign: models.Campaign) -> None:
    claim = drawing(campaign)
    sitting = opened(claim)
    image_id, key = keys(sitting)[0]
    given = all_answers(sitting, milliseconds=4321, way="extreme", unrelated=(2,), comment="dark")
    finished = sitting_finish(claim=claim, answers=given)
    times = set()
    for _ in range(2):
        confirmed = sitting_confirm(sitting=finished)
        times.add(Sitting.objects.get(pk=finished.pk).confirmed_at)
        assert (confirmed.recorded, confirmed.counted, confirmed.refused) == (len(given),) * 2 + (
            (),
        )
    fact = Fact.objects.get(image_id=image_id, question=key)
    assert decode_body(fact.body) == Judgment(
        worker=finished.known_worker.pk,
        question=question_from_key(key),
        answer="box",
        rect=BOX,
        unrelated=(2,),
        milliseconds=4321,
        way="extreme",
    )
    assert "dark" not in fact.body
    assert not SittingQuestion.objects.filter(released_at=None).exists()
    assert len(times - {None}) == 1, "the first time stands"
    assert models.OpenQuestion.objects.filter(stage="quality").count() == len(given)


def test_answers_of_one_image_are_recorded_together_and_a_refused_one_alone_is_lost(
    campaign: models.Campaign,
) -> None:
    for image in models.Image.objects.filter(campaign=campaign).select_related("stored_state"):
        answer(image, limit=1)
    claim = claim_of(campaign, Stage.REQUIREMENT)
    sitting = opened(claim)
    finished = sitting_finish(claim=claim, answers=all_answers(sitting))
    image_id, key = keys(sitting)[0]
    # The worker has said otherwise, by another way.
    judgments_record(
        image_id=image_id,
        judgments=[
            Judgment(
                worker=finished.known_worker.pk, question=question_from_key(key), answer="nobox"
            )
        ],
    )
    confirmed = sitting_confirm(sitting=finished)
    assert confirmed.recorded == len(keys_of(sitting)) - 1
    assert [problem.startswith(key) for problem in confirmed.refused] == [True]


def test_a_late_answer_is_stored_and_does_not_count(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    finished = sitting_finish(claim=claim, answers=all_answers(sitting))
    answer(image_named(campaign, "first"), limit=1)
    confirmed = sitting_confirm(sitting=finished)
    assert (confirmed.recorded, confirmed.counted) == (3, 2)


def test_what_is_not_finished_cannot_be_confirmed(campaign: models.Campaign) -> None:
    with pytest.raises(NotFinishedError):
        sitting_confirm(sitting=opened(claim_of(campaign)))


# Erasing


def test_an_erased_worker_leaves_judgments_and_nothing_else(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    finished = sitting_finish(claim=claim, answers=all_answers(opened(claim), comment="I am Ann"))
    sitting_confirm(sitting=finished)
    at_work = opened(claim_of(campaign, Stage.REQUIREMENT, assignment_id="second"))
    worker = Worker.objects.get(name="A1")
    call_command("worker_erase", "A1")
    worker.refresh_from_db()
    assert worker.name == f"erased-{worker.pk}"
    assert not SittingQuestion.objects.exclude(comment="").exists()
    kept = [*SittingQuestion.objects.values_list("answer", flat=True)]
    assert kept
    assert not any("Ann" in text for text in kept)
    assert Fact.objects.filter(worker=worker).count() == 3
    assert len(keys(at_work)) == 0, "others can go on with it"
    assert worker_erase(worker=worker) == worker.name
    with pytest.raises(CommandError, match="no worker 'A1'"):
        call_command("worker_erase", "A1")
