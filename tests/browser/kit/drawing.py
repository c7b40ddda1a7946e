"""A photo of any size with a box to draw, and a hand that draws by image coordinates."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

from PIL import Image as Picture
from PIL import ImageDraw
from playwright.sync_api import FrameLocator, Locator, Page, expect

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create, campaign_settings_change
from annotation.actions.corpus.imports import ImageToImport, Take, images_import
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import judgments_record
from annotation.pipeline.captions import Caption
from annotation.pipeline.corpus.corpus_image import CorpusImage
from annotation.pipeline.corpus.pictures import read_picture
from annotation.pipeline.engine import open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import PEOPLE, Mention, MentionFinder
from annotation.pipeline.protocol.facts import Judgment
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import NO, Question, Stage
from annotation.pipeline.protocol.settings import DrawingWay
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.work.display import shown
from tests.browser.kit.desk import Desk
from tests.browser.kit.trouble import TWO_FRAMES, shows, stored_whole
from tests.web.campaigns import ANSWERS
from tests.web.work.task_pages import agree, claim_of

Point = tuple[float, float]
Box = tuple[float, float, float, float]

FRAME_START = """frame => {
  const box = frame.getBoundingClientRect();
  return [box.x + frame.clientLeft, box.y + frame.clientTop];
}"""
BOX_OF = """part => {
  const box = part.getBoundingClientRect();
  return [box.x, box.y, box.width, box.height];
}"""
SCROLL_BELOW_BAR = """frame => {
  const bar = document.querySelector(".work-bar").getBoundingClientRect();
  const top = frame.getBoundingClientRect().top - Math.max(0, bar.bottom);
  scrollBy({ top, behavior: "instant" });
}"""


def photo_campaign(
    folder: Path,
    size: tuple[int, int],
    red: Sequence[Rect] = (),
    way: DrawingWay = DrawingWay.CHOICE,
) -> models.Campaign:
    """Import one photo whose only question is to draw a box, beside the red ones it has."""
    width, height = size
    photo = folder / "photo.png"
    picture = Picture.new("L", size, 150)
    ImageDraw.Draw(picture).rectangle((width // 4, height // 4, width // 2, height // 2), fill=60)
    picture.save(photo)
    campaign = campaign_create(name="drawing")
    campaign_settings_change(campaign=campaign, drawing_way=way)
    image = CorpusImage(
        name="photo",
        filename="photo.png",
        captions=(Caption(number=1, tokens=("A", "man", "sits", ".")),),
        mentions=(Mention(number=1, caption=1, start=0, end=2, types=(PEOPLE,)),),
        width=width,
        height=height,
    )
    images_import(
        campaign=campaign,
        batch=[ImageToImport(image=image, picture=read_picture(photo))],
        take=Take.NOTHING,
        finder=MentionFinder.load(),
    )
    _work_up(models.Image.objects.get(campaign=campaign), red)
    return models.Campaign.objects.get(pk=campaign.pk)


def _work_up(image: models.Image, red: Sequence[Rect]) -> None:
    """Let others answer until a box is to be drawn beside the red ones."""
    state = image.stored_state.state
    turns = cycle(workers_simulated(count=12))
    while not _is_ready(state, len(red)):
        [question, *_] = open_questions(state)
        worker = next(turns)
        if may_answer(state, question, worker):
            judgment = _judgment(state, question, worker, red)
            state = judgments_record(image_id=image.pk, judgments=[judgment]).state


def _is_ready(state: ImageState, boxes: int) -> bool:
    [question, *_] = open_questions(state)
    return question.stage is Stage.DRAWING and len(shown(state, question).boxes) == boxes


def _judgment(state: ImageState, question: Question, worker: int, red: Sequence[Rect]) -> Judgment:
    rect = None
    answer = ANSWERS[question.stage]
    if question.stage is Stage.DRAWING:
        rect = red[len(shown(state, question).boxes)]
    elif question.stage is Stage.COVERAGE:
        answer = NO
    return Judgment(worker=worker, question=question, answer=answer, rect=rect)


def sit_down(desk: Desk, campaign: models.Campaign) -> "Hand":
    agree(claim_of(campaign, worker=desk.worker.worker_id))
    desk.accept(desk.publish(campaign, Stage.DRAWING))
    return Hand(desk)


class Hand:
    """A mouse that is led to image pixels, and to whole pixels of the screen only."""

    def __init__(self, desk: Desk, pixel_ratio: float = 1) -> None:
        self.desk = desk
        self.page: Page = desk.page
        self.frame: FrameLocator = desk.frame
        self.pixel_ratio = pixel_ratio
        self.stage: Locator = self.frame.get_by_role("application")
        # Decoration to assistive technology: there is no other way to find it.
        self.photo: Locator = self.stage.locator("img").first
        expect(self.photo).to_be_visible()
        row = desk.sitting.questions.select_related("image").get(number=1)
        self.size = row.image.width, row.image.height
        self.in_sight()

    @property
    def scale(self) -> float:
        """CSS pixels for one image pixel."""
        return self._place()[2] / self.size[0]

    def _place(self) -> Box:
        return self._in_window(self.photo)

    def _in_window(self, part: Locator) -> Box:
        # Playwright's own bounding box leaves out the border of a frame of another process.
        left, top = self.page.locator("iframe").evaluate(FRAME_START)
        x, y, width, height = part.evaluate(BOX_OF)
        return left + x, top + y, width, height

    def in_sight(self) -> None:
        """Scroll as a worker would: the photo to the top of the window, below what sticks there."""
        self.stage.evaluate("stage => stage.scrollIntoView({block: 'start', behavior: 'instant'})")
        self.page.locator("iframe").evaluate(SCROLL_BELOW_BAR)
        self.stage.evaluate(TWO_FRAMES)

    def spot(self, x: float, y: float) -> Point:
        """Return the pixel of the screen that shows the middle of an image pixel."""
        left, top, width, height = self._place()
        return (
            self._whole(left + (x - 0.5) * width / self.size[0]),
            self._whole(top + (y - 0.5) * height / self.size[1]),
        )

    def _whole(self, place: float) -> float:
        return round(place * self.pixel_ratio) / self.pixel_ratio

    def drag(self, start: Point, end: Point) -> None:
        """Drag from an image pixel to another, over one in between."""
        self.page.mouse.move(*self.spot(*start))
        self.page.mouse.down()
        self.page.mouse.move(*self.spot((start[0] + end[0]) / 2, (start[1] + end[1]) / 2))
        self.page.mouse.move(*self.spot(*end))
        self.page.mouse.up()

    def draw(self, rect: Rect) -> None:
        self.drag((rect.xmin, rect.ymin), (rect.xmax, rect.ymax))

    def mark(self, rect: Rect) -> None:
        """Click the topmost, leftmost, bottommost and rightmost point."""
        x, y = (rect.xmin + rect.xmax) // 2, (rect.ymin + rect.ymax) // 2
        for point in ((x, rect.ymin), (rect.xmin, y), (x, rect.ymax), (rect.xmax, y)):
            self.page.mouse.click(*self.spot(*point))

    def zoom(self, x: float, y: float, turns: int = 1) -> None:
        """Turn the wheel over an image pixel."""
        self.page.mouse.move(*self.spot(x, y))
        for _ in range(turns):
            before = self.scale
            self.page.mouse.wheel(0, -200)
            expect(self.photo).not_to_have_css("width", f"{before * self.size[0]}px")
        self.stage.evaluate(TWO_FRAMES)

    def zoom_until(self, scale: float, x: float, y: float) -> None:
        while self.scale < scale:
            self.zoom(x, y)

    def pan(self, right: float, down: float) -> None:
        """Move the photo with the middle button, by so many CSS pixels."""
        x, y, width, height = self._in_window(self.stage)
        before = self._place()[:2]
        self.page.mouse.move(x + width / 2, y + height / 2)
        self.page.mouse.down(button="middle")
        self.page.mouse.move(x + width / 2 + right, y + height / 2 + down)
        self.page.mouse.up(button="middle")
        assert self._place()[:2] != before

    def way(self, name: str) -> None:
        """Choose how to draw, and have the photo in sight again."""
        self.frame.get_by_role("radio", name=name).check()
        self.in_sight()

    def button(self, name: str) -> Locator:
        return self.frame.get_by_role("button", name=name, exact=True)

    def has(self, rect: Rect) -> None:
        """Wait until the page shows this box."""
        edges = f"{rect.xmin} {rect.ymin} {rect.xmax} {rect.ymax}"
        expect(self.stage.locator("[data-rect]")).to_have_attribute("data-rect", edges)

    def saved(self) -> Rect | None:
        """Return the box that the server has."""
        shows(self.frame, "Saved")
        answer = stored_whole(self.desk).get(1)
        return answer.rect if answer else None

    def saved_way(self) -> str:
        return stored_whole(self.desk)[1].way
