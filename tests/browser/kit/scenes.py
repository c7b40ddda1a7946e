"""A whole sitting of each stage, played with a mouse or with a keyboard."""

from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace
from playwright.sync_api import Locator, expect

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import Answer
from annotation.pipeline.work.display import Shown, decode_shown
from tests.browser.kit.corpus import demo_campaign, open_questions_of
from tests.browser.kit.desk import Desk
from tests.browser.kit.handed_in import check_answers, expect_submitted
from tests.browser.kit.hands import Hands, Pixel

# All signs that are keys of a page: while somebody writes they must be no answers.
COMMENT = "n y t f g b p 1 2 3 4 ? “quoted” <b>&amp; ünï\U0001f408"


class Reply(NamedTuple):
    """An answer, what its button is called, and its key."""

    answer: str
    label: str
    key: str


YES, NO = Reply("yes", "Yes", "y"), Reply("no", "No", "n")
GOOD, BAD = Reply("good", "Good", "g"), Reply("bad", "Bad", "b")
CHOICES: dict[Stage, Sequence[Reply]] = {
    Stage.LINKS: (YES, NO),
    Stage.VERIFICATION: (Reply("true", "True", "t"), Reply("false", "False", "f")),
    Stage.REQUIREMENT: (
        Reply("box", "At least one box can be drawn", "1"),
        Reply("scene", "It is the scene or a place", "2"),
        Reply("nobox", "No box can be drawn", "3"),
    ),
    Stage.COVERAGE: (Reply("yes", "True", "t"), Reply("no", "False", "f")),
    Stage.QUALITY: (GOOD, BAD),
    Stage.DRAWING: (Reply("none", "No further box needed", "n"),),
}
CHOICE_STAGES = (Stage.LINKS, Stage.VERIFICATION, Stage.REQUIREMENT, Stage.COVERAGE)
NOT_TIGHT = ("Not tight, or cuts parts off", "2")
COVERED = ("A red box already covers it", "4")
NOT_THE_THING = ("Not what the phrase names", "1")


def begin(desk: Desk, hands: Hands, stage: Stage, **settings: object) -> None:
    """Accept a HIT of three questions of the stage and agree to take part."""
    campaign = demo_campaign(questions=3, **settings)
    open_questions_of(campaign, stage)
    desk.accept(desk.publish(campaign, stage))
    hands.agree()
    hands.expect_at(1, 3)


def choice_sitting(desk: Desk, hands: Hands, stage: Stage) -> None:
    """Answer three questions with one click or key each, with reports; change one; hand in."""
    begin(desk, hands, stage)
    first, *_, last = CHOICES[stage]
    second = CHOICES[stage][1]
    cut, unrelated = report(hands, shown(desk, 1))
    hands.answer(first.label, first.key)
    hands.expect_at(2, 3)
    hands.answer(second.label, second.key)
    hands.expect_at(3, 3)
    hands.answer(first.label, first.key)
    expect(hands.button(first.label)).to_have_attribute("aria-pressed", "true")
    hands.answer(last.label, last.key)
    expect(hands.button(last.label)).to_have_attribute("aria-pressed", "true")
    look_back(hands, first)
    hand_in(desk, hands)
    expected = [
        Answer(first.answer, cut_wrongly=cut, unrelated=unrelated, comment=COMMENT),
        Answer(second.answer),
        Answer(last.answer),
    ]
    check_answers(desk, expected)


def quality_sitting(desk: Desk, hands: Hands) -> None:
    """Judge three boxes, with reasons for one of the bad ones."""
    begin(desk, hands, Stage.QUALITY)
    cut, unrelated = report(hands, shown(desk, 1))
    hands.answer(*GOOD[1:])
    hands.expect_at(2, 3)
    hands.answer(*BAD[1:])
    for reason in (COVERED, NOT_THE_THING, NOT_TIGHT, NOT_THE_THING):
        hands.answer(*reason)
    expect(_reason(hands, COVERED)).to_be_checked()
    expect(_reason(hands, NOT_THE_THING)).not_to_be_checked()
    hands.go_on()
    hands.expect_at(3, 3)
    hands.answer(*BAD[1:])
    hands.answer(*NOT_TIGHT)
    # A good box has no faults: they go with the answer.
    hands.answer(*GOOD[1:])
    hands.answer(*BAD[1:])
    expect(_reason(hands, NOT_TIGHT)).not_to_be_checked()
    look_back(hands, GOOD)
    hand_in(desk, hands)
    expected = [
        Answer("good", cut_wrongly=cut, unrelated=unrelated, comment=COMMENT),
        Answer("bad", reasons=("already_covered", "not_tight")),
        Answer("bad"),
    ]
    check_answers(desk, expected)


def drawing_sitting(desk: Desk, hands: Hands) -> None:
    """Draw by four points, by dragging and adjusting, and say that no box is needed."""
    begin(desk, hands, Stage.DRAWING)
    rows = list(desk.sitting.questions.select_related("image").order_by("number"))
    sizes: list[Pixel] = [(row.image.width, row.image.height) for row in rows]
    pointed = middle_box(sizes[0])
    hands.mark(sizes[0], extreme_points(pointed))
    expect_size(hands, pointed)
    hands.go_on()
    hands.expect_at(2, 3)
    rect = middle_box(sizes[1])
    hands.choose(hands.frame.get_by_role("radio", name="Drag"))
    hands.drag(sizes[1], rect)
    expect_size(hands, rect)
    wider = replace(rect, xmax=rect.xmax + 23)
    hands.widen(sizes[1], rect, 23)
    expect_size(hands, wider)
    hands.go_on()
    hands.expect_at(3, 3)
    cut, unrelated = report(hands, shown(desk, 3))
    hands.answer("No further box needed", "n")
    hand_in(desk, hands)
    expected = [
        Answer("box", rect=pointed, way="extreme"),
        Answer("box", rect=wider, way="drag"),
        Answer("none", cut_wrongly=cut, unrelated=unrelated, comment=COMMENT),
    ]
    check_answers(desk, expected, off=hands.off)


def shown(desk: Desk, number: int) -> Shown:
    """Return what a question of the sitting shows."""
    return decode_shown(desk.sitting.questions.get(number=number).shown)


def report(hands: Hands, what: Shown) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Comment on the question and report its last phrase and caption; return their numbers."""
    hands.press(hands.frame.get_by_text("Comment or report a problem"))
    phrases = hands.frame.get_by_role("checkbox", name="The wrong words are marked")
    captions = hands.frame.get_by_role("checkbox", name="This caption is not about the photo")
    order = [m.mention for number in what.captions for m in what.marks if m.caption == number]
    expect(phrases).to_have_count(len(order))
    expect(captions).to_have_count(len(what.captions))
    hands.press(phrases.last)
    hands.press(captions.last)
    hands.write(hands.frame.get_by_label("Comment (optional)"), COMMENT)
    expect(phrases.last).to_be_checked()
    expect(captions.last).to_be_checked()
    return (order[-1],), (what.captions[-1],)


def look_back(hands: Hands, first: Reply) -> None:
    """Go back to the first question: its answer and the comment are still there."""
    hands.go_back()
    hands.expect_at(2, 3)
    hands.go_back()
    hands.expect_at(1, 3)
    expect(hands.button(first.label)).to_have_attribute("aria-pressed", "true")
    expect(hands.frame.get_by_label("Comment (optional)")).to_have_value(COMMENT)
    expect(hands.frame.get_by_text("Saved", exact=True)).to_be_visible()


def hand_in(desk: Desk, hands: Hands) -> None:
    # Its name is shorter when nothing is left to answer.
    hands.press(hands.button("Submit"))
    expect_submitted(desk)


def middle_box(size: Pixel) -> Rect:
    """Return a box near the middle of a photo, where the keyboard's cross begins."""
    across, down = size[0] // 2, size[1] // 2
    return Rect(across - 51, down - 32, across + 40, down + 21)


def extreme_points(rect: Rect) -> Sequence[Pixel]:
    """Return the topmost, leftmost, bottommost and rightmost point of a thing in this box."""
    across, down = (rect.xmin + rect.xmax) // 2, (rect.ymin + rect.ymax) // 2
    return (across, rect.ymin), (rect.xmin, down), (across + 5, rect.ymax), (rect.xmax, down - 4)


def expect_size(hands: Hands, rect: Rect) -> None:
    """The page says how large the box is."""
    sizes = [
        f"{rect.width + wide} × {rect.height + high} px"
        for wide in range(-2 * hands.off, 2 * hands.off + 1)
        for high in range(-2 * hands.off, 2 * hands.off + 1)
    ]
    shown_size = hands.frame.get_by_role("status").filter(has_text=" px")
    expect(shown_size).to_be_visible()
    assert shown_size.inner_text() in sizes


def _reason(hands: Hands, reason: tuple[str, str]) -> Locator:
    return hands.frame.get_by_role("checkbox", name=reason[0], exact=True)
