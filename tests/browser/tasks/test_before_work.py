"""Before the first question: the frame, the preview, the examples, the consent text."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Frame, Page, expect

from annotation import models
from annotation.actions.work.guides import guide_save
from annotation.actions.work.sittings import consent_give, sitting_open
from annotation.models import CONSENT, SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.guides import consent_guide, stage_guide
from annotation.selectors.work.sittings import Claim
from marketplace.rules.lifecycle import AssignmentStatus
from tests.acceptances import accepted
from tests.browser.kit.cookies import browser_with_cookies, what_sticks
from tests.browser.kit.corpus import demo_campaign, open_questions_of
from tests.browser.kit.desk import Desk
from tests.browser.kit.hands import Mouse
from tests.browser.kit.scenes import CHOICES
from tests.offers import offered, trusted

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

AGREE = "I agree, show me the questions"
EMPTY = "No questions for you right now"


def task_frame(page: Page) -> Frame:
    page.frame_locator("iframe").get_by_role("heading", level=1).wait_for()
    return next(frame for frame in page.frames if "/hits/" in frame.url)


def test_the_frame_is_sandboxed_and_keeps_nothing(
    desk: Desk, browser: Browser, tmp_path: Path
) -> None:
    """A third party's frame gets neither cookies nor storage here, and would get them elsewhere."""
    hit = desk.publish(demo_campaign(), Stage.LINKS)
    desk.accept(hit)
    frame = task_frame(desk.page)
    assert desk.page.url.startswith(desk.marketplace)
    assert frame.url.startswith(desk.tasks)
    sandbox = desk.page.locator("iframe").get_attribute("sandbox") or ""
    assert "allow-scripts" in sandbox
    assert "allow-top-navigation" not in sandbox.split()
    assert what_sticks(frame) == {"cookie": "", "storage": "SecurityError"}
    assert {cookie["name"] for cookie in desk.context.cookies(desk.tasks)} == set()
    # On its own the same page may keep both, and so may the frame if the user allows it.
    alone = desk.context.new_page()
    alone.goto(frame.url)
    assert what_sticks(alone.main_frame) == {"cookie": "probe=1", "storage": "1"}
    with browser_with_cookies(browser.browser_type, tmp_path, third_party=True) as lax:
        context = lax.new_context()
        context.add_cookies([{"name": "sessionid", "value": desk.session, "url": desk.marketplace}])
        page = context.new_page()
        page.goto(desk.page.url)
        assert what_sticks(task_frame(page)) == {"cookie": "probe=1", "storage": "1"}


def test_preview_shows_a_question_that_cannot_be_answered(desk: Desk) -> None:
    campaign = demo_campaign()
    calls: list[str] = []
    desk.page.on("request", lambda request: calls.append(request.url))
    for stage in Stage:
        frame = desk.preview(desk.publish(campaign, stage))
        expect(frame.get_by_text("This is a preview. Accept the HIT to start.")).to_be_visible()
        guide = stage_guide(campaign, stage).guide
        expect(frame.get_by_role("heading", name=guide.title)).to_be_visible()
        caption = frame.get_by_role("region", name="Caption").locator("mark").first
        expect(caption).to_contain_text(guide.examples[0].captions[0].phrases[0])
        for reply in CHOICES[stage]:
            expect(frame.get_by_role("button", name=reply.label, exact=True)).to_be_disabled()
        # What the example's answer is stays for the examples page.
        expect(frame.get_by_text(guide.examples[0].why)).to_have_count(0)
        expect(frame.get_by_role("button", name="Submit")).to_have_count(0)
        frame.get_by_role("group", name="Photo").or_(frame.get_by_label("Photo")).first.click()
        for reply in CHOICES[stage]:
            desk.page.keyboard.press(reply.key)
    assert not [url for url in calls if "/api/" in url]
    assert not models.Sitting.objects.exists()


def test_examples_open_beside_the_task(desk: Desk) -> None:
    """Each stage's examples have the question, the answer and why."""
    campaign = demo_campaign()
    hands = Mouse(desk)
    desk.accept(desk.publish(campaign, Stage.LINKS))
    hands.agree()
    link = hands.frame.get_by_role("link", name="Worked examples")
    with desk.context.expect_page() as opened:
        link.click()
    examples = opened.value
    for stage in Stage:
        if stage is not Stage.LINKS:
            examples.goto(f"{desk.tasks}/hits/{campaign.pk}/{stage.value}/examples/")
        guide = stage_guide(campaign, stage).guide
        expect(examples.get_by_role("heading", level=1)).to_have_text(guide.title)
        articles = examples.get_by_role("article")
        expect(articles).to_have_count(len(guide.examples))
        for article, lesson in zip(articles.all(), guide.examples, strict=True):
            phrase = lesson.captions[0].phrases[0]
            question = guide.question.replace("{phrase}", phrase)
            expect(article.get_by_role("heading", level=2)).to_have_text(question)
            labels = {reply.answer: reply.label for reply in CHOICES[stage]}
            if lesson.expected:
                labels["box"] = "Draw a box"
            expect(article).to_contain_text(f"Expected answer{labels[lesson.answer]}")
            expect(article).to_contain_text(lesson.why.replace("**", ""))
    expect(hands.frame.get_by_text("1 of 3", exact=True)).to_be_visible()


def test_consent_is_asked_once_and_again_when_its_text_changes(desk: Desk) -> None:
    campaign = demo_campaign()
    hands = Mouse(desk)
    desk.accept(desk.publish(campaign, Stage.LINKS))
    for paragraph in consent_guide(campaign).guide.paragraphs:
        expect(hands.frame.get_by_text(paragraph.split("** ")[1])).to_be_visible()
    assert not models.Consent.objects.exists()
    hands.agree()
    hands.expect_at(1, 3)
    assert models.Consent.objects.get().worker.name == desk.worker.worker_id
    desk.page.reload()
    hands.expect_at(1, 3)
    desk.accept(desk.publish(campaign, Stage.QUALITY, test=True))
    hands.expect_at(1, 8)
    text = 'title = "New terms"\nparagraphs = ["**Now** we also count <b>yawns</b>."]\n'
    guide_save(campaign=campaign, topic=CONSENT, source=text)
    desk.accept(desk.publish(campaign, Stage.DRAWING, test=True))
    expect(hands.frame.get_by_role("heading", name="New terms")).to_be_visible()
    expect(hands.frame.get_by_text("Now we also count <b>yawns</b>.")).to_be_visible()
    hands.agree()
    hands.expect_at(1, 8)
    given = models.Consent.objects.order_by("guide__version")
    assert [consent.guide.version for consent in given] == [1, 2]


def test_who_does_not_agree_gets_no_questions(desk: Desk) -> None:
    campaign = demo_campaign()
    hands = Mouse(desk)
    desk.accept(desk.publish(campaign, Stage.LINKS))
    hands.press(hands.button("I do not agree"))
    expect(hands.frame.get_by_role("heading", name="That is fine")).to_be_visible()
    expect(hands.frame.get_by_text("nothing was recorded")).to_be_visible()
    expect(hands.frame.get_by_text("Return button, outside this frame")).to_be_visible()
    assert not models.Consent.objects.exists()
    assert not models.Sitting.objects.exists()
    hands.press(hands.button("Read it again"))
    expect(hands.button(AGREE)).to_be_visible()
    hands.press(hands.button("I do not agree"))
    desk.page.get_by_role("button", name="Return", exact=True).click()
    expect(desk.page.get_by_role("button", name="Accept and work")).to_be_visible()
    assert desk.assignment.status == AssignmentStatus.RETURNED
    assert not models.Consent.objects.filter(worker__name=desk.worker.worker_id).exists()


def test_nothing_left_to_ask(desk: Desk) -> None:
    """No question is open, or others have all that are: the page says which and how to leave."""
    campaign = demo_campaign(questions=100)
    hands = Mouse(desk)
    desk.accept(desk.publish(campaign, Stage.COVERAGE))
    hands.agree()
    expect(hands.frame.get_by_role("heading", name=EMPTY)).to_be_visible()
    expect(hands.frame.get_by_text("has been answered")).to_be_visible()
    expect(hands.frame.get_by_text("Return button, outside this frame")).to_be_visible()
    open_questions_of(campaign, Stage.COVERAGE, at_least=1)
    other = Claim(
        campaign=campaign.pk,
        stage=Stage.COVERAGE,
        kind=SittingKind.WORK,
        assignment_id="OTHERS",
        hit_id=offered(campaign, Stage.COVERAGE, "OTHERHIT").hit_id or "",
        worker="A2OTHER",
        acceptance=accepted(),
    )
    trusted(campaign, "A2OTHER", Stage.COVERAGE)
    consent_give(claim=other, version=1)
    assert sitting_open(claim=other).sitting is not None
    desk.page.reload()
    expect(hands.frame.get_by_text("Other workers are working")).to_be_visible()
    assert models.Sitting.objects.get().known_worker.name == "A2OTHER"
