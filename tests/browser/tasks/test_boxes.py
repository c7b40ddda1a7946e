"""Boxes are in image pixels, however large the photo is shown, and can be made exact."""

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from pytest_django.live_server_helper import LiveServer

from annotation.pipeline.geometry import Rect
from tests.browser.kit.desk import Desk
from tests.browser.kit.drawing import photo_campaign, sit_down
from tests.browser.kit.trouble import desk_of, task_frame

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

BOX = Rect(61, 40, 330, 251)


def near(rect: Rect | None, wanted: Rect, by: float = 1) -> bool:
    assert rect is not None
    edges = zip(
        (rect.xmin, rect.ymin, rect.xmax, rect.ymax),
        (wanted.xmin, wanted.ymin, wanted.xmax, wanted.ymax),
        strict=True,
    )
    return all(abs(edge - other) <= by for edge, other in edges)


@pytest.mark.parametrize("pixel_ratio", [1, 2])
@pytest.mark.parametrize("zoom", [50, 75, 100, 150, 200])
def test_the_same_box_at_every_zoom(
    browser: Browser, live_server: LiveServer, tmp_path: Path, zoom: int, pixel_ratio: int
) -> None:
    """A browser's own zoom lays the page out on fewer, larger CSS pixels: at 200% a window has half
    as many each way, and each has twice the screen's pixels."""
    times = zoom / 100
    options: dict[str, Any] = {
        "viewport": {"width": round(1280 / times), "height": round(800 / times)},
        "device_scale_factor": pixel_ratio * times,
    }
    campaign = photo_campaign(tmp_path, (400, 300))
    # Playwright sets the ratio in frames of the window's own site only.
    with desk_of(browser, live_server, same_site=True, **options) as desk:
        hand = sit_down(desk, campaign)
        hand.pixel_ratio = pixel_ratio * times
        assert task_frame(desk.page).evaluate("devicePixelRatio") == hand.pixel_ratio
        hand.way("Drag")
        hand.draw(BOX)
        dragged = hand.saved()
        assert (near(dragged, BOX), hand.saved_way()) == (True, "drag"), dragged
        hand.button("Clear").click()
        assert hand.saved() is None
        hand.way("Four points")
        hand.mark(BOX)
        marked = hand.saved()
        assert (near(marked, BOX), hand.saved_way()) == (True, "extreme"), marked


def test_a_box_on_a_photo_zoomed_in_and_moved(desk: Desk, tmp_path: Path) -> None:
    wanted = Rect(150, 110, 210, 171)
    hand = sit_down(desk, photo_campaign(tmp_path, (400, 300)))
    hand.zoom(180, 140, turns=2)
    hand.pan(37, -21)
    assert hand.scale > 3
    hand.way("Drag")
    hand.draw(wanted)
    assert hand.saved() == wanted
    hand.button("Clear").click()
    hand.way("Four points")
    hand.pan(-50, 13)
    hand.mark(wanted)
    assert hand.saved() == wanted
    hand.button("Show the whole photo").click()
    assert hand.saved() == wanted


def test_a_tiny_photo(desk: Desk, tmp_path: Path) -> None:
    """50 × 50, and a box of one pixel, and one up to every edge."""
    hand = sit_down(desk, photo_campaign(tmp_path, (50, 50)))
    assert hand.scale > 5
    hand.way("Four points")
    for wanted in (Rect(7, 9, 31, 44), Rect(1, 1, 50, 50)):
        hand.mark(wanted)
        assert hand.saved() == wanted
        hand.button("Clear").click()
        assert hand.saved() is None
    hand.way("Drag")
    hand.draw(Rect(7, 9, 31, 44))
    assert hand.saved() == Rect(7, 9, 31, 44)
    hand.button("Clear").click()
    hand.drag((25.7, 25.7), (26.3, 26.3))
    assert hand.saved() == Rect(26, 26, 26, 26)


def test_a_huge_photo(desk: Desk, tmp_path: Path) -> None:
    """8000 × 6000: a pixel of the screen is several of the photo, until it is zoomed in."""
    wanted = Rect(1003, 804, 5251, 4402)
    hand = sit_down(desk, photo_campaign(tmp_path, (8000, 6000)))
    hand.way("Drag")
    assert hand.scale < 0.2
    hand.draw(wanted)
    rough = hand.saved()
    assert near(rough, wanted, 1 / hand.scale)
    assert rough is not None
    # Each corner is taken where it is and put where it belongs.
    hand.zoom_until(1.5, rough.xmin, rough.ymin)
    hand.drag((rough.xmin - 0.5, rough.ymin - 0.5), (wanted.xmin - 0.5, wanted.ymin - 0.5))
    hand.button("Show the whole photo").click()
    hand.zoom_until(1.5, rough.xmax, rough.ymax)
    hand.drag((rough.xmax + 0.5, rough.ymax + 0.5), (wanted.xmax + 0.5, wanted.ymax + 0.5))
    fine = hand.saved()
    assert near(fine, wanted), fine


def test_adjusting(desk: Desk, tmp_path: Path) -> None:
    """Edges and corners by their handles, pixels by the arrow keys, and all of it undone."""
    hand = sit_down(desk, photo_campaign(tmp_path, (400, 300)))
    hand.way("Drag")
    hand.draw(Rect(100, 80, 240, 200))
    hand.has(Rect(100, 80, 240, 200))
    hand.drag((240.5, 140), (290.5, 150))
    hand.has(Rect(100, 80, 290, 200))
    hand.drag((99.5, 79.5), (60.5, 59.5))
    hand.has(Rect(61, 60, 290, 200))
    hand.drag((170, 130), (180, 140))
    hand.has(Rect(71, 70, 300, 210))
    assert hand.saved() == Rect(71, 70, 300, 210)

    hand.stage.press("ArrowLeft")
    hand.has(Rect(70, 70, 299, 210))
    hand.stage.press("Space")
    hand.stage.press("Shift+ArrowUp")
    hand.has(Rect(70, 60, 299, 210))
    hand.stage.press("Space")
    hand.stage.press("ArrowRight")
    hand.has(Rect(70, 60, 300, 210))
    assert hand.saved() == Rect(70, 60, 300, 210)

    hand.button("Undo").click()
    hand.button("Undo").click()
    hand.has(Rect(70, 70, 299, 210))
    hand.page.keyboard.press("Control+z")
    hand.page.keyboard.press("Control+z")
    hand.has(Rect(61, 60, 290, 200))
    hand.page.keyboard.press("Control+y")
    hand.has(Rect(71, 70, 300, 210))
    hand.button("Redo").click()
    hand.has(Rect(70, 70, 299, 210))
    assert hand.saved() == Rect(70, 70, 299, 210)
    assert hand.saved_way() == "drag"


def test_the_magnifier_shows_the_edge_that_is_held(desk: Desk, tmp_path: Path) -> None:
    hand = sit_down(desk, photo_campaign(tmp_path, (400, 300)))
    hand.way("Drag")
    hand.draw(Rect(100, 80, 240, 200))
    magnifier = hand.frame.locator(".loupe")
    expect(magnifier).to_have_count(0)
    hand.page.mouse.move(*hand.spot(240.5, 140))
    hand.page.mouse.down()
    hand.page.mouse.move(*hand.spot(260.5, 140))
    expect(magnifier).to_be_visible()
    stage, loupe = hand.stage.bounding_box(), magnifier.bounding_box()
    assert stage is not None
    assert loupe is not None
    assert stage["x"] <= loupe["x"] <= stage["x"] + stage["width"] - loupe["width"]
    assert stage["y"] <= loupe["y"] <= stage["y"] + stage["height"] - loupe["height"]
    hand.page.mouse.up()
    expect(magnifier).to_have_count(0)
    assert hand.saved() == Rect(100, 80, 260, 200)


def test_red_boxes(desk: Desk, tmp_path: Path) -> None:
    """A new box may lie inside or across them; H hides them for as long as it is held."""
    red = Rect(100, 80, 300, 220)
    hand = sit_down(desk, photo_campaign(tmp_path, (400, 300), red=[red]))
    expect(hand.frame.get_by_role("application", name="Photo with a red box")).to_be_visible()
    hand.way("Drag")
    boxes = hand.stage.locator("[data-rect]")
    expect(boxes).to_have_attribute("data-rect", "100 80 300 220")
    hand.page.keyboard.down("h")
    expect(boxes).to_have_count(0)
    hand.page.keyboard.up("h")
    expect(boxes).to_have_count(1)
    # From its very edge to the inside, and across it.
    hand.draw(Rect(100, 80, 200, 150))
    assert hand.saved() == Rect(100, 80, 200, 150)
    hand.button("Clear").click()
    hand.draw(Rect(260, 40, 380, 281))
    assert hand.saved() == Rect(260, 40, 380, 281)
    expect(boxes).to_have_count(2)
    hand.page.keyboard.down("h")
    expect(boxes).to_have_attribute("data-rect", "260 40 380 281")
    hand.page.keyboard.up("h")
    expect(boxes).to_have_count(2)
