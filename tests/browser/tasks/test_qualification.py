"""The six qualification tests, with a mouse and with a keyboard: explained, final, scored."""

from collections.abc import Collection
from math import floor

import pytest
from django.test import override_settings
from playwright.sync_api import expect

from annotation import models
from annotation.actions.work.confirmations import NotFinishedError, sitting_confirm
from annotation.models import SittingStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import Answer
from annotation.pipeline.work.guides import Lesson
from annotation.selectors.work.guides import stage_guide
from annotation.selectors.work.sittings import sitting_score
from tests.browser.kit.corpus import demo_campaign
from tests.browser.kit.desk import Desk
from tests.browser.kit.handed_in import answers_of, check_form, expect_submitted, near
from tests.browser.kit.hands import Hands, Keyboard, Mouse, Pixel
from tests.browser.kit.scenes import CHOICES, Reply, extreme_points, middle_box

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

# Questions that are answered wrongly: few enough to pass, or one too many.
PASSED = {stage: {2} for stage in Stage} | {Stage.DRAWING: {4}}
FAILED = {stage: {1, 4} for stage in Stage} | {Stage.DRAWING: {1, 2, 3}}


@pytest.mark.parametrize("stage", Stage)
def test_passed_with_a_mouse(desk: Desk, stage: Stage) -> None:
    qualify(desk, Mouse(desk), stage, PASSED[stage], way="extreme")
    assert sitting_score(desk.sitting).passed  # type: ignore[union-attr]  # a finished test


@pytest.mark.parametrize("stage", Stage)
def test_not_passed_with_a_keyboard(desk: Desk, stage: Stage) -> None:
    qualify(desk, Keyboard(desk), stage, FAILED[stage], way="drag")
    assert not sitting_score(desk.sitting).passed  # type: ignore[union-attr]  # finished too


def test_it_tells_nothing_where_nobody_proves_who_has_accepted_it(desk: Desk) -> None:
    """A marketplace without proof of acceptance: anybody may have made the assignment up."""
    campaign, stage = demo_campaign(), Stage.LINKS
    lessons = stage_guide(campaign, stage).guide.test
    hands = Mouse(desk)
    with override_settings(CHAINBOX_CROWD_PROOF="none"):
        desk.accept(desk.publish(campaign, stage, test=True))
        hands.agree()
        for number, lesson in enumerate(lessons, start=1):
            hands.expect_at(number, len(lessons))
            give(hands, stage, Answer(lesson.answer), (1, 1))
            expect(hands.button(f"Question {number}, answered")).to_be_visible()
        expect(hands.frame.get_by_text("Your answer is saved.")).to_be_visible()
        for words in ("✓ Right", "Expected answer:", lessons[-1].why.replace("**", "")):
            expect(hands.frame.get_by_text(words)).to_have_count(0)
        hands.press(hands.button("Submit"))
        expect_submitted(desk)
    sitting = models.Sitting.objects.get()
    assert (sitting.worker, sitting.right, sitting.asked) == (None, len(lessons), len(lessons))
    assert not models.Consent.objects.exists()
    assert not models.Worker.objects.filter(name=desk.worker.worker_id).exists()


def qualify(desk: Desk, hands: Hands, stage: Stage, wrong: Collection[int], way: str) -> None:
    """Take a whole test, with wrong answers to these questions, and hand it in.

    Boxes are drawn in the one way that the campaign has.
    """
    campaign = demo_campaign(drawing_way=way)
    lessons = stage_guide(campaign, stage).guide.test
    desk.accept(desk.publish(campaign, stage, test=True))
    hands.agree()
    expected = []
    for number, lesson in enumerate(lessons, start=1):
        hands.expect_at(number, len(lessons))
        image = models.Image.objects.get(campaign=campaign, name=lesson.image)
        size = (image.width, image.height)
        answer = the_answer(stage, lesson, way, size, wrong=number in wrong)
        give(hands, stage, answer, size)
        check_explained(hands, stage, lesson, number, is_right=number not in wrong)
        check_final(desk, hands, stage, answer, number)
        expected.append(answer)
        if number < len(lessons):
            hands.go_on()
    right = len(lessons) - len(wrong)
    check_score(desk, hands, right, len(lessons))
    check_handed_in(desk, expected, hands.off, right)


def the_answer(stage: Stage, lesson: Lesson, way: str, size: Pixel, *, wrong: bool) -> Answer:
    """Return the right answer to a test question, or a wrong one: in Drawing a useless box."""
    if stage is Stage.DRAWING:
        rect = lesson.expected[0] if lesson.expected and not wrong else middle_box(size)
        return Answer("box", rect=rect, way=way) if wrong or lesson.expected else Answer("none")
    others = [reply.answer for reply in CHOICES[stage] if reply.answer != lesson.answer]
    return Answer(others[0] if wrong else lesson.answer)


def give(hands: Hands, stage: Stage, answer: Answer, size: Pixel) -> None:
    if answer.rect is None:
        reply = reply_of(stage, answer.answer)
        hands.answer(reply.label, reply.key)
        return
    if answer.way == "drag":
        hands.drag(size, answer.rect)
    else:
        hands.mark(size, extreme_points(answer.rect))
    # A box is an answer once the worker says so: it may be adjusted before.
    hands.answer("Check this box", "c")


def reply_of(stage: Stage, answer: str) -> Reply:
    return next(reply for reply in CHOICES[stage] if reply.answer == answer)


def check_explained(
    hands: Hands, stage: Stage, lesson: Lesson, number: int, *, is_right: bool
) -> None:
    """Right after the answer the page says whether it was right, and why."""
    verdict = hands.frame.get_by_text("✓ Right" if is_right else "✗ Not right", exact=True)
    expect(verdict).to_be_visible()
    expect(hands.frame.get_by_text(lesson.why.replace("**", ""))).to_be_visible()
    told = hands.frame.get_by_text("Expected answer:")
    if is_right:
        expect(told).to_have_count(0)
    else:
        label = "Draw a box" if lesson.expected else reply_of(stage, lesson.answer).label
        expect(told).to_contain_text(label)
    state = "right" if is_right else "not right"
    expect(hands.button(f"Question {number}, {state}")).to_be_visible()


def check_final(desk: Desk, hands: Hands, stage: Stage, answer: Answer, number: int) -> None:
    """The answer cannot be changed: its buttons are off, and its keys do nothing."""
    for reply in CHOICES[stage]:
        expect(hands.button(reply.label)).to_be_disabled()
        hands.page.keyboard.press(reply.key)
    (given,) = answers_of(desk.sitting)[number - 1 : number]
    assert given.answer == answer.answer
    assert near(given.rect, answer.rect, hands.off), (given.rect, answer.rect)


def check_score(desk: Desk, hands: Hands, right: int, asked: int) -> None:
    hands.press(hands.button("Submit"))
    needed = sitting_needed(desk)
    passed = right / asked >= needed
    title = "You passed the test" if passed else "You did not pass the test this time"
    expect(hands.frame.get_by_role("heading", name=title, exact=True)).to_be_visible()
    expect(hands.frame.get_by_text(f"{right} of {asked} right")).to_be_visible()
    shares = f"Your score is {percent(right / asked)}. You need {percent(needed)} to pass."
    expect(hands.frame.get_by_text(shares)).to_be_visible()
    hands.press(hands.button("Submit the HIT"))
    expect_submitted(desk)


def percent(share: float) -> str:
    # Halves go up, as in the browser; `round` would take them to the even number.
    return f"{floor(100 * share + 0.5)}%"


def sitting_needed(desk: Desk) -> float:
    settings = desk.sitting.campaign.current_settings
    assert settings is not None
    return settings.settings.minimum_performance[Stage(desk.sitting.stage)]


def check_handed_in(desk: Desk, expected: list[Answer], off: int, right: int) -> None:
    """The sitting and the marketplace have the answers and the score; no fact comes of them."""
    sitting = desk.sitting
    assert sitting.status == SittingStatus.FINISHED
    assert (sitting.right, sitting.asked) == (right, len(expected))
    given = answers_of(sitting)
    assert [(one.answer, one.way) for one in given] == [(one.answer, one.way) for one in expected]
    for one, other in zip(given, expected, strict=True):
        assert near(one.rect, other.rect, off), (one.rect, other.rect)
        assert one.milliseconds > 0
    check_form(desk, given)
    with pytest.raises(NotFinishedError):
        sitting_confirm(sitting=sitting)
    assert not models.Fact.objects.filter(worker=sitting.worker).exists()
