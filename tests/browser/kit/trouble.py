"""Shared parts of the tests of reloads, lost connections and slow servers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.test import override_settings
from playwright.sync_api import (
    Browser,
    BrowserContext,
    Frame,
    FrameLocator,
    Page,
    Request,
    Route,
    expect,
)
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.work.answers import Answer, decode_answer
from marketplace.models import Worker
from marketplace.rules.lifecycle import AssignmentStatus
from marketplace.rules.questions import read_answers
from tests.browser.kit.desk import Desk, origins_of
from tests.browser.kit.line import Line
from tests.web.campaigns import small_campaign
from tests.web.work.task_pages import agree, claim_of

API = re.compile(r"/hits/api/")
DRAFT = re.compile(r"/hits/api/draft$")
FINISH = re.compile(r"/hits/api/finish$")
SUBMIT = re.compile(r"/mturk/externalSubmit$")
# What was done before can be seen by then.
TWO_FRAMES = "() => new Promise(end => requestAnimationFrame(() => requestAnimationFrame(end)))"
NOT_SAVED = re.compile(r"^Not saved yet")


class FarDesk(Desk):
    """A desk whose way to the task pages can be cut."""

    line: Line


@contextmanager
def desk_of(
    browser: Browser,
    live_server: LiveServer,
    *,
    same_site: bool = False,
    worker: Worker | None = None,
    line_port: int = 0,
    **options: Any,
) -> Iterator[FarDesk]:
    """Seat a worker at a browser of their own.

    With `same_site` the task pages are of another origin, but of the marketplace's site: then the
    browser lets their frame keep something. `line_port` is where a HIT was published before.
    """
    size = {"viewport": {"width": 1280, "height": 800}}
    far, near = origins_of(live_server)
    marketplace = near if same_site else far
    port = urlsplit(live_server.url).port or 80
    with (
        Line(port, line_port) as line,
        override_settings(CHAINBOX_MARKETPLACE_ORIGINS=[marketplace]),
    ):
        context = browser.new_context(**(size | options))
        origins = marketplace, f"http://localhost:{line.port}"
        desk = FarDesk(context, live_server, origins, worker)
        desk.line = line
        yield desk
        context.close()


def links_of(desk: Desk, folder: Path, images: int = 3) -> tuple[models.Campaign, FrameLocator]:
    """Let the worker agree and accept a HIT with one question of Links on each image."""
    campaign = small_campaign(folder, [f"photo{number}" for number in range(images)])
    agree(claim_of(campaign, worker=desk.worker.worker_id))
    frame = desk.accept(desk.publish(campaign, Stage.LINKS))
    # What a test does to the frame's requests from now on finds a frame that is there.
    at(frame, f"1 of {images}")
    return campaign, frame


def task_frame(page: Page) -> Frame:
    """Return the frame with our page."""
    [frame] = [frame for frame in page.frames if "/hits/" in frame.url]
    return frame


def at(frame: FrameLocator, position: str) -> None:
    """Wait until the question in view is, say, "2 of 3"."""
    expect(frame.get_by_text(position, exact=True)).to_be_visible()


def say(frame: FrameLocator, answer: str) -> None:
    # A tick is put before the answer that was given.
    frame.get_by_role("button", name=re.compile(rf"^(✓ )?{answer}$")).click()


def is_said(frame: FrameLocator, answer: str) -> None:
    button = frame.get_by_role("button", name=re.compile(rf"^(✓ )?{answer}$"), pressed=True)
    expect(button).to_be_visible()


def go_to(frame: FrameLocator, number: int) -> None:
    frame.get_by_role("button", name=f"Question {number},").click()


def shows(frame: FrameLocator, state: str | re.Pattern[str]) -> None:
    """Wait until the page says so of its answers: Saved, Saving…, Not saved yet…"""
    frame.locator("body").evaluate(TWO_FRAMES)
    expect(frame.get_by_role("banner").get_by_role("status")).to_have_text(state)


def stored(desk: Desk) -> dict[int, str]:
    """Return the answers that the server has, of all questions that have one."""
    return {number: answer.answer for number, answer in stored_whole(desk).items()}


def stored_whole(desk: Desk) -> dict[int, Answer]:
    rows = models.SittingQuestion.objects.filter(
        sitting__worker__name=desk.worker.worker_id, released_at=None
    ).exclude(answer="")
    return {row.number: decode_answer(row.answer) for row in rows}


def handed_in(desk: Desk) -> dict[str, str]:
    """Return the fields that the marketplace got."""
    return {name: "".join(values) for name, values in read_answers(desk.assignment.answer)}


def submit(frame: FrameLocator) -> None:
    frame.get_by_role("button", name="Submit", exact=True).click()


def submitted(desk: Desk) -> None:
    """Wait until the marketplace has the HIT; hand it in if that is still to be done."""
    button = desk.frame.get_by_role("button", name="Submit", exact=True)
    if button.is_visible():
        button.click()
    expect(desk.page.get_by_role("main")).to_contain_text("submitted", ignore_case=True)
    assert desk.assignment.status == AssignmentStatus.SUBMITTED


class Slow:
    """Holds requests back until it ends; what is held then can be let go one by one."""

    def __init__(self, context: BrowserContext, pattern: re.Pattern[str]) -> None:
        self.held: list[Route] = []
        self._is_over = False
        context.route(pattern, self._take)

    def _take(self, route: Route) -> None:
        if self._is_over:
            route.continue_()
        else:
            self.held.append(route)

    def end(self) -> None:
        self._is_over = True


class Count:
    """Counts requests that the browser makes."""

    def __init__(self, context: BrowserContext, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern
        self._made = 0
        context.on("request", self._see)

    def _see(self, request: Request) -> None:
        self._made += bool(self._pattern.search(request.url))

    def __len__(self) -> int:
        return self._made
