"""A phone of 320 × 640, fingers only: everything can be reached, whole sittings can be done."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.models import SittingStatus
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage
from tests.browser.kit.corpus import demo_campaign, open_questions_of
from tests.browser.kit.desk import Desk
from tests.browser.kit.drawing import Hand, photo_campaign
from tests.browser.kit.pages import lessons_of
from tests.browser.kit.touch import PHONE, Fingers, out_of_reach
from tests.browser.kit.trouble import (
    TWO_FRAMES,
    at,
    desk_of,
    handed_in,
    links_of,
    shows,
    stored,
    submitted,
    task_frame,
)
from tests.browser.tasks.test_boxes import near
from tests.web.campaigns import small_campaign

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

AGREE = "I agree, show me the questions"


@pytest.fixture
def phone(browser: Browser, live_server: LiveServer) -> Iterator[Desk]:
    # Playwright makes a phone of frames of the window's own site only.
    with desk_of(browser, live_server, same_site=True, **PHONE) as desk:
        yield desk


def within_reach(phone: Desk) -> None:
    frame = task_frame(phone.page)
    assert frame.evaluate("matchMedia('(pointer: coarse)').matches")
    assert out_of_reach(frame) == []
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 320


def test_the_check_can_fail(phone: Desk, tmp_path: Path) -> None:
    links_of(phone, tmp_path)
    expect(phone.frame.get_by_role("button", name="Next")).to_be_visible()
    frame = task_frame(phone.page)
    assert out_of_reach(frame) == []
    for harm in ("minHeight = '0'; next.style.height = '20px'", "width = '400px'"):
        frame.evaluate(
            """(harm) => {
              const next = document.querySelector(".navigation button:nth-child(2)");
              next.removeAttribute("style");
              eval(`next.style.${harm}`);
            }""",
            harm,
        )
        assert len(out_of_reach(frame)) > 0


@pytest.mark.parametrize("stage", list(Stage))
def test_all_pages_of_a_stage(phone: Desk, stage: Stage) -> None:
    campaign = demo_campaign()
    open_questions_of(campaign, stage)
    hit = phone.publish(campaign, stage)
    frame = phone.preview(hit)
    expect(frame.get_by_text("This is a preview.")).to_be_visible()
    within_reach(phone)
    phone.accept(hit)
    expect(frame.get_by_role("button", name=AGREE)).to_be_visible()
    within_reach(phone)
    frame.get_by_role("button", name=AGREE).tap()
    at(frame, "1 of 3")
    frame.get_by_text("Comment or report a problem").tap()
    expect(frame.get_by_label("Comment (optional)")).to_be_visible()
    within_reach(phone)
    with phone.context.expect_page() as opened:
        frame.get_by_role("link", name="Worked examples").tap()
    expect(opened.value.get_by_role("article").first).to_be_visible()
    assert out_of_reach(opened.value) == []


def test_a_test_and_its_score(phone: Desk) -> None:
    campaign = demo_campaign()
    frame = phone.accept(phone.publish(campaign, Stage.LINKS, test=True))
    frame.get_by_role("button", name=AGREE).tap()
    expect(frame.get_by_role("button", name="Submit")).to_be_visible()
    lessons = lessons_of(phone)
    for number, lesson in enumerate(lessons, start=1):
        at(frame, f"{number} of {len(lessons)}")
        label = {"yes": "Yes", "no": "No"}[lesson.answer]
        frame.get_by_role("button", name=label, exact=True).tap()
        expect(frame.get_by_text("✓ Right")).to_be_visible()
        if number == 1:
            within_reach(phone)
        if number < len(lessons):
            frame.get_by_role("button", name="Next").tap()
    frame.get_by_role("button", name="Submit", exact=True).tap()
    expect(frame.get_by_role("heading", name="You passed the test")).to_be_visible()
    within_reach(phone)
    frame.get_by_role("button", name="Submit the HIT").tap()
    expect(phone.page.get_by_role("main")).to_contain_text("submitted", ignore_case=True)
    assert (phone.sitting.right, phone.sitting.asked) == (len(lessons), len(lessons))


def test_links_by_touch(phone: Desk, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["first", "second"])
    phone.preview(phone.publish(campaign, Stage.LINKS))
    phone.page.get_by_role("button", name="Accept and work").tap()
    frame = phone.frame
    frame.get_by_role("button", name=AGREE).tap()
    at(frame, "1 of 2")
    frame.get_by_text("Comment or report a problem").tap()
    frame.get_by_text("The wrong words are marked: A man").tap()
    frame.get_by_role("button", name="Yes", exact=True).tap()
    at(frame, "2 of 2")
    frame.get_by_role("button", name="No", exact=True).tap()
    shows(frame, "Saved")
    assert stored(phone) == {1: "yes", 2: "no"}
    frame.get_by_role("button", name="Submit", exact=True).tap()
    submitted(phone)
    answers = json.loads(handed_in(phone)["answers"])
    assert [one["answer"] for one in answers] == ["yes", "no"]
    assert "cut_wrongly" in answers[0]


def test_drawing_by_touch(phone: Desk, tmp_path: Path) -> None:
    """By four taps and by a drag; two fingers zoom and move, and draw nothing."""
    campaign = photo_campaign(tmp_path, (400, 300))
    phone.preview(phone.publish(campaign, Stage.DRAWING))
    phone.page.get_by_role("button", name="Accept and work").tap()
    phone.frame.get_by_role("button", name=AGREE).tap()
    expect(phone.frame.get_by_role("button", name="Submit")).to_be_visible()
    hand, fingers = Hand(phone, pixel_ratio=2), Fingers(phone.page)
    wanted = Rect(90, 61, 301, 220)
    for point in ((200, 61), (90, 150), (200, 220), (301, 150)):
        fingers.tap(hand.spot(*point))
    marked = hand.saved()
    assert near(marked, wanted, 1 / (2 * hand.scale) + 1), marked
    assert hand.saved_way() == "extreme"
    hand.button("Clear").tap()
    assert hand.saved() is None

    phone.frame.get_by_role("radio", name="Drag").tap()
    hand.in_sight()
    before = hand.scale
    # The fingers part, and then go down and to the right together.
    spread = [[(120, 190), (120, 210), (160, 230)], [(200, 190), (280, 210), (310, 230)]]
    fingers.swipe(*[[hand.spot(*point) for point in way] for way in spread])
    hand.stage.evaluate(TWO_FRAMES)
    assert hand.scale > 1.5 * before
    assert hand.saved() is None
    wanted = Rect(130, 140, 211, 205)
    corners = [(130, 140), (170, 180), (211, 205)]
    fingers.swipe([hand.spot(*point) for point in corners])
    dragged = hand.saved()
    assert near(dragged, wanted, 1), dragged
    assert dragged is not None
    # Its right edge, near enough for a finger, a little to the right.
    edge = (dragged.ymin + dragged.ymax) / 2
    grip = [(dragged.xmax + 0.5 + by, edge) for by in (0, 8, 16)]
    fingers.swipe([hand.spot(*point) for point in grip])
    adjusted = hand.saved()
    assert adjusted is not None
    assert near(adjusted, Rect(dragged.xmin, dragged.ymin, dragged.xmax + 16, dragged.ymax))
    phone.frame.get_by_role("button", name="Submit", exact=True).tap()
    submitted(phone)
    [answer] = json.loads(handed_in(phone)["answers"])
    assert Rect(*answer["rect"]) == adjusted
    assert answer["way"] == "drag"
    assert models.Sitting.objects.get().status == SittingStatus.FINISHED
