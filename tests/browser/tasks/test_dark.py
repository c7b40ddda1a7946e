"""Dark mode: task pages follow the user's setting, inside the marketplace's frame too."""

from urllib.parse import urlsplit

import pytest
from django.test import override_settings
from playwright.sync_api import sync_playwright
from pytest_django.live_server_helper import LiveServer

from annotation.pipeline.protocol.questions import Stage
from tests.browser.kit.corpus import demo_campaign
from tests.browser.kit.desk import Desk
from tests.browsers import ARGUMENTS, find_chromium

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

IS_DARK = "matchMedia('(prefers-color-scheme: dark)').matches"


def test_the_frame_follows_the_machine(
    live_server: LiveServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the browser's own setting: what Playwright emulates goes past the frame round the page."""
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium: see tests/browsers.py")
    port = urlsplit(live_server.url).port
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    campaign = demo_campaign()
    with (
        sync_playwright() as playwright,
        override_settings(CHAINBOX_MARKETPLACE_ORIGINS=[f"http://127.0.0.1:{port}"]),
    ):
        browser = playwright.chromium.launch(
            executable_path=path, args=[*ARGUMENTS, "--force-dark-mode"]
        )
        desk = Desk(browser.new_context(color_scheme="null"), live_server)
        frame = desk.preview(desk.publish(campaign, Stage.LINKS))
        frame.get_by_role("heading").first.wait_for()
        assert [inner.evaluate(IS_DARK) for inner in desk.page.frames] == [True, True]
        browser.close()
