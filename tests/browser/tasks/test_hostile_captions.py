"""Captions, guides, comments and names with anything in them: shown as text, never run."""

from pathlib import Path

import pytest
from django.test import Client
from playwright.sync_api import FrameLocator, expect

from annotation.actions.work.guides import guide_save
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import decode_answer
from tests.browser.kit.desk import Desk
from tests.browser.kit.pages import (
    DESKTOP,
    PHONE,
    Watch,
    answer_button,
    begin,
    overflow,
    settle,
    task_frame,
)
from tests.browser.kit.small_corpus import Pictured, small_campaign
from tests.web.accounts import researcher

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

RUN = "window.ran=1;alert(1)"
IMG = f"<img src=/evil onerror={RUN}>"
SCRIPT = f"<script src=/evil.js>{RUN}</script>"
FAMILY = "\N{MAN}\N{ZERO WIDTH JOINER}\N{WOMAN}\N{ZERO WIDTH JOINER}\N{GIRL}"
FLAG = "\N{REGIONAL INDICATOR SYMBOL LETTER N}\N{REGIONAL INDICATOR SYMBOL LETTER Z}"
OVERRIDE = "\N{RIGHT-TO-LEFT OVERRIDE}"
LONG = tuple(f"word{number}" for number in range(300))

PICTURES = [
    Pictured("markup", ("A", *IMG.split(" "), "and", *SCRIPT.split(" "), "."), 1, 7),
    Pictured("entities", ("&lt;b&gt;", "&amp;", "</p></script>", "<!--", "{{7*7}}", "${x}"), 1, 4),
    Pictured("quotes", ("It's", '"quoted"', "`so`", "'and'", "\\n", "\\u003c", "“thus”"), 1, 6),
    Pictured("arabic", ("رجل", "يركب", "حصانا", "أبيض", "في", "الحقل"), 2, 4),
    Pictured("mixed", ("The", "sign", "says", "שלום", "עולם", "twice"), 3, 5),
    Pictured("override", ("A", f"dog{OVERRIDE}", "and", f"{OVERRIDE}cat", "sleep"), 1, 4),
    Pictured("emoji", ("Here", "is", FAMILY, "with", FLAG, "and", "🧑🏿‍🚀"), 2, 5),
    Pictured("long", LONG, 250, 252),
    Pictured("one-word", ("A", "x" * 200, "stands", "W" * 150), 1, 2),
]


def test_captions_are_text(desk: Desk, tmp_path: Path) -> None:
    watch = Watch(desk.context)
    campaign = small_campaign(tmp_path, PICTURES)
    shown = begin(desk, campaign, Stage.REQUIREMENT)
    frame = task_frame(desk.page)
    for number, picture in enumerate(PICTURES, start=1):
        expect(shown.get_by_text(f"{number} of {len(PICTURES)}")).to_be_visible()
        caption = shown.get_by_role("region", name="Caption")
        assert caption.text_content() == " ".join(picture.tokens).replace(" .", "."), picture.name
        assert caption.locator("mark").all_text_contents() == [picture.phrase]
        expect(caption.locator("mark")).to_be_in_viewport()
        heading = f"Can a box be drawn around “{picture.phrase}”?"
        assert shown.get_by_role("heading", level=2).text_content() == heading
        assert caption.locator("p").evaluate("it => getComputedStyle(it).direction") == (
            "rtl" if picture.name == "arabic" else "ltr"
        )
        for width, height in (PHONE, DESKTOP):
            desk.page.set_viewport_size({"width": width, "height": height})
            settle(frame, width)
            assert overflow(frame) == [], f"{picture.name}, {width} px"
        # Alternately, so that an answer at the wrong question is seen.
        answer_button(shown, Stage.REQUIREMENT, "box" if number % 2 else "nobox").click()
    expect(shown.get_by_text("Saved", exact=True)).to_be_visible()
    questions = desk.sitting.questions.select_related("image").order_by("number")
    assert {
        question.image.name: decode_answer(question.answer).answer for question in questions
    } == {
        picture.name: "box" if number % 2 else "nobox"
        for number, picture in enumerate(PICTURES, start=1)
    }
    assert_nothing_ran(desk, watch)


def test_a_phrase_that_turns_the_text_round_turns_nothing_else(desk: Desk, tmp_path: Path) -> None:
    turning = Pictured("turning", (f"a{OVERRIDE}b", "c"), 0, 1)
    shown = begin(desk, small_campaign(tmp_path, [turning]), Stage.REQUIREMENT)
    # Where the letters of the heading lie: those after the phrase come after it.
    places = shown.get_by_role("heading", level=2).evaluate(
        """heading => {
          const at = (node, index) => {
            const range = document.createRange();
            range.setStart(node, index); range.setEnd(node, index + 1);
            const {left, top} = range.getBoundingClientRect();
            return top * 10000 + left;
          };
          const last = heading.lastChild;
          return [at(heading.firstChild, 0), at(last, 0), at(last, 1)];
        }"""
    )
    assert places == sorted(places)


def test_comments_and_guides_are_text(desk: Desk, tmp_path: Path) -> None:
    watch = Watch(desk.context)
    campaign = small_campaign(tmp_path, [Pictured("one"), Pictured("two")])
    title, question, line = f"T {IMG}", f"{SCRIPT} “{{phrase}}”", f"**{IMG}** & {OVERRIDE}"
    guide_save(
        campaign=campaign,
        topic=Stage.REQUIREMENT.value,
        source=(
            f"title = '''{title}'''\nquestion = '''{question}'''\n"
            f"guidelines = ['''{line}''', '''{'y' * 200}''']\n"
        ),
    )
    guide_save(
        campaign=campaign,
        topic="consent",
        source=f"title = '''{SCRIPT}'''\nparagraphs = ['''{IMG}''', '''**{'z' * 300}**''']\n",
    )
    desk.page.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
    shown = desk.accept(desk.publish(campaign, Stage.REQUIREMENT))
    expect(shown.get_by_role("heading", name=SCRIPT)).to_be_visible()
    assert shown.get_by_text(IMG).text_content() == IMG
    frame = task_frame(desk.page)
    assert overflow(frame) == []
    shown.get_by_role("button", name="I agree").click()
    expect(shown.get_by_role("heading", level=1)).to_have_text(title)
    expect(shown.get_by_role("heading", level=2)).to_have_text(f"{SCRIPT} “A thing”")
    guidelines = shown.get_by_role("listitem").filter(has_text="onerror")
    assert guidelines.text_content() == line.replace("**", "")
    assert overflow(frame) == []
    comment(shown, f"{IMG} {FAMILY} رجل {OVERRIDE}")
    answer_button(shown, Stage.REQUIREMENT, "nobox").click()
    expect(shown.get_by_text("2 of 2")).to_be_visible()
    expect(shown.get_by_text("Saved", exact=True)).to_be_visible()
    desk.page.reload()
    shown.get_by_role("button", name="Question 1, answered").click()
    written = shown.get_by_label("Comment (optional)")
    expect(written).to_have_value(f"{IMG} {FAMILY} رجل {OVERRIDE}")
    assert desk.sitting.questions.get(number=1).comment == f"{IMG} {FAMILY} رجل {OVERRIDE}"
    assert_nothing_ran(desk, watch)


def test_names_of_images_are_text(desk: Desk, tmp_path: Path) -> None:
    watch = Watch(desk.context)
    name = "a\"b'<img src=x onerror=window.ran=1>&amp;"
    campaign = small_campaign(tmp_path, [Pictured(name)], name=f"c{IMG}"[:60])
    begin(desk, campaign, Stage.REQUIREMENT)
    assert_nothing_ran(desk, watch)
    client = Client()
    client.force_login(researcher())
    session = client.cookies["sessionid"].value
    desk.context.add_cookies([{"name": "sessionid", "value": session, "url": desk.tasks}])
    for path in ("/", f"/campaigns/{campaign.pk}/"):
        desk.page.goto(f"{desk.tasks}{path}")
        expect(desk.page.get_by_role("heading", level=1)).to_be_visible()
    desk.page.get_by_role("link", name=name).first.click()
    expect(desk.page.get_by_role("heading", level=1)).to_contain_text(name)
    assert_nothing_ran(desk, watch)


def comment(shown: FrameLocator, text: str) -> None:
    shown.get_by_text("Comment or report a problem").click()
    shown.get_by_label("Comment (optional)").fill(text)


def assert_nothing_ran(desk: Desk, watch: Watch) -> None:
    """No flag, no dialog, no error, and nobody asked for what the texts name."""
    assert all(frame.evaluate("window.ran") is None for frame in desk.page.frames)
    assert watch.said == []
    assert not [url for url in watch.asked if "evil" in url or url.endswith("/x")]
    assert watch.asked, "requests are seen at all"
