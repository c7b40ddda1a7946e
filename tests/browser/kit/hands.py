"""Two ways to use a task page: with a mouse alone, or with a keyboard alone."""

from abc import ABC, abstractmethod
from collections.abc import Sequence

from playwright.sync_api import Locator, Page, expect

from annotation.pipeline.geometry import Rect
from tests.browser.kit.desk import Desk

Pixel = tuple[int, int]

# More than there are things to stop at on any page with its frame.
_MOST_TABS = 80


class Hands(ABC):
    """What a worker does, in the words of the page."""

    # How far a box may be off: a screen's pixel may be larger than an image's.
    off = 0

    def __init__(self, desk: Desk) -> None:
        self.page: Page = desk.page
        self.frame = desk.frame

    @abstractmethod
    def press(self, target: Locator) -> None:
        """Press a button, or tick a box."""

    @abstractmethod
    def answer(self, label: str, key: str) -> None:
        """Give an answer, or tick a reason, by what it is called or by its key."""

    @abstractmethod
    def go_on(self) -> None:
        """Go to the next question."""

    @abstractmethod
    def go_back(self) -> None:
        """Go to the previous question."""

    @abstractmethod
    def write(self, target: Locator, text: str) -> None:
        """Type a text into a field."""

    @abstractmethod
    def choose(self, target: Locator) -> None:
        """Choose one of several."""

    @abstractmethod
    def drag(self, size: Pixel, rect: Rect) -> None:
        """Draw a box from corner to corner on a photo of this size."""

    @abstractmethod
    def mark(self, size: Pixel, points: Sequence[Pixel]) -> None:
        """Mark the four extreme points."""

    @abstractmethod
    def widen(self, size: Pixel, rect: Rect, by: int) -> None:
        """Take the right edge of the box so many pixels further."""

    def button(self, name: str) -> Locator:
        return self.frame.get_by_role("button", name=name, exact=True)

    def agree(self) -> None:
        self.press(self.button("I agree, show me the questions"))

    def expect_at(self, number: int, of: int) -> None:
        expect(self.frame.get_by_text(f"{number} of {of}", exact=True)).to_be_visible()

    def stage(self) -> Locator:
        """Return the part of the page to draw on, once its photo is there."""
        stage = self.frame.get_by_role("application")
        expect(stage).to_have_attribute("aria-busy", "false")
        return stage


class Mouse(Hands):
    off = 1

    def press(self, target: Locator) -> None:
        target.click()

    def answer(self, label: str, key: str) -> None:
        named = self.button(label).or_(self.frame.get_by_role("checkbox", name=label, exact=True))
        named.click()

    def go_on(self) -> None:
        self.button("Next").click()

    def go_back(self) -> None:
        self.button("Prev").click()

    def write(self, target: Locator, text: str) -> None:
        target.click()
        self.page.keyboard.type(text)

    def choose(self, target: Locator) -> None:
        target.click()

    def drag(self, size: Pixel, rect: Rect) -> None:
        start, end = (rect.xmin, rect.ymin), (rect.xmax, rect.ymax)
        self._drag(self._at(size, start), self._at(size, end))

    def mark(self, size: Pixel, points: Sequence[Pixel]) -> None:
        for point in points:
            self.page.mouse.click(*self._at(size, point))

    def widen(self, size: Pixel, rect: Rect, by: int) -> None:
        middle = (rect.ymin + rect.ymax) // 2
        edge = self._at(size, (rect.xmax, middle))
        self._drag(edge, self._at(size, (rect.xmax + by, middle)))

    def _drag(self, start: tuple[float, float], end: tuple[float, float]) -> None:
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move(*end, steps=4)
        self.page.mouse.up()

    def _at(self, size: Pixel, pixel: Pixel) -> tuple[float, float]:
        """Return where the middle of an image's pixel is in the window."""
        box = self.stage().locator("img").first.bounding_box()
        assert box is not None
        scale = box["width"] / size[0]
        return box["x"] + (pixel[0] - 0.5) * scale, box["y"] + (pixel[1] - 0.5) * scale


class Keyboard(Hands):
    """Only keys are pressed; the focus goes where Tab takes it, from the marketplace's page on."""

    def press(self, target: Locator) -> None:
        self.tab_to(target)
        is_box = target.get_attribute("type") == "checkbox"
        self.page.keyboard.press("Space" if is_box else "Enter")

    def tab_to(self, target: Locator) -> None:
        target.wait_for()
        for _ in range(_MOST_TABS):
            if target.evaluate("(it) => it === document.activeElement && document.hasFocus()"):
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"the Tab key does not lead to {target}")

    def answer(self, label: str, key: str) -> None:
        self.page.keyboard.press(key)

    def go_on(self) -> None:
        self.page.keyboard.press("Enter")

    def go_back(self) -> None:
        self.page.keyboard.press("p")

    def write(self, target: Locator, text: str) -> None:
        self.tab_to(target)
        self.page.keyboard.type(text)
        self.page.keyboard.press("Tab")

    def choose(self, target: Locator) -> None:
        """Reach the group of choices, where the arrows go from one to the next."""
        group = target.locator("xpath=ancestor::fieldset").get_by_role("radio")
        self.tab_to(group.and_(self.frame.locator(":checked")))
        for _ in range(group.count()):
            if target.is_checked():
                return
            self.page.keyboard.press("ArrowRight")
        expect(target).to_be_checked()

    def drag(self, size: Pixel, rect: Rect) -> None:
        self.mark(size, [(rect.xmin, rect.ymin), (rect.xmax, rect.ymax)])

    def mark(self, size: Pixel, points: Sequence[Pixel]) -> None:
        """Move the cross, which begins in the middle, to each of the points."""
        self.tab_to(self.stage())
        x, y = -(-size[0] // 2), -(-size[1] // 2)
        for point in points:
            self._arrows(point[0] - x, point[1] - y)
            self.page.keyboard.press("Enter")
            x, y = point

    def widen(self, size: Pixel, rect: Rect, by: int) -> None:
        """Choose the bottom right corner with the space bar, after the box and its top left."""
        self.tab_to(self.stage())
        self.page.keyboard.press("Space")
        self.page.keyboard.press("Space")
        self._arrows(by, 0)

    def _arrows(self, right: int, down: int) -> None:
        for steps, forward, back in (
            (right, "ArrowRight", "ArrowLeft"),
            (down, "ArrowDown", "ArrowUp"),
        ):
            key = forward if steps > 0 else back
            tens, ones = divmod(abs(steps), 10)
            for _ in range(tens):
                self.page.keyboard.press(f"Shift+{key}")
            for _ in range(ones):
                self.page.keyboard.press(key)
