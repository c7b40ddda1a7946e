"""A real browser plays the worker, from sign-up to earnings, against a real requester program."""

import subprocess
import sys
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from marketplace.actions.ledger import funds_add
from marketplace.models import AccessKey, Assignment, Requester, Worker
from marketplace.rules.lifecycle import AssignmentStatus
from tests.browser.task_site import task_site
from tests.processes import ROOT, environment

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()


def program(live_server: LiveServer, requester: Requester, url: str) -> subprocess.Popen[str]:
    """Start the requester's program, which finds all it needs in its environment."""
    key = AccessKey.objects.create(requester=requester)
    return subprocess.Popen(
        [sys.executable, "tests/marketplace/requester_program.py", url],
        cwd=ROOT,
        env=environment(
            AWS_ACCESS_KEY_ID=key.key_id,
            AWS_SECRET_ACCESS_KEY=key.secret,
            AWS_DEFAULT_REGION="us-east-1",
            AWS_ENDPOINT_URL_MTURK=f"{live_server.url}/marketplace/api",
        ),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_from_sign_up_to_earnings(live_server: LiveServer, page: Page) -> None:
    requester = Requester.objects.create(name="The Zoo")
    funds_add(requester=requester, cents=1000, key="first")
    with task_site() as url:
        running = program(live_server, requester, url)
        try:
            assert running.stdout is not None
            assert running.stdout.readline() == "balance 10.00\n"
            assert running.stdout.readline().startswith("published 3")
            _sign_up(page, live_server.url)
            _qualify(page, live_server.url)
            _work(page, live_server.url)
            rest = running.communicate(timeout=60)[0]
        finally:
            running.kill()
            running.wait()
    assert running.returncode == 0, rest
    assert "<QuestionIdentifier>animal</QuestionIdentifier>" in rest
    assert "<FreeText>a &lt;small&gt; owl</FreeText>" in rest
    # 10.00 less the reward of 0.25 and the bonus of 0.10; there is no fee by default.
    assert rest.endswith("balance 9.65\n")
    page.goto(f"{live_server.url}/marketplace/earnings/")
    expect(page.locator("main")).to_contain_text("$0.35")
    page.goto(f"{live_server.url}/marketplace/work/")
    expect(page.locator("main")).to_contain_text("Thank you")
    worker = Worker.objects.get()
    assert Assignment.objects.get().status == AssignmentStatus.APPROVED
    assert worker.worker_id.startswith("A")


def _sign_up(page: Page, url: str) -> None:
    page.goto(f"{url}/marketplace/sign-up/")
    page.fill("[name=username]", "mira")
    for field in page.locator("input[type=password]").all():
        field.fill("a-quiet-river-42")
    page.select_option("[name=country]", "DE")
    page.check("[name=agrees]")
    page.click("main button[type=submit]")
    expect(page.locator("main")).to_contain_text("Name the animal")


def _qualify(page: Page, url: str) -> None:
    """The HIT asks for a qualification, which is given to whoever asks."""
    page.goto(f"{url}/marketplace/")
    page.click("text=Name the animal in the photo")
    expect(page.locator("main")).to_contain_text("Careful readers")
    page.click("a:has-text('Request it')")
    page.click("button:has-text('Request it')")
    expect(page.locator("main")).to_contain_text("80")


def _work(page: Page, url: str) -> None:
    page.goto(f"{url}/marketplace/")
    page.click("text=Name the animal in the photo")
    preview = page.frame_locator("iframe")
    expect(preview.locator("button")).to_be_disabled()
    page.click("text=Accept and work")
    frame = page.frame_locator("iframe")
    frame.locator("[name=animal]").fill("a <small> owl")
    frame.locator("button").click()
    # The page round the frame notices by itself and goes on.
    expect(page.locator("main")).to_contain_text("submitted", ignore_case=True)
    expect(page.locator("iframe")).to_have_count(0)
