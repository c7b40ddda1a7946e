"""Browsers with different settings for third-party cookies, and what they store."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserType, Frame

from tests.browsers import ARGUMENTS, find_chromium

# Tries to keep something, and says what is there afterwards or why there is nothing.
_TRY = """() => {
    const tried = (what) => { try { return what() } catch (error) { return error.name } };
    return {
        cookie: tried(() => {
            document.cookie = "probe=1; SameSite=None; Secure; Path=/";
            return document.cookie;
        }),
        storage: tried(() => {
            localStorage.setItem("probe", "1");
            return localStorage.getItem("probe");
        }),
    };
}"""


@contextmanager
def browser_with_cookies(
    kind: BrowserType, profile: Path, *, third_party: bool
) -> Iterator[Browser]:
    """Start a Chromium by the preferences of its profile; all its contexts follow them."""
    path = find_chromium()
    if path is None:
        pytest.skip("there is no Chromium: see tests/browsers.py")
    cookies = {
        "cookie_controls_mode": 0 if third_party else 1,
        "block_third_party_cookies": not third_party,
    }
    (profile / "Default").mkdir(parents=True)
    (profile / "Default" / "Preferences").write_text(json.dumps({"profile": cookies}))
    first = kind.launch_persistent_context(profile, executable_path=path, args=ARGUMENTS)
    chromium = first.browser
    assert chromium is not None
    try:
        yield chromium
    finally:
        first.close()


def what_sticks(frame: Frame) -> dict[str, Any]:
    """Try to set a cookie and to store something in a frame; return what can be read back."""
    found: dict[str, Any] = frame.evaluate(_TRY)
    return found
