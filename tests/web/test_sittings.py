"""Sittings: who gets which questions, for how long, and what becomes of the answers."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.answering import draft_save, sitting_finish
from annotation.actions.campaigns import campaign_settings_change
from annotation.actions.confirming import NotFinishedError, sitting_confirm
from annotation.actions.facts import judgments_record
from annotation.actions.guides import guide_save
from annotation.actions.images import image_withdraw
from annotation.actions.people import worker_erase
from annotation.actions.sittings import (
    SittingRefusedError,
    Trouble,
    consent_give,
    sitting_open,
)
from annotation.hits.presenting import finished_reply, sitting_reply
from annotation.models import Fact, Sitting, SittingKind, SittingQuestion, SittingStatus, Worker
from annotation.pipeline.answers import Answer, decode_answer, tidy
from annotation.pipeline.facts import Judgment, decode_body
from annotation.pipeline.questions import Stage, question_from_key
from annotation.pipeline.settings import CrowdSettings
from annotation.pipeline.showing import decode_shown
from annotation.selectors.clock import database_now
from annotation.selectors.sittings import Claim, sitting_score
from tests.web.campaigns import answer, image_named, small_campaign
from tests.web.task_pages import (
    BOX,
    LINKS_TEST,
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


def trouble(error: pytest.ExceptionInfo[SittingRefusedError]) -> Trouble:
    return error.value.trouble


def run_out(sitting: Sitting) -> None:
    """Let the sitting's time be over."""
    Sitting.objects.filter(pk=sitting.pk).update(until=database_now() - timedelta(seconds=1))


def drawing(campaign: models.Campaign, worker: str = "A1") -> Claim:
    """Bring every image to Box Drawing and return a claim on it."""
    for image in models.Image.objects.filter(campaign=campaign).select_related("stored_state"):
        answer(image, limit=2)
    return claim_of(campaign, Stage.DRAWING, worker)


# Opening


def test_nobody_gets_questions_without_consent(campaign: models.Campaign) -> None:
    with pytest.raises(SittingRefusedError) as refused:
        sitting_open(claim=claim_of(campaign))
    assert trouble(refused) is Trouble.CONSENT
    assert not Worker.objects.exists()


def test_consent_is_asked_again_when_the_text_is_new(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    opened(claim)
    guide_save(campaign=campaign, topic="consent", source='title = "New"\nparagraphs = ["Yes."]\n')
    with pytest.raises(SittingRefusedError) as refused:
        sitting_open(claim=claim)
    assert trouble(refused) is Trouble.CONSENT
    with pytest.raises(SittingRefusedError, match="has changed") as refused:
        consent_give(claim=claim, version=1)
    agree(claim)
    agree(claim)
    assert sitting_open(claim=claim).sitting is not None


def test_a_sitting_takes_the_oldest_questions_of_its_stage(campaign: models.Campaign) -> None:
    campaign_settings_change(
        campaign=campaign, questions_per_hit={stage.value: 2 for stage in Stage}
    )
    sitting = opened(claim_of(campaign))
    oldest = models.OpenQuestion.objects.filter(stage="links").order_by("pk")[:2]
    assert set(keys(sitting)) == {(question.image_id, question.key) for question in oldest}
    others = opened(claim_of(campaign, worker="A2"))
    assert len(keys(others)) == 1
    assert not set(keys(others)) & set(keys(sitting))


def test_the_same_call_returns_the_same_sitting(campaign: models.Campaign) -> None:
    claim = claim_of(campaign)
    sitting = opened(claim)
    draft_save(claim=claim, number=2, answer=an_answer(Stage.LINKS, comment="hm"))
    again = opened(claim)
    assert again == sitting
    assert again.until == sitting.until
    assert again.questions.get(number=2).comment == "hm"
    assert SittingQuestion.objects.count() == 3


def test_an_assignment_that_another_worker_has_now_is_another_sitting(
    campaign: models.Campaign,
) -> None:
    sitting = opened(claim_of(campaign, assignment_id="shared"))
    agree(claim_of(campaign, worker="A2"))
    other = sitting_open(claim=claim_of(campaign, worker="A2", assignment_id="shared"))
    assert (other.sitting, other.empty) == (None, "with_others")
    run_out(sitting)
    theirs = opened(claim_of(campaign, worker="A2", assignment_id="shared"))
    assert (theirs.assignment_id, len(keys(theirs))) == ("shared", 3)


def test_an_assignment_keeps_its_task(campaign: models.Campaign) -> None:
    opened(claim_of(campaign))
    for claim in (
        claim_of(campaign, Stage.REQUIREMENT),
        claim_of(campaign, kind=SittingKind.TEST),
    ):
        with pytest.raises(SittingRefusedError, match="another task"):
            sitting_open(claim=claim)


def test_nothing_left_is_not_the_same_as_with_others(campaign: models.Campaign) -> None:
    claim = claim_of(campaign, Stage.COVERAGE)
    agree(claim)
    assert sitting_open(claim=claim).empty == "nothing_left"
    opened(claim_of(campaign, worker="A2"))
    agree(claim_of(campaign))
    assert sitting_open(claim=claim_of(campaign)).empty == "with_others"
    assert not Sitting.objects.filter(worker__name="A1").exists(), "an empty sitting is not kept"


def test_a_worker_does_not_get_what_they_have_answered(campaign: models.Campaign) -> None:
    claim = claim_of(campaign, Stage.REQUIREMENT)
    agree(claim)
    worker = Worker.objects.get(name="A1")
    question = models.OpenQuestion.objects.filter(stage="requirement").order_by("pk")[0]
    judgments_record(
        image_id=question.image_id,
        judgments=[
            Judgment(worker=worker.pk, question=question_from_key(question.key), answer="nobox")
        ],
    )
    assert (question.image_id, question.key) not in keys(opened(claim))
    other = opened(claim_of(campaign, Stage.REQUIREMENT, worker="A2"))
    assert keys(other) == [(question.image_id, question.key)], "it is still open, for others"


def test_nobody_judges_their_own_box(campaign: models.Campaign) -> None:
    claim = drawing(campaign)
    sitting = opened(claim)
    sitting_finish(claim=claim, answers=all_answers(sitting))
    sitting.refresh_from_db()
    sitting_confirm(sitting=sitting)
    assert models.OpenQuestion.objects.filter(stage="quality").count() == len(keys_of(sitting))
    quality = claim_of(campaign, Stage.QUALITY, "A1", assignment_id="Q1")
    assert sitting_open(claim=quality).empty == "nothing_left"
    assert keys(opened(claim_of(campaign, Stage.QUALITY, "A2")))


def keys_of(sitting: Sitting) -> list[str]:
    return list(sitting.questions.values_list("key", flat=True))


def test_a_question_without_its_photo_is_not_asked(campaign: models.Campaign) -> None:
    models.Image.objects.exclude(name="second").update(file="")
    sitting = opened(claim_of(campaign))
    assert [image for image, _ in keys(sitting)] == [image_named(campaign, "second").pk]


def test_statements_do_not_grow_with_the_dataset(tmp_path: Path) -> None:
    counts = []
    for size in (12, 60):
        campaign = small_campaign(tmp_path, [str(n) for n in range(size)], name=f"of {size}")
        # A verification question, which comes by lot, would take one more.
        campaign_settings_change(campaign=campaign, crowd=CrowdSettings(check_share=0.0))
        claim = claim_of(campaign, worker=f"A{size}")
        agree(claim)
        with CaptureQueriesContext(connection) as first:
            sitting = sitting_open(claim=claim).sitting
        assert sitting is not None
        assert len(keys(sitting)) == 10
        with CaptureQueriesContext(connection) as again:
            sitting_open(claim=claim)
        with CaptureQueriesContext(connection) as finish:
            sitting_finish(claim=claim, answers=all_answers(sitting))
        counts.append((len(first), len(again), len(finish)))
    assert counts[0] == counts[1]
    assert max(counts[0]) < 30


def test_statements_do_not_grow_with_the_sitting(tmp_path: Path) -> None:
    counts = []
    for size in (2, 40):
        campaign = small_campaign(tmp_path, [str(n) for n in range(size)], name=f"of {size}")
        campaign_settings_change(
            campaign=campaign,
            questions_per_hit=dict.fromkeys(Stage, size),
            crowd=CrowdSettings(check_share=0.0),
        )
        claim = claim_of(campaign, worker=f"A{size}")
        agree(claim)
        with CaptureQueriesContext(connection) as first:
            sitting = sitting_open(claim=claim).sitting
        assert sitting is not None
        assert len(keys(sitting)) == size
        with CaptureQueriesContext(connection) as load:
            sitting_reply(sitting_open(claim=claim), claim.stage)
        with CaptureQueriesContext(connection) as draft:
            draft_save(claim=claim, number=1, answer=an_answer(Stage.LINKS))
        with CaptureQueriesContext(connection) as finish:
            finished_reply(sitting_finish(claim=claim, answers=all_answers(sitting)))
        with CaptureQueriesContext(connection) as confirm:
            sitting_confirm(sitting=models.Sitting.objects.get(pk=sitting.pk))
        counts.append([len(first), len(load), len(draft), len(finish), len(confirm)])
    assert counts[0] == counts[1]


@pytest.mark.parametrize(
    ("way", "ways"),
    [
        ("choice", {"extreme/drag"}),
        ("drag", {"drag"}),
        ("extreme", {"extreme"}),
        ("random", {"drag", "extreme"}),
    ],
)
def test_ways_of_drawing(campaign: models.Campaign, way: str, ways: set[str]) -> None:
    campaign_settings_change(
        campaign=campaign,
        drawing_way=way,
        questions_per_hit={stage.value: 1 for stage in Stage},
    )
    drawing(campaign)
    seen = set()
    for number in range(30):
        claim = claim_of(campaign, Stage.DRAWING, f"A{number}")
        sitting = opened(claim)
        seen.add(sitting.ways)
        run_out(sitting)
    assert seen == ways
    assert opened(claim_of(campaign, Stage.REQUIREMENT, "A1", assignment_id="R")).ways == ""


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
        assert draft_save(claim=claim, number=1, answer=given) is None
        stored = sitting.questions.get(number=1).answer
        assert ('"no"' in stored, bool(stored)) == (
            given is not None and given.answer == "no",
            given is not None,
        )
    with pytest.raises(SittingRefusedError, match="no question 9") as refused:
        draft_save(claim=claim, number=9, answer=None)
    assert trouble(refused) is Trouble.NOT_FOUND
    with pytest.raises(SittingRefusedError, match=r"Question 2: 'maybe' is no answer"):
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
    with pytest.raises(SittingRefusedError, match="Question 1: '' is no answer here"):
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
    with pytest.raises(SittingRefusedError, match="those stand") as refused:
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
        worker=finished.worker_id,
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
            Judgment(worker=finished.worker_id, question=question_from_key(key), answer="nobox")
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


# Tests


@pytest.fixture
def test_claim(campaign: models.Campaign) -> Claim:
    guide_save(campaign=campaign, topic="links", source=LINKS_TEST)
    return claim_of(campaign, kind=SittingKind.TEST)


def test_a_test_grades_every_answer_and_keeps_it(
    campaign: models.Campaign, test_claim: Claim
) -> None:
    sitting = opened(test_claim)
    assert sitting.guide is not None
    assert keys(sitting) == [
        (image_named(campaign, "first").pk, ""),
        (image_named(campaign, "second").pk, ""),
    ]
    yes = an_answer(Stage.LINKS)
    for _ in range(2):
        graded = draft_save(claim=test_claim, number=1, answer=yes)
        assert graded is not None
        assert (graded.right, graded.lesson.why) == (True, "There is one man.")
    for other in (an_answer(Stage.LINKS, answer="no"), None):
        with pytest.raises(SittingRefusedError) as refused:
            draft_save(claim=test_claim, number=1, answer=other)
        assert trouble(refused) is Trouble.ANSWERED
    wrong = draft_save(claim=test_claim, number=2, answer=yes)
    assert wrong is not None
    assert not wrong.right
    with pytest.raises(SittingRefusedError) as refused:
        sitting_finish(claim=test_claim, answers={1: yes, 2: an_answer(Stage.LINKS, answer="no")})
    assert trouble(refused) is Trouble.ANSWERED
    finished = sitting_finish(claim=test_claim, answers={1: yes, 2: yes})
    score = sitting_score(finished)
    assert score is not None
    assert (score.right, score.asked, score.needed, score.passed) == (1, 2, 0.8, False)
    with pytest.raises(NotFinishedError):
        sitting_confirm(sitting=finished)


def test_all_right_passes_and_keeps_passing(campaign: models.Campaign, test_claim: Claim) -> None:
    opened(test_claim)
    answers = {1: an_answer(Stage.LINKS), 2: an_answer(Stage.LINKS, answer="no")}
    finished = sitting_finish(claim=test_claim, answers=answers)
    campaign_settings_change(campaign=campaign, minimum_performance={s.value: 1.0 for s in Stage})
    finished.refresh_from_db()
    score = sitting_score(finished)
    assert score is not None
    assert (score.passed, score.needed) == (True, 0.8)


def test_a_test_holds_no_question_and_goes_on_after_its_time(
    campaign: models.Campaign, test_claim: Claim
) -> None:
    sitting = opened(test_claim)
    assert len(keys(opened(claim_of(campaign, worker="A2")))) == 3
    assert opened(claim_of(campaign, worker="A3", kind=SittingKind.TEST)).pk != sitting.pk
    draft_save(claim=test_claim, number=1, answer=an_answer(Stage.LINKS))
    run_out(sitting)
    again = opened(test_claim)
    assert again.pk == sitting.pk, "who has seen answers does not begin anew"
    assert again.until > database_now()
    assert again.questions.get(number=1).answer


def test_a_test_keeps_the_guide_it_was_begun_with(
    campaign: models.Campaign, test_claim: Claim
) -> None:
    opened(test_claim)
    guide_save(campaign=campaign, topic="links", source=LINKS_TEST.replace('"yes"', '"no"'))
    graded = draft_save(claim=test_claim, number=1, answer=an_answer(Stage.LINKS))
    assert graded is not None
    assert graded.right


def test_a_test_leaves_out_what_was_withdrawn(campaign: models.Campaign, test_claim: Claim) -> None:
    image_withdraw(image=image_named(campaign, "first"), reason="rights")
    sitting = opened(test_claim)
    assert [question.number for question in sitting.questions.all()] == [2]
    graded = draft_save(claim=test_claim, number=2, answer=an_answer(Stage.LINKS, answer="no"))
    assert graded is not None
    assert graded.right
    finished = sitting_finish(claim=test_claim, answers={2: an_answer(Stage.LINKS, answer="no")})
    assert (finished.right, finished.asked) == (1, 1)


def test_a_test_without_photos_is_with_nobody(campaign: models.Campaign, test_claim: Claim) -> None:
    for name in ("first", "second"):
        image_withdraw(image=image_named(campaign, name), reason="rights")
    agree(test_claim)
    opened(claim_of(campaign, worker="A2"))
    result = sitting_open(claim=test_claim)
    assert (result.sitting, result.empty) == (None, "nothing_left")


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
