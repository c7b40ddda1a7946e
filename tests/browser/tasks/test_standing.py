"""Workers see their standing and can appeal: in a real browser, without barriers."""

from typing import Any

import pytest
from django.test import override_settings
from playwright.sync_api import Frame, Page, expect

from annotation import models
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.trust.standing import standing_text, trust_note, trust_revoke
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import BeganTest, Checked, FinishedTest, fold
from annotation.selectors.trust.appeals import appeal_url
from tests.browser.kit.corpus import demo_campaign, open_questions_of
from tests.browser.kit.desk import Desk
from tests.browser.kit.pages import (
    DESKTOP,
    PHONE,
    Watch,
    agree,
    axe,
    overflow,
    settle,
    task_frame,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def check(page: Page, frame: Frame | Page) -> None:
    """Look at the page in the light and large, then in the dark and small."""
    for dark, (width, height) in ((False, DESKTOP), (True, PHONE)):
        page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": height})
        settle(frame, width, dark=dark)
        assert axe(frame) + overflow(frame) == [], f"{width} px, dark: {dark}"
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": DESKTOP[0], "height": DESKTOP[1]})


def test_beside_the_questions_and_when_nothing_is_left(desk: Desk) -> None:
    watch = Watch(desk.context)
    campaign = demo_campaign()
    open_questions_of(campaign, Stage.LINKS)
    hit = desk.publish(campaign, Stage.LINKS)
    right: list[Any] = [Checked(right=number % 9 > 0) for number in range(40)]
    standing = fold(
        [BeganTest(), FinishedTest(right=9, asked=10), *right], Stage.LINKS, campaign.settings
    )
    models.WorkerStanding.objects.update(body=standing_text(standing))
    agree(desk, campaign)
    frame = desk.accept(hit)
    summary = frame.get_by_text("Your standing")
    line = frame.get_by_text("Your accuracy is 88%")
    expect(summary).to_be_visible()
    expect(line).not_to_be_visible()
    summary.focus()
    desk.page.keyboard.press("Enter")
    expect(line).to_be_visible()
    # Enter opened the panel, and did not go on to the next question.
    expect(frame.locator(".count")).to_have_text("1 of 3")
    check(desk.page, task_frame(desk.page))
    models.SittingQuestion.objects.all().delete()
    models.Sitting.objects.all().delete()
    models.OpenQuestion.objects.all().delete()
    desk.page.reload()
    expect(frame.get_by_role("heading", name="You are trusted")).to_be_visible()
    check(desk.page, task_frame(desk.page))
    assert watch.said == []


def test_asking_for_another_look_by_keyboard_alone(desk: Desk) -> None:
    watch = Watch(desk.context)
    campaign = demo_campaign()
    worker = worker_ensure(name="A1")
    who: dict[str, Any] = {"campaign": campaign, "worker": worker, "stage": Stage.LINKS}
    trust_note(**who, event=FinishedTest(right=10, asked=10), key="test/1")
    trust_revoke(**who, reason="all answers were the same", by="jo")
    standing = models.WorkerStanding.objects.get()
    page = desk.page
    with override_settings(CHAINBOX_TASK_URL=desk.tasks):
        page.goto(appeal_url(standing))
    expect(page.get_by_text("all answers were the same")).to_be_visible()
    check(page, page)
    page.keyboard.press("Tab")
    expect(page.get_by_label("Why should we change our decision?")).to_be_focused()
    page.keyboard.type("The photo was dark.")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="We have received your appeal")).to_be_visible()
    check(page, page)
    assert models.Appeal.objects.get().words == "The photo was dark."
    assert watch.said == []
