"""The demo campaign's pages as the documentation shows them, always the same."""

from collections.abc import Callable

from playwright.sync_api import FloatRect, FrameLocator, expect

from annotation import models
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import judgments_record
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Question, Stage, question_from_key
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.work.display import shown
from annotation.simulation.crowd import PERFECT, Crowd
from annotation.simulation.run import answer_key
from annotation.simulation.work import next_judgments
from tests.browser.kit.corpus import demo_campaign
from tests.browser.kit.desk import QUESTION, Desk
from tests.browser.kit.pages import (
    agree,
    answer_lesson,
    lessons_of,
    on_screen,
    preview_address,
)
from tests.marketplace.site import new_hit
from tests.offers import offered, trusted

# The frame's height, and a window in which the frame is about 1000 pixels wide.
HEIGHT = 600
WINDOW = (1066, 800)
PHONE_WINDOW, PHONE_HEIGHT = (412, 900), 720
# The marketplace's, round the frame.
BORDER = 1


def links(desk: Desk) -> bytes:
    return _picture(_at_work(desk, "mariachi", Stage.LINKS))


def verification(desk: Desk) -> bytes:
    return _picture(_at_work(desk, "cows", Stage.VERIFICATION))


def requirement(desk: Desk) -> bytes:
    return _picture(_at_work(desk, "coffee", Stage.REQUIREMENT))


def drawing(desk: Desk) -> bytes:
    """An edge of a box is being adjusted; the magnifier is up."""
    frame = _at_work(desk, "chickens", Stage.DRAWING, boxes=2, phrase="Four brown chickens")
    page = desk.page
    frame.get_by_role("radio", name="Drag").check(force=True)
    page.mouse.move(*on_screen(frame, 291, 58))
    page.mouse.down()
    page.mouse.move(*on_screen(frame, 455, 399), steps=4)
    page.mouse.up()
    page.mouse.move(*on_screen(frame, 455, 230))
    page.mouse.down()
    page.mouse.move(*on_screen(frame, 441, 230), steps=4)
    expect(frame.locator(".loupe")).to_be_visible()
    taken = _picture(frame, rest=False)
    page.mouse.up()
    return taken


def quality(desk: Desk) -> bytes:
    return _picture(_at_work(desk, "kitten", Stage.QUALITY, boxes=1))


def coverage(desk: Desk) -> bytes:
    phrase = "A set of African drums"
    return _picture(_at_work(desk, "drums", Stage.COVERAGE, boxes=2, phrase=phrase))


def feedback(desk: Desk) -> bytes:
    frame = _test(desk, Stage.QUALITY)
    answer_lesson(frame, Stage.QUALITY, lessons_of(desk)[0], right=True)
    expect(frame.get_by_text("✓ Right")).to_be_visible()
    frame.get_by_role("button", name="Next").click()
    answer_lesson(frame, Stage.QUALITY, lessons_of(desk)[1], right=False)
    expect(frame.get_by_text("✗ Not right")).to_be_visible()
    return _picture(frame)


def score(desk: Desk) -> bytes:
    frame = _test(desk, Stage.COVERAGE)
    lessons = lessons_of(desk)
    for number, lesson in enumerate(lessons, start=1):
        expect(frame.get_by_text(f"{number} of {len(lessons)}")).to_be_visible()
        answer_lesson(frame, Stage.COVERAGE, lesson, right=number > 1)
        expect(frame.get_by_text("✓ Right" if number > 1 else "✗ Not right")).to_be_visible()
        if number < len(lessons):
            frame.get_by_role("button", name="Next").click()
    frame.get_by_role("button", name="Submit").click()
    expect(frame.get_by_role("heading", name="You passed")).to_be_visible()
    return _picture(frame, photo=False)


def consent(desk: Desk) -> bytes:
    frame = _accept(desk, demo_campaign(), Stage.LINKS, agreed=False)
    expect(frame.get_by_role("heading", name="Before you begin")).to_be_visible()
    return _picture(frame, photo=False)


def examples(desk: Desk) -> bytes:
    """In a tab of its own, as workers open it."""
    desk.page.goto(f"{desk.tasks}/hits/{demo_campaign().pk}/drawing/examples/")
    desk.page.get_by_role("link", name="2", exact=True).click()
    return _tab(desk)


def preview(desk: Desk) -> bytes:
    desk.page.goto(preview_address(desk, demo_campaign(), Stage.COVERAGE))
    return _tab(desk)


def phone(desk: Desk) -> bytes:
    width, height = PHONE_WINDOW
    desk.page.set_viewport_size({"width": width, "height": height})
    frame = _at_work(desk, "rocket", Stage.QUALITY, boxes=1, height=PHONE_HEIGHT)
    return _picture(frame)


def dark(desk: Desk) -> bytes:
    desk.page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    return _picture(_at_work(desk, "astronaut", Stage.VERIFICATION))


Scene = Callable[[Desk], bytes]
SIX: dict[str, Scene] = {
    "links": links,
    "verification": verification,
    "requirement": requirement,
    "drawing": drawing,
    "quality": quality,
    "coverage": coverage,
}
SCENES: dict[str, Scene] = SIX | {
    "test": feedback,
    "score": score,
    "consent": consent,
    "examples": examples,
    "preview": preview,
    "phone": phone,
    "dark": dark,
}


def open_only(
    campaign: models.Campaign, name: str, stage: Stage, boxes: int = 0, phrase: str = ""
) -> None:
    """Let a perfect crowd work on one image until questions of the stage with boxes are open.

    All other open questions are dropped, so that the next sitting begins with the first of these.
    """
    crowd = Crowd(workers_simulated(count=12), PERFECT, seed=1)
    image = models.Image.objects.select_related("answer_key", "stored_state").get(
        campaign=campaign, name=name
    )
    state, key = image.stored_state.state, answer_key(image)
    tokens = {caption.number: caption.text.split(" ") for caption in image.captions.all()}

    def is_wanted(state: ImageState, question: Question) -> bool:
        if question.stage is not stage:
            return False
        what = shown(state, question)
        mark = what.marks[0]
        if phrase and tokens[mark.caption][mark.start : mark.end] != phrase.split(" "):
            return False
        return len(what.boxes) + (what.candidate is not None) >= boxes

    while batch := [
        judgment
        for judgment in next_judgments(state, key, crowd, name)
        if not is_wanted(state, judgment.question)
    ]:
        state = judgments_record(image_id=image.pk, judgments=batch).state
    wanted = [
        row.pk
        for row in models.OpenQuestion.objects.filter(image=image, stage=stage.value)
        if is_wanted(state, question_from_key(row.key))
    ]
    assert wanted, f"{name} never comes to a question of {stage} with {boxes} boxes"
    models.OpenQuestion.objects.exclude(pk__in=wanted).delete()


def _at_work(
    desk: Desk, image: str, stage: Stage, boxes: int = 0, phrase: str = "", height: int = HEIGHT
) -> FrameLocator:
    campaign = demo_campaign(questions=10)
    open_only(campaign, image, stage, boxes, phrase)
    return _accept(desk, campaign, stage, height=height)


def _test(desk: Desk, stage: Stage) -> FrameLocator:
    frame = _accept(desk, demo_campaign(), stage, rest="test/")
    expect(frame.get_by_role("button", name="Submit")).to_be_visible()
    return frame


def _accept(
    desk: Desk,
    campaign: models.Campaign,
    stage: Stage,
    *,
    rest: str = "",
    agreed: bool = True,
    height: int = HEIGHT,
) -> FrameLocator:
    if agreed:
        agree(desk, campaign)
    url = f"{desk.tasks}/hits/{campaign.pk}/{stage.value}/{rest}"
    question = QUESTION.format(url=url).replace("<FrameHeight>0", f"<FrameHeight>{height}")
    hit = new_hit(desk.requester, question=question)
    offered(campaign, stage, hit.hit_id, SittingKind.TEST if rest else SittingKind.WORK)
    if not rest:
        trusted(campaign, desk.worker.worker_id, stage)
    return desk.accept(hit)


def _picture(frame: FrameLocator, *, photo: bool = True, rest: bool = True) -> bytes:
    """Take the page in the frame, when all of it is there."""
    if photo:
        expect(frame.locator("img.photo-picture.shown")).to_be_visible()
        expect(frame.get_by_text("Saved", exact=True)).to_be_visible()
    if rest:
        # On nothing that would show it.
        frame.owner.page.mouse.move(2, 2)
    owner = frame.owner
    owner.scroll_into_view_if_needed()
    place = owner.bounding_box()
    assert place is not None
    clip: FloatRect = {
        "x": place["x"] + BORDER,
        "y": place["y"] + BORDER,
        "width": place["width"] - 2 * BORDER,
        "height": place["height"] - 2 * BORDER,
    }
    return owner.page.screenshot(animations="disabled", clip=clip)


def _tab(desk: Desk) -> bytes:
    desk.page.set_viewport_size({"width": 1000, "height": HEIGHT})
    for number in range(desk.page.locator("img.photo-picture").count()):
        expect(desk.page.locator("img.photo-picture").nth(number)).to_have_class(
            "photo-picture shown"
        )
    return desk.page.screenshot(animations="disabled")
