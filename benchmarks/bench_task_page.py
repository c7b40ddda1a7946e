"""A task page in a real browser: from the click to the first question, and the script's size."""

import contextlib
import gzip
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from urllib.parse import urlencode

from benchmarks.measure import ROOT
from tests.browsers import ARGUMENTS, find_chromium

LIMIT_SECONDS = 1
# The access key that the marketplace would have given us.
KEY_ID, SECRET = "AKBENCHMARKS", "a secret of the benchmarks"
LIMIT_KILOBYTES = 60
TIMES, QUESTIONS = 6, 5
SCRIPT = ROOT / "frontend" / "dist" / "hits" / "task.js"
# By the page's own clock, which starts with its navigation: the photo is shown and the worker can
# answer.
USABLE = """() => new Promise((done) => {
  const look = () => document.querySelector(".photo-picture.shown")
    && document.querySelector(".answer:not(:disabled)")
    ? done(performance.now()) : requestAnimationFrame(look);
  look();
})"""


def main() -> None:
    size = len(gzip.compress(SCRIPT.read_bytes())) / 1024
    print(f"script, gzipped                {size:7.1f} KB")
    print(f"  share of {LIMIT_KILOBYTES} KB               {size / LIMIT_KILOBYTES:7.1%}")
    if not find_chromium():
        print("skipped: there is no Chromium")
        return
    with tempfile.TemporaryDirectory() as folder, free_port() as port:
        os.environ |= {"CHAINBOX_VAR": folder, "PORT": str(port), "CHAINBOX_LOG_LEVEL": "ERROR"}
        os.environ |= {"CHAINBOX_CROWD_KEY_ID": KEY_ID, "CHAINBOX_CROWD_SECRET": SECRET}
        os.environ.pop("DATABASE_URL", None)
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
        # Playwright waits in an event loop of this thread, so Django mistakes our code for async
        # code.
        os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
        import django

        django.setup()
        campaign_id = prepare()
        with server(port):
            measure(port, campaign_id)


@contextlib.contextmanager
def free_port() -> Iterator[int]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    yield port


@contextlib.contextmanager
def server(port: int) -> Iterator[None]:
    """Run the site as `make run` does, without its worker and scheduler."""
    process = subprocess.Popen([sys.executable, "-m", "config.server"], cwd=ROOT)
    try:
        while True:
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz").close()
                break
            assert process.poll() is None, "the server did not start"
            time.sleep(0.1)
        yield
    finally:
        process.terminate()
        process.wait()


def measure(port: int, campaign_id: int) -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=ARGUMENTS)
        taken = []
        for number in range(TIMES):
            # A new context has an empty cache.
            page = browser.new_context().new_page()
            page.goto(address(port, campaign_id, number))
            taken.append(page.evaluate(USABLE) / 1000)
            page.context.close()
        browser.close()
    for name, seconds in (("median", statistics.median(taken)), ("slowest", max(taken))):
        print(f"first question usable, {name:7} {seconds:7.2f} s")
        print(f"  share of {LIMIT_SECONDS} s                 {seconds / LIMIT_SECONDS:7.1%}")


def address(port: int, campaign_id: int, number: int) -> str:
    from tests.acceptances import with_acceptance

    query = with_acceptance(
        {
            "assignmentId": f"A{number}",
            "hitId": "H",
            "workerId": f"W{number}",
            "turkSubmitTo": f"http://localhost:{port}/marketplace",
        },
        keys={KEY_ID: SECRET},
    )
    return f"http://localhost:{port}/hits/{campaign_id}/links/?{urlencode(query)}"


def prepare() -> int:
    """Import the demo, and record every worker's consent, which is not part of the measurement."""
    from django.core.management import call_command

    from annotation.actions.work.sittings import consent_give
    from annotation.models import SittingKind
    from annotation.pipeline.protocol.questions import Stage
    from annotation.selectors.work.guides import consent_guide
    from annotation.selectors.work.sittings import Claim
    from tests.acceptances import accepted
    from tests.browser.kit.corpus import demo_campaign
    from tests.offers import offered, trusted

    call_command("migrate", verbosity=0)
    campaign = demo_campaign(questions=QUESTIONS)
    row = consent_guide(campaign).row
    offered(campaign, Stage.LINKS, "H")
    for number in range(TIMES):
        claim = Claim(
            campaign=campaign.pk,
            stage=Stage.LINKS,
            kind=SittingKind.WORK,
            assignment_id=f"A{number}",
            hit_id="H",
            worker=f"W{number}",
            acceptance=accepted(),
        )
        consent_give(claim=claim, version=row.version if row else 1)
        trusted(campaign, claim.worker, Stage.LINKS)
    return campaign.pk


if __name__ == "__main__":
    main()
