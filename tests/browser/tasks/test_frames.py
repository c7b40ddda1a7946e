"""Which sites may frame which pages, which scripts may run, and a shared host name."""

import gzip
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.test import Client, override_settings
from playwright.sync_api import expect

from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import decode_answer
from common.web.csp import HEADER
from marketplace.rules.lifecycle import AssignmentStatus
from tests.browser.kit.desk import Desk
from tests.browser.kit.pages import (
    ROOT,
    Watch,
    address,
    answer_button,
    begin,
    preview_address,
    task_frame,
)
from tests.browser.kit.small_corpus import Pictured, small_campaign
from tests.marketplace.site import new_worker, signed_in
from tests.web.accounts import researcher
from tests.web.routes import requestable

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PREVIEW = "This is a preview."
MOST_SCRIPT = 60 * 1024
# What a marketplace shows in a frame: our task pages, a requester's own page, and its answer to a
# submission.
FRAMED = {
    *("hits:page", "hits:test", "hits:examples"),
    *("marketplace:question", "marketplace:external-submit", "marketplace:external-submit-by"),
}


@contextmanager
def foreign_page(frame_url: str) -> Iterator[str]:
    """Serve a page that frames the address, from a port of its own: another origin."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = f'<!doctype html><title>x</title><iframe src="{frame_url}"></iframe>'.encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_only_configured_marketplaces_frame_a_task(desk: Desk, tmp_path: Path) -> None:
    watch = Watch(desk.context)
    campaign = small_campaign(tmp_path, [Pictured("one")])
    with foreign_page(preview_address(desk, campaign, Stage.REQUIREMENT)) as origin:
        desk.page.goto(origin)
        assert_refused(desk, watch)
        known = settings.CHAINBOX_MARKETPLACE_ORIGINS
        with override_settings(CHAINBOX_MARKETPLACE_ORIGINS=[*known, origin]):
            desk.page.goto(origin)
            expect(desk.frame.get_by_text(PREVIEW)).to_be_visible()


def assert_refused(desk: Desk, watch: Watch) -> None:
    """The browser shows an error of its own in the frame, and says why."""
    frame = task_frame(desk.page)
    frame.wait_for_load_state()
    expect(desk.frame.locator("#main-frame-error")).to_be_attached()
    assert frame.url.startswith("chrome-error:")
    assert [said for said in watch.said if "frame" in said.lower()]


def test_other_pages_are_framed_by_nobody(desk: Desk) -> None:
    watch = Watch(desk.context)
    with foreign_page(f"{desk.tasks}/accounts/login/") as origin:
        known = settings.CHAINBOX_MARKETPLACE_ORIGINS
        with override_settings(CHAINBOX_MARKETPLACE_ORIGINS=[*known, origin]):
            desk.page.goto(origin)
            assert_refused(desk, watch)


def test_every_route_forbids_inline_scripts_and_frames() -> None:
    """As nobody, as a worker, as a researcher and as staff."""
    visitors = {
        "nobody": Client(),
        "worker": signed_in(new_worker()),
        "researcher": Client(),
        "staff": Client(),
    }
    visitors["researcher"].force_login(researcher())
    visitors["staff"].force_login(User.objects.create_superuser("chief"))
    seen = set()
    for who, client in visitors.items():
        for route in requestable():
            response = client.get(route.path)
            where = f"{route.name} as {who}"
            policy = dict(
                part.strip().split(" ", 1) for part in response.headers[HEADER].split(";")
            )
            assert policy["default-src"] == "'none'", where
            assert policy["script-src"] == "'self'", where
            assert "unsafe" not in response.headers[HEADER], where
            if route.name in FRAMED:
                continue
            assert response.headers["X-Frame-Options"] == "DENY", where
            assert policy["frame-ancestors"] == "'none'", where
            seen.add(route.name)
    assert len(seen) > 30, "that many routes there are"


def test_task_pages_forbid_inline_scripts_and_name_who_frames_them(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [Pictured("one")])
    origins = " ".join(settings.CHAINBOX_MARKETPLACE_ORIGINS)
    for stage in Stage:
        for rest in ("", "test/", "examples/"):
            response = Client().get(f"/hits/{campaign.pk}/{stage.value}/{rest}")
            policy = response.headers[HEADER]
            assert "unsafe" not in policy
            assert f"frame-ancestors {origins}" in policy
            assert "X-Frame-Options" not in response.headers


def test_answers_go_to_no_foreign_host(desk: Desk, tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, [Pictured("one")])
    hit = desk.publish(campaign, Stage.REQUIREMENT)
    path = f"/hits/{campaign.pk}/requirement/"
    for host in ("https://example.org", f"{desk.marketplace}@example.org", "javascript:alert(1)"):
        desk.page.goto(address(desk, hit, path, turkSubmitTo=host))
        expect(desk.page.get_by_text("The turkSubmitTo in the address")).to_be_visible()
        expect(desk.page.get_by_text("You can return the HIT")).to_be_visible()
        page = desk.page.evaluate("JSON.parse(document.getElementById('page').textContent)")
        assert (page["token"], page["submitUrl"]) == ("", "")


def test_a_sitting_on_the_marketplaces_own_host(desk: Desk, tmp_path: Path) -> None:
    watch = Watch(desk.context)
    campaign = small_campaign(tmp_path, [Pictured("first"), Pictured("second")])
    desk.tasks = desk.marketplace
    shown = begin(desk, campaign, Stage.REQUIREMENT)
    frame = task_frame(desk.page)
    # A page of its own host could act as the marketplace; so it has no origin, and no storage.
    assert frame.evaluate("self.origin") == "null"
    answer_button(shown, Stage.REQUIREMENT, "box").click()
    expect(shown.get_by_text("2 of 2")).to_be_visible()
    expect(shown.get_by_text("Saved", exact=True)).to_be_visible()
    desk.page.reload()
    expect(shown.get_by_role("button", name="Question 1, answered")).to_be_visible()
    shown.get_by_role("button", name="Question 2").click()
    answer_button(shown, Stage.REQUIREMENT, "scene").click()
    shown.get_by_role("button", name="Submit").click()
    expect(desk.page.get_by_text("submitted").first).to_be_visible()
    questions = desk.sitting.questions.order_by("number")
    assert [decode_answer(one.answer).answer for one in questions] == ["box", "scene"]
    assert desk.assignment.status == AssignmentStatus.SUBMITTED
    assert desk.sitting.digest in desk.assignment.answer
    assert watch.said == []


def test_the_script_is_small() -> None:
    script = (ROOT / "frontend" / "dist" / "hits" / "task.js").read_bytes()
    assert len(gzip.compress(script)) <= MOST_SCRIPT
