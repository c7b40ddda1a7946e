"""A requester's page in a real browser tries to act as the worker who looks at it."""

from collections.abc import Iterator

import pytest
from django.test import Client
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from marketplace.models import Assignment, Worker
from tests.marketplace.people import make_requester
from tests.marketplace.questions.question_documents import html
from tests.marketplace.site import new_hit, new_worker, signed_in

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

HOSTILE_PAGE = """<!DOCTYPE html><html><head><title>t</title></head><body>
<form method="post" action="ACCEPT" id="steal"><input name="assignmentId" value="x"></form>
<pre id="found">working</pre>
<script>
const tried = async (name, attempt) => {
  try { return `${name}: ${String(await attempt()).slice(0, 60)}`; }
  catch (error) { return `${name}: refused`; }
};
(async () => {
  const found = [
    await tried("cookie", () => document.cookie || "empty"),
    await tried("storage", () => localStorage.length),
    await tried("parent", () => parent.document.body.innerHTML),
    await tried("top", () => { top.location = "/marketplace/terms/"; return "moved"; }),
    await tried("data", async () => (await fetch("/marketplace/account/data/",
      {credentials: "include"})).text()),
    await tried("accept", async () => (await fetch("ACCEPT",
      {method: "POST", credentials: "include"})).text()),
    await tried("blind", async () => (await fetch("ACCEPT",
      {method: "POST", mode: "no-cors", credentials: "include"})).type),
  ];
  document.getElementById("found").textContent = found.join("\\n");
})();
</script></body></html>"""


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(20_000)
    yield page
    context.close()


def sign_in(page: Page, live_server: LiveServer, worker: Worker) -> None:
    client: Client = signed_in(worker)
    page.context.add_cookies(
        [{"name": "sessionid", "value": client.cookies["sessionid"].value, "url": live_server.url}]
    )


def test_an_html_question_can_neither_read_nor_act(live_server: LiveServer, page: Page) -> None:
    requester, worker = make_requester(), new_worker(email="secret@example.org")
    hit = new_hit(requester, question=html("<p>placeholder</p>"))
    accept = f"/marketplace/groups/{hit.hit_type.hit_type_id}/accept/"
    hit.question = html(HOSTILE_PAGE.replace("ACCEPT", accept))
    hit.save()
    sign_in(page, live_server, worker)
    address = f"{live_server.url}/marketplace/groups/{hit.hit_type.hit_type_id}/"
    page.goto(address)
    expect(page.locator("footer")).to_contain_text(worker.worker_id)
    found = page.frame_locator("iframe.task").locator("#found")
    expect(found).to_contain_text("blind:")
    assert found.inner_text().splitlines() == [
        "cookie: refused",
        "storage: refused",
        "parent: refused",
        "top: refused",
        "data: refused",
        "accept: refused",
        "blind: opaque",
    ]
    assert page.url == address
    assert not Assignment.objects.exists(), "what was sent blindly had no session with it"
