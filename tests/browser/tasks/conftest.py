"""A desk for each test, in a browser that blocks third-party cookies."""

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.test import override_settings
from playwright.sync_api import Browser, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from tests.browser.kit.cookies import browser_with_cookies
from tests.browser.kit.desk import Desk

# Others may be using the machine.
expect.set_options(timeout=30_000)

# What the pages do is the same on either engine, and browsers are slow: all of it runs once, on
# SQLite, and whole sittings of all stages on PostgreSQL too.
ON_BOTH_ENGINES = "test_stages_mouse.py"


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what need not run on PostgreSQL once more."""
    here = Path(__file__).parent
    for item in items:
        if item.path.parent == here and item.path.name != ON_BOTH_ENGINES:
            item.add_marker("once")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """A Chromium whose user has blocked third parties' cookies, whatever the build's default."""
    profile = tmp_path_factory.mktemp("profile")
    with pytest.MonkeyPatch.context() as patch, sync_playwright() as playwright:
        # Playwright waits in an event loop of its own thread, which Django takes for async code.
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
        with browser_with_cookies(playwright.chromium, profile, third_party=False) as chromium:
            yield chromium


@pytest.fixture
def desk(browser: Browser, live_server: LiveServer) -> Iterator[Desk]:
    """A worker at the marketplace, 127.0.0.1, which may show task pages in its frames."""
    port = urlsplit(live_server.url).port
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    with override_settings(CHAINBOX_MARKETPLACE_ORIGINS=[f"http://127.0.0.1:{port}"]):
        yield Desk(context, live_server)
    context.close()
