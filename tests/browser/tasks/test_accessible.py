"""No serious accessibility problem on any page, and no errors in the browser's console.

Light and dark, large and small; states that all stages share are looked at in turn.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from itertools import product

import pytest
from playwright.sync_api import Frame, Page, expect

from annotation import models
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage
from common.clock import database_now
from tests.browser.kit.corpus import demo_campaign, open_questions_of
from tests.browser.kit.desk import Desk
from tests.browser.kit.pages import (
    DESKTOP,
    LABELS,
    PHONE,
    Watch,
    address,
    agree,
    answer_button,
    answer_lesson,
    axe,
    begin,
    draw,
    lessons_of,
    overflow,
    preview_address,
    settle,
    task_frame,
)
from tests.web.work.task_pages import claim_of, opened

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LIGHT_AND_LARGE, DARK_AND_SMALL = ("light", DESKTOP), ("dark", PHONE)
TWO = [LIGHT_AND_LARGE, DARK_AND_SMALL]
# And a window where the two columns have just room.
ALL = [*product(("light", "dark"), (DESKTOP, PHONE)), ("light", (1040, 700))]


def in_turn(stage: Stage, state: int) -> list[tuple[str, tuple[int, int]]]:
    """Return one of two ways to look: the other for the next stage, and for the next state."""
    return [TWO[(list(Stage).index(stage) + state) % 2]]


def check(page: Page, frame: Frame | Page, looks: list[tuple[str, tuple[int, int]]]) -> None:
    """Look at the page in each way; what is wrong is named with the way."""
    for scheme, (width, height) in looks:
        # Without motion: a colour on its way to another is none of the page's.
        page.emulate_media(
            color_scheme="dark" if scheme == "dark" else "light", reduced_motion="reduce"
        )
        page.set_viewport_size({"width": width, "height": height})
        settle(frame, width, dark=scheme == "dark")
        assert axe(frame) + overflow(frame) == [], f"{scheme}, {width} px"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})


@pytest.fixture
def watch(desk: Desk) -> Iterator[Watch]:
    """What the browser complains of; a test that ends with anything unexplained fails."""
    watch = Watch(desk.context)
    yield watch
    assert watch.said == []


@contextmanager
def cut(desk: Desk) -> Iterator[None]:
    """No way to the server for answers."""
    desk.context.route("**/hits/api/*", lambda route: route.abort())
    yield
    desk.context.unroute("**/hits/api/*")


def test_the_check_can_fail(desk: Desk) -> None:
    watch = Watch(desk.context)
    page = desk.page
    page.goto(preview_address(desk, demo_campaign(), Stage.LINKS))
    expect(page.get_by_text("This is a preview.")).to_be_visible()
    assert axe(page) == []
    assert overflow(page) == []
    page.evaluate(
        """() => {
          const pale = document.createElement("p");
          pale.textContent = "Hard to read, and wide";
          pale.style.cssText = "color: #999; background: #bbb; width: 9000px; flex: none";
          document.querySelector("main").append(pale, document.createElement("button"));
          const script = document.createElement("script");
          script.textContent = "window.ran = true";
          document.body.append(script);
        }"""
    )
    assert {problem.split()[0] for problem in axe(page)} == {"color-contrast", "button-name"}
    assert "the page scrolls sideways" in overflow(page)
    assert page.evaluate("window.ran") is None
    assert any("policy script-src" in said for said in watch.said)


@pytest.mark.parametrize("stage", Stage)
def test_at_work(desk: Desk, watch: Watch, stage: Stage) -> None:
    campaign = demo_campaign(questions=2)
    open_questions_of(campaign, stage, at_least=2)
    shown = begin(desk, campaign, stage)
    frame = task_frame(desk.page)
    check(desk.page, frame, ALL if stage in {Stage.LINKS, Stage.DRAWING} else TWO)
    shown.get_by_text("Comment or report a problem").click()
    expect(shown.get_by_label("Comment (optional)")).to_be_visible()
    check(desk.page, frame, in_turn(stage, 0))
    with cut(desk):
        answer_button(shown, stage, list(LABELS[stage])[-1]).click()
        expect(shown.get_by_text("Not saved yet, retrying…")).to_be_visible()
        shown.get_by_role("button", name="Question 1, answered").click()
        expect(answer_button(shown, stage, list(LABELS[stage])[-1])).to_have_attribute(
            "aria-pressed", "true"
        )
        check(desk.page, frame, in_turn(stage, 1))
    expect(shown.get_by_text("Saved", exact=True)).to_be_visible()
    watch.forget("net::ERR_FAILED")


def test_a_box_being_adjusted(desk: Desk, watch: Watch) -> None:
    campaign = demo_campaign(questions=2)
    open_questions_of(campaign, Stage.DRAWING, at_least=2)
    shown = begin(desk, campaign, Stage.DRAWING)
    draw(shown, Rect(40, 60, 200, 240))
    expect(shown.get_by_role("button", name="Question 1, answered")).to_be_visible()
    expect(shown.get_by_role("button", name="Clear")).to_be_visible()
    check(desk.page, task_frame(desk.page), TWO)


@pytest.mark.parametrize("stage", Stage)
def test_a_test(desk: Desk, watch: Watch, stage: Stage) -> None:
    shown = begin(desk, demo_campaign(), stage, test=True)
    frame = task_frame(desk.page)
    lessons = lessons_of(desk)
    for right, lesson in zip((True, False), lessons, strict=False):
        answer_lesson(shown, stage, lesson, right=right)
        expect(shown.get_by_text("✓ Right" if right else "✗ Not right")).to_be_visible()
        expect(shown.get_by_text(lesson.why)).to_be_visible()
        check(desk.page, frame, in_turn(stage, int(right)))
        # Not by its place: the window has just been other sizes, and the page may still move.
        shown.get_by_role("button", name="Next").dispatch_event("click")
    answers = desk.sitting.questions.exclude(answer="")
    assert answers.count() == 2


@pytest.mark.parametrize("passes", [True, False])
def test_the_score(desk: Desk, watch: Watch, passes: bool) -> None:
    shown = begin(desk, demo_campaign(), Stage.COVERAGE, test=True)
    for number, lesson in enumerate(lessons_of(desk), start=1):
        answer_lesson(shown, Stage.COVERAGE, lesson, right=passes)
        feedback = shown.locator(".feedback-title")
        expect(feedback).to_contain_text("Right" if passes else "Not right")
        if number < len(lessons_of(desk)):
            shown.get_by_role("button", name="Next").click()
            expect(shown.get_by_text(f"{number + 1} of {len(lessons_of(desk))}")).to_be_visible()
    shown.get_by_role("button", name="Submit").click()
    title = "You passed the test" if passes else "You did not pass the test this time"
    expect(shown.get_by_role("heading", name=title)).to_be_visible()
    check(desk.page, task_frame(desk.page), TWO)


def test_examples(desk: Desk, watch: Watch) -> None:
    campaign = demo_campaign()
    for stage in Stage:
        desk.page.goto(f"{desk.tasks}/hits/{campaign.pk}/{stage.value}/examples/")
        expect(desk.page.get_by_text("Worked examples")).to_be_visible()
        check(desk.page, desk.page, TWO if stage is Stage.DRAWING else in_turn(stage, 0))


def test_previews(desk: Desk, watch: Watch) -> None:
    campaign = demo_campaign()
    for stage in Stage:
        desk.page.goto(preview_address(desk, campaign, stage))
        expect(desk.page.get_by_text("This is a preview.")).to_be_visible()
        check(desk.page, desk.page, TWO if stage is Stage.DRAWING else in_turn(stage, 0))


def test_consent_given_or_not(desk: Desk, watch: Watch) -> None:
    campaign = demo_campaign()
    shown = desk.accept(desk.publish(campaign, Stage.LINKS))
    expect(shown.get_by_role("heading", name="Before you begin")).to_be_visible()
    frame = task_frame(desk.page)
    check(desk.page, frame, TWO)
    shown.get_by_role("button", name="I do not agree").click()
    expect(shown.get_by_role("heading", name="That is fine")).to_be_visible()
    check(desk.page, frame, TWO)
    assert not models.Consent.objects.exists()


@pytest.mark.parametrize(
    "why", ["Every question that you could answer", "Other workers are working"]
)
def test_nothing_to_do(desk: Desk, watch: Watch, why: str) -> None:
    campaign = demo_campaign(questions=100)
    agree(desk, campaign)
    open_questions_of(campaign, Stage.COVERAGE, at_least=1)
    if "Other" in why:
        opened(claim_of(campaign, Stage.COVERAGE))
    else:
        models.OpenQuestion.objects.filter(stage=Stage.COVERAGE.value).delete()
    shown = desk.accept(desk.publish(campaign, Stage.COVERAGE))
    expect(shown.get_by_text(why)).to_be_visible()
    check(desk.page, task_frame(desk.page), TWO)


def test_pages_that_say_what_is_wrong(desk: Desk, watch: Watch) -> None:
    campaign = demo_campaign()
    hit = desk.publish(campaign, Stage.LINKS)
    path = f"/hits/{campaign.pk}/links/"
    for where, words in [
        (address(desk, hit, path, workerId=""), "has no workerId"),
        (address(desk, hit, path, turkSubmitTo="https://example.org"), "not a marketplace"),
        (f"{desk.tasks}/hits/{campaign.pk}/nonsense/", "There is no such task"),
    ]:
        desk.page.goto(where)
        expect(desk.page.get_by_text(words).first).to_be_visible()
        check(desk.page, desk.page, TWO)
    # The browser notes the status; that is all it says.
    watch.forget("the server responded with a status of 40")


def test_a_sitting_that_cannot_go_on(desk: Desk, watch: Watch) -> None:
    campaign = demo_campaign(questions=2)
    shown = begin(desk, campaign, Stage.LINKS)
    models.Sitting.objects.update(until=database_now() - timedelta(seconds=1))
    shown.get_by_role("button", name="Yes", exact=True).click()
    expect(shown.get_by_role("heading", name="time")).to_be_visible()
    check(desk.page, task_frame(desk.page), TWO)
    watch.forget("the server responded with a status of 410")


def test_answers_that_were_handed_in(desk: Desk, watch: Watch) -> None:
    campaign = demo_campaign(questions=2)
    shown = begin(desk, campaign, Stage.LINKS)
    desk.context.route("**/mturk/externalSubmit", lambda route: route.fulfill(status=204))
    shown.get_by_role("button", name="Yes", exact=True).click()
    expect(shown.get_by_text("2 of 2")).to_be_visible()
    shown.get_by_role("button", name="Yes", exact=True).click()
    shown.get_by_role("button", name="Submit").click()
    expect(shown.get_by_role("heading", name="Your answers are saved")).to_be_visible()
    desk.page.reload()
    expect(shown.get_by_role("button", name="Submit to the marketplace again")).to_be_visible()
    check(desk.page, task_frame(desk.page), TWO)
    watch.forget("net::ERR_FAILED")
