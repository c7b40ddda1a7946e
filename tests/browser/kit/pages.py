"""Task pages in a given state, and the checks made while they are shown."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import BrowserContext, Dialog, Frame, FrameLocator, Locator, Page, expect

from annotation import models
from annotation.actions.work.sittings import consent_give
from annotation.hits.arrivals import PREVIEW_ASSIGNMENT
from annotation.models import SittingKind
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.guides import Lesson
from annotation.selectors.work.guides import consent_guide
from annotation.selectors.work.sittings import Claim, sitting_lessons
from marketplace.models import HIT
from tests.acceptances import accepted, with_acceptance
from tests.browser.kit.desk import Desk
from tests.offers import offered

ROOT = Path(__file__).parents[3]
AXE = ROOT / "frontend" / "node_modules" / "axe-core" / "axe.min.js"
DESKTOP, PHONE = (1280, 800), (320, 640)
# The names of the answers' buttons; a box is drawn instead.
LABELS: dict[Stage, dict[str, str]] = {
    Stage.LINKS: {"yes": "Yes", "no": "No"},
    Stage.VERIFICATION: {"true": "True", "false": "False"},
    Stage.REQUIREMENT: {
        "box": "At least one box can be drawn",
        "scene": "It is the scene or a place",
        "nobox": "No box can be drawn",
    },
    Stage.DRAWING: {"none": "No further box needed"},
    Stage.QUALITY: {"good": "Good", "bad": "Bad"},
    Stage.COVERAGE: {"yes": "True", "no": "False"},
}
_TELL_VIOLATIONS = """document.addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy ${event.violatedDirective}: ${event.blockedURI}`));"""


def agree(desk: Desk, campaign: models.Campaign) -> None:
    """Let the desk's worker have agreed to the study already."""
    row = consent_guide(campaign).row
    claim = Claim(
        campaign=campaign.pk,
        stage=Stage.LINKS,
        kind=SittingKind.WORK,
        assignment_id="before",
        hit_id=offered(campaign, Stage.LINKS, f"BEFORE{campaign.pk}").hit_id or "",
        worker=desk.worker.worker_id,
        acceptance=accepted(),
    )
    consent_give(claim=claim, version=row.version if row else 1)


def begin(
    desk: Desk, campaign: models.Campaign, stage: Stage, *, test: bool = False
) -> FrameLocator:
    """Accept a HIT of the stage, or of its test; return the frame with its first question."""
    agree(desk, campaign)
    frame = desk.accept(desk.publish(campaign, stage, test=test))
    expect(frame.get_by_role("button", name="Submit")).to_be_visible()
    return frame


def task_frame(page: Page) -> Frame:
    """Return the marketplace's frame as what scripts can be run in."""
    (frame,) = page.main_frame.child_frames
    return frame


def address(desk: Desk, hit: HIT, path: str, **changes: str) -> str:
    """Return the address of a task page as the platform would make it, or not quite."""
    query = {
        "assignmentId": "of-nobody",
        "hitId": hit.hit_id,
        "workerId": desk.worker.worker_id,
        "turkSubmitTo": f"{desk.marketplace}/marketplace",
    } | changes
    query = with_acceptance(query, keys=desk.keys)
    return f"{desk.tasks}{path}?{urlencode({key: value for key, value in query.items() if value})}"


def preview_address(desk: Desk, campaign: models.Campaign, stage: Stage) -> str:
    path = f"/hits/{campaign.pk}/{stage.value}/"
    return f"{desk.tasks}{path}?assignmentId={PREVIEW_ASSIGNMENT}"


def answer_button(frame: FrameLocator, stage: Stage, answer: str) -> Locator:
    return frame.get_by_role("button", name=LABELS[stage][answer], exact=True)


def answer_lesson(frame: FrameLocator, stage: Stage, lesson: Lesson, *, right: bool) -> None:
    """Answer the test question in view, rightly or wrongly."""
    answer = lesson.answer
    if not right:
        others = ["none", "box"] if stage is Stage.DRAWING else list(LABELS[stage])
        answer = next(other for other in others if other != lesson.answer)
    if answer in LABELS[stage]:
        answer_button(frame, stage, answer).click()
        return
    draw(frame, lesson.expected[0] if lesson.expected else Rect(2, 2, 30, 30))
    frame.get_by_role("button", name="Check this box").click()


def draw(frame: FrameLocator, rect: Rect) -> None:
    """Drag a box by its corners, given in pixels of the image."""
    drag = frame.get_by_role("radio", name="Drag")
    if drag.count():
        # The input lies under its label's text.
        drag.check(force=True)
    page = frame.owner.page
    page.mouse.move(*on_screen(frame, rect.xmin - 0.5, rect.ymin - 0.5))
    page.mouse.down()
    page.mouse.move(*on_screen(frame, rect.xmax - 0.5, rect.ymax - 0.5), steps=3)
    page.mouse.up()


def on_screen(frame: FrameLocator, x: float, y: float) -> tuple[float, float]:
    """Return where a point of the photo is in the window."""
    shown = frame.locator("img.photo-picture.shown").first
    expect(shown).to_be_visible()
    place = shown.bounding_box()
    assert place is not None
    width, height = shown.evaluate("image => [image.naturalWidth, image.naturalHeight]")
    return place["x"] + x / width * place["width"], place["y"] + y / height * place["height"]


def lessons_of(desk: Desk) -> tuple[Lesson, ...]:
    return sitting_lessons(desk.sitting)


class Watch:
    """What a browser complains of: errors in the console, breaches of the policy, dialogs."""

    def __init__(self, context: BrowserContext) -> None:
        self.said: list[str] = []
        self.asked: list[str] = []
        context.add_init_script(_TELL_VIOLATIONS)
        context.on("console", lambda message: self._hear(message.type, message.text))
        context.on("weberror", lambda error: self.said.append(str(error.error)))
        context.on("dialog", self._refuse)
        context.on("request", lambda request: self.asked.append(request.url))

    def _refuse(self, dialog: Dialog) -> None:
        self.said.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _hear(self, kind: str, text: str) -> None:
        if kind == "error":
            self.said.append(text)

    def forget(self, *expected: str) -> None:
        """Leave out what was said, if it has one of the expected words in it."""
        self.said = [text for text in self.said if not any(word in text for word in expected)]


def axe(frame: Frame | Page) -> list[str]:
    """Return what axe-core finds wrong and calls serious or critical."""
    # Only what the page itself forbids itself needs this way in: there are no inline scripts.
    if not frame.evaluate("'axe' in window"):
        frame.evaluate(AXE.read_text(encoding="utf-8"))
    found: list[dict[str, Any]] = frame.evaluate(
        """async () => (await axe.run(document, {resultTypes: ["violations"], preload: false,
          iframes: false})).violations"""
    )
    return [
        f"{one['id']} ({one['impact']}): {one['help']}: {node['html'][:200]}"
        f" {json.dumps(node['any'][0]['data'])[:200] if node['any'] else ''}"
        for one in found
        if one["impact"] in {"serious", "critical"}
        for node in one["nodes"]
    ]


def settle(frame: Frame | Page, width: int, *, dark: bool = False) -> None:
    """Wait until the page has learnt of a window of that width, and of its colours.

    `wait_for_function` would evaluate text again and again, which the policy forbids.
    """
    frame.evaluate(
        """([width, dark]) => new Promise((done) => {
          const look = () => {
            const fits = innerWidth <= width && innerWidth > width - 100;
            if (fits && matchMedia("(prefers-color-scheme: dark)").matches === dark) done();
            else requestAnimationFrame(look);
          };
          look();
        })""",
        [width, dark],
    )


def overflow(frame: Frame | Page) -> list[str]:
    """Return what sticks out at the sides, of the page or of a part that cuts it off."""
    found: Sequence[str] = frame.evaluate(
        """() => {
          const width = document.documentElement.clientWidth;
          const out = [];
          if (document.documentElement.scrollWidth > width) out.push("the page scrolls sideways");
          for (const one of document.querySelectorAll("button, p, h1, h2, li, label, summary")) {
            const {left, right, width: own} = one.getBoundingClientRect();
            const seen = one.checkVisibility({visibilityProperty: true})
              && !one.closest(".unseen, .editor-said, .steps");
            if (!seen || own === 0) continue;
            let cut = left < -1 || right > width + 1;
            for (let part = one.parentElement; part && !cut; part = part.parentElement) {
              const edge = part.getBoundingClientRect();
              cut = getComputedStyle(part).overflowX !== "visible"
                && (left < edge.left - 1 || right > edge.right + 1);
            }
            if (cut) out.push(`${one.tagName}: ${one.textContent.slice(0, 40)}`);
          }
          return out;
        }"""
    )
    return list(found)
