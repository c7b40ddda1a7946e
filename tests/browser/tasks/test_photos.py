"""Photos of any size are shown; for missing photos the page explains what to do."""

import re
import time
from pathlib import Path

import pytest
from django.core import signing
from django.core.files.storage import default_storage
from playwright.sync_api import FrameLocator, expect
from pytest_django import Settings

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import judgments_record
from annotation.pipeline.engine import open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import decode_answer
from annotation.selectors.corpus import photos
from marketplace.models import Assignment
from marketplace.rules.lifecycle import AssignmentStatus
from tests.browser.kit.desk import Desk
from tests.browser.kit.pages import answer_button, axe, begin, draw, on_screen, task_frame
from tests.browser.kit.small_corpus import Pictured, small_campaign

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

LOST = "The photo could not be loaded."


@pytest.fixture(autouse=True)
def _own_files(settings: Settings, tmp_path: Path) -> None:
    """Photos are stored by their content: what one test spoils must not be another's."""
    settings.MEDIA_ROOT = tmp_path / "media"


def file_of(campaign: models.Campaign, name: str) -> Path:
    return Path(default_storage.path(models.Image.objects.get(campaign=campaign, name=name).file))


def answered(desk: Desk) -> dict[str, str]:
    """Return the server's answers by image."""
    questions = desk.sitting.questions.exclude(answer="").select_related("image")
    return {one.image.name: decode_answer(one.answer).answer for one in questions}


def expect_blind(shown: FrameLocator) -> None:
    """The photo is not there: that is said, nothing can be answered, and there is a way out."""
    # The page tries twice more by itself before it says so.
    expect(shown.get_by_role("alert").filter(has_text=LOST)).to_be_visible(timeout=15_000)
    expect(answer_button(shown, Stage.REQUIREMENT, "box")).to_be_disabled()
    expect(shown.get_by_text("use the marketplace’s Return button")).to_be_visible()


@pytest.mark.parametrize("size", [(50, 50), (8000, 6000), (3000, 60)], ids=str)
def test_a_photo_of_any_size(desk: Desk, tmp_path: Path, size: tuple[int, int]) -> None:
    campaign = small_campaign(tmp_path, [Pictured("it", size=size)])
    open_drawing(campaign)
    shown = begin(desk, campaign, Stage.DRAWING)
    place = shown.locator("img.photo-picture.shown").bounding_box()
    stage = shown.get_by_role("application", name="Photo").bounding_box()
    assert place is not None
    assert stage is not None
    fills = max(place["width"] / stage["width"], place["height"] / stage["height"])
    assert 0.9 < fills <= 1, "as large as fits, larger or smaller than it is"
    width, height = size
    drawn = Rect(width // 4 + 1, height // 4 + 1, width * 3 // 4, height * 3 // 4)
    draw(shown, drawn)
    expect(shown.get_by_text("Saved", exact=True)).to_be_visible()
    expect(shown.get_by_role("button", name="Question 1, answered")).to_be_visible()
    shown.get_by_role("button", name="Submit").click()
    expect(desk.page.get_by_text("submitted").first).to_be_visible()
    rect = decode_answer(desk.sitting.questions.get().answer).rect
    assert rect is not None
    # One step of the mouse is so many pixels of the photo.
    step = max(1, round(width / place["width"])) + 1
    assert all(abs(a - b) <= step for a, b in zip(as_tuple(rect), as_tuple(drawn), strict=True))


def open_drawing(campaign: models.Campaign) -> None:
    """Let two workers say that a box can be drawn."""
    image = models.Image.objects.select_related("stored_state").get(campaign=campaign)
    for worker in workers_simulated(count=2):
        state = models.StoredState.objects.get(pk=image.pk).state
        for question in open_questions(state):
            if question.stage is Stage.REQUIREMENT:
                judgment = Judgment(worker=worker, question=question, answer="box")
                judgments_record(image_id=image.pk, judgments=[judgment])


def as_tuple(rect: Rect) -> tuple[int, int, int, int]:
    return rect.xmin, rect.ymin, rect.xmax, rect.ymax


def test_a_photo_that_comes_back(desk: Desk, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [Pictured("first"), Pictured("second")])
    photo = file_of(campaign, "second")
    photo.rename(tmp_path / "aside.jpg")
    shown = begin(desk, campaign, Stage.REQUIREMENT)
    answer_button(shown, Stage.REQUIREMENT, "box").click()
    expect_blind(shown)
    (tmp_path / "aside.jpg").rename(photo)
    shown.get_by_role("button", name="Try again").click()
    expect(answer_button(shown, Stage.REQUIREMENT, "nobox")).to_be_enabled()
    expect(shown.get_by_text("2 of 2")).to_be_visible()
    answer_button(shown, Stage.REQUIREMENT, "nobox").click()
    shown.get_by_role("button", name="Submit").click()
    expect(desk.page.get_by_text("submitted").first).to_be_visible()
    assert answered(desk) == {"first": "box", "second": "nobox"}


def test_a_photo_that_is_none_and_the_hit_is_returned(desk: Desk, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [Pictured("first")])
    file_of(campaign, "first").write_bytes(b"<svg onload='window.ran=1'>no photo</svg>")
    shown = begin(desk, campaign, Stage.REQUIREMENT)
    expect_blind(shown)
    assert axe(task_frame(desk.page)) == []
    # Keys answer as little as buttons.
    shown.get_by_role("heading", level=2).click()
    desk.page.keyboard.press("1")
    desk.page.get_by_role("button", name="Return").click()
    expect(desk.page.get_by_text("You have returned the HIT.")).to_be_visible()
    assert not Assignment.objects.filter(status=AssignmentStatus.ACCEPTED).exists()
    assert answered(desk) == {}


def test_an_address_that_has_expired(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign = small_campaign(tmp_path, [Pictured("first"), Pictured("second")])
    asked: list[str] = []
    desk.context.on("request", lambda request: asked.append(request.url))
    with monkeypatch.context() as patch:
        # As if the page had been open for hours.
        long_ago = signing.b62_encode(int(time.time()) - 4 * 3600)
        patch.setattr(photos._PhotoSigner, "timestamp", lambda signer: long_ago)
        shown = begin(desk, campaign, Stage.REQUIREMENT)
        shown.get_by_role("button", name="Question 2").click()
        expect_blind(shown)
    stale = {url for url in asked if "/photos/" in url}
    assert len(stale) == 2
    shown.get_by_role("button", name="Try again").click()
    on_screen(shown, 0, 0)
    expect(shown.get_by_text("2 of 2")).to_be_visible()
    assert {url for url in asked if "/photos/" in url} - stale
    answer_button(shown, Stage.REQUIREMENT, "scene").click()
    shown.get_by_role("button", name="Question 1").click()
    on_screen(shown, 0, 0)
    answer_button(shown, Stage.REQUIREMENT, "box").click()
    shown.get_by_role("button", name="Submit").click()
    expect(desk.page.get_by_text("submitted").first).to_be_visible()
    assert answered(desk) == {"first": "box", "second": "scene"}


def test_an_image_withdrawn_in_the_middle(desk: Desk, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [Pictured("first"), Pictured("second"), Pictured("third")])
    shown = begin(desk, campaign, Stage.REQUIREMENT)
    on_screen(shown, 0, 0)
    image_withdraw(image=models.Image.objects.get(name="third"), reason="rights")
    answer_button(shown, Stage.REQUIREMENT, "box").click()
    expect(shown.get_by_text("2 of 3")).to_be_visible()
    answer_button(shown, Stage.REQUIREMENT, "nobox").click()
    expect(shown.get_by_text("3 of 3")).to_be_visible()
    expect_blind(shown)
    # Asking for the photo again brings the sitting as it is now: without that question.
    shown.get_by_role("button", name="Try again").click()
    expect(shown.get_by_text(re.compile(r"^[12] of 2$"))).to_be_visible()
    shown.get_by_role("button", name="Submit").click()
    expect(desk.page.get_by_text("submitted").first).to_be_visible()
    assert answered(desk) == {"first": "box", "second": "nobox"}
    assert desk.assignment.status == AssignmentStatus.SUBMITTED
