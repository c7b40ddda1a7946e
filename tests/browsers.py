"""A real browser for the tests that need one: an installed Chromium, or Playwright's own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# Nothing but the pages under test: no updates, no sync, no sandbox where there is no user for it.
ARGUMENTS = [
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",
    *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
]


def find_chromium() -> str | None:
    """Return the path of a Chromium: CHAINBOX_CHROMIUM, one on the path, or Playwright's."""
    named = os.environ.get("CHAINBOX_CHROMIUM")
    if named:
        return named
    for name in NAMES:
        found = shutil.which(name)
        if found:
            return found
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        own = playwright.chromium.executable_path
    return own if Path(own).exists() else None


def install() -> bool:
    """Install a Chromium if none is there: Debian's package if root, otherwise Playwright's own."""
    if find_chromium():
        return True
    if hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get"):
        subprocess.run(["apt-get", "update", "-qq"], check=False)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "--no-install-recommends", "chromium"], check=False
        )
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=False)
    return find_chromium() is not None


if __name__ == "__main__":
    if not install():
        print("No Chromium could be had: the browser tests will be skipped.", file=sys.stderr)
