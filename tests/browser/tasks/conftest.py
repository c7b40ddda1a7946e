"""A desk for each test, in a browser that keeps third parties' cookies out."""

from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from django.test import override_settings
from playwright.sync_api import Browser
from pytest_django.live_server_helper import LiveServer

from tests.browser.tasks.desk import Desk


@pytest.fixture
def desk(browser: Browser, live_server: LiveServer) -> Iterator[Desk]:
    """A worker at the marketplace, 127.0.0.1, which may show task pages in its frames."""
    port = urlsplit(live_server.url).port
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    with override_settings(CHAINBOX_MARKETPLACE_ORIGINS=[f"http://127.0.0.1:{port}"]):
        yield Desk(context, live_server)
    context.close()
