"""No answer is lost or sent twice, whatever happens to the browser and the network.

The desk's frame is a third party's and may keep nothing in the browser: what survives is what the
server has, and the page says what it has not. Where marketplace and task pages are of one site,
the browser keeps the rest.
"""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Route, expect
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.actions.work.confirmations import sitting_confirm
from annotation.models import SittingStatus
from marketplace.models import Assignment
from tests.browser.kit.desk import Desk
from tests.browser.kit.trouble import (
    API,
    DRAFT,
    FINISH,
    NOT_SAVED,
    SUBMIT,
    Count,
    FarDesk,
    Slow,
    at,
    desk_of,
    go_to,
    handed_in,
    is_said,
    links_of,
    say,
    shows,
    stored,
    stored_whole,
    submit,
    submitted,
    task_frame,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

# As in a crash: what a page gives to the browser when it goes is never sent.
NOTHING_LEFT_BEHIND = """
  const send = window.fetch;
  window.fetch = (url, init) => init?.keepalive ? Promise.reject(new TypeError()) : send(url, init);
"""


@pytest.mark.parametrize("whole", [False, True], ids=["frame", "page"])
@pytest.mark.parametrize(
    ("same_site", "back_at"), [(True, "1 of 3"), (False, "3 of 3")], ids=["kept", "blocked"]
)
def test_reload_resumes(
    browser: Browser,
    live_server: LiveServer,
    tmp_path: Path,
    same_site: bool,
    back_at: str,
    whole: bool,
) -> None:
    """At the same question; where nothing may be kept here, at the first without an answer."""
    with desk_of(browser, live_server, same_site=same_site) as desk:
        _, frame = links_of(desk, tmp_path)
        say(frame, "No")
        at(frame, "2 of 3")
        say(frame, "Yes")
        at(frame, "3 of 3")
        go_to(frame, 1)
        frame.get_by_text("Comment or report a problem").click()
        frame.get_by_label("The wrong words are marked: The guy").check()
        frame.get_by_label("This caption is not about the photo: A man").check()
        frame.get_by_label("Comment (optional)").fill("Who is <b>this</b>?")
        shows(frame, "Saved")
        before = stored_whole(desk)

        if whole:
            desk.page.reload()
        else:
            task_frame(desk.page).evaluate("location.reload()")
        at(frame, back_at)
        go_to(frame, 2)
        is_said(frame, "Yes")
        go_to(frame, 1)
        is_said(frame, "No")
        expect(frame.get_by_label("The wrong words are marked: The guy")).to_be_checked()
        expect(frame.get_by_label("The wrong words are marked: A man")).not_to_be_checked()
        expect(frame.get_by_label("This caption is not about the photo: A man")).to_be_checked()
        expect(frame.get_by_label("Comment (optional)")).to_have_value("Who is <b>this</b>?")
        shows(frame, "Saved")
        assert stored_whole(desk) == before
        assert {number: one.answer for number, one in before.items()} == {1: "no", 2: "yes"}
        assert len(before[1].cut_wrongly) == len(before[1].unrelated) == 1
        assert desk.sitting.questions.get(number=1).comment == "Who is <b>this</b>?"


def test_a_crash_loses_nothing_that_was_saved(
    browser: Browser, live_server: LiveServer, desk: Desk, tmp_path: Path
) -> None:
    _, frame = links_of(desk, tmp_path)
    say(frame, "No")
    at(frame, "2 of 3")
    say(frame, "Yes")
    shows(frame, "Saved")
    keys = list(desk.sitting.questions.order_by("number").values_list("image_id", "key"))
    address = desk.page.url
    desk.context.close()

    with desk_of(browser, live_server, worker=desk.worker) as again:
        again.page.goto(address)
        at(again.frame, "3 of 3")
        say(again.frame, "No")
        shows(again.frame, "Saved")
        assert stored(again) == {1: "no", 2: "yes", 3: "no"}
        submitted(again)
        resumed = again.sitting.questions.order_by("number").values_list("image_id", "key")
        assert list(resumed) == keys


def _answer_offline(desk: FarDesk, folder: Path) -> str:
    """Give an answer that is saved and one that cannot be; return the HIT's address."""
    _, frame = links_of(desk, folder)
    say(frame, "Yes")
    at(frame, "2 of 3")
    shows(frame, "Saved")
    desk.line.cut()
    say(frame, "No")
    shows(frame, NOT_SAVED)
    return desk.page.url


def test_closed_while_offline(browser: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    """Where the browser may keep nothing, the page had said that the answer was not saved."""
    with desk_of(browser, live_server) as desk:
        address = _answer_offline(desk, tmp_path)
        desk.context.close()
    with desk_of(browser, live_server, worker=desk.worker, line_port=desk.line.port) as again:
        again.page.goto(address)
        at(again.frame, "2 of 3")
        assert stored(again) == {1: "yes"}


def test_kept_while_offline(browser: Browser, live_server: LiveServer, tmp_path: Path) -> None:
    """Where the browser may keep the answer, it goes out when the HIT is opened again."""
    with desk_of(browser, live_server, same_site=True) as desk:
        desk.context.add_init_script(NOTHING_LEFT_BEHIND)
        address = _answer_offline(desk, tmp_path)
        desk.page.close()
        desk.line.mend()
        assert stored(desk) == {1: "yes"}
        desk.page = desk.context.new_page()
        desk.page.goto(address)
        expect(desk.frame.get_by_role("button", name="Question 2, answered")).to_be_visible()
        shows(desk.frame, "Saved")
        assert stored(desk) == {1: "yes", 2: "no"}


def test_answers_given_offline_arrive_by_themselves(desk: Desk, tmp_path: Path) -> None:
    """The browser knows that it is offline, and when it is back."""
    _, frame = links_of(desk, tmp_path)
    shows(frame, "Saved")
    desk.context.set_offline(True)
    say(frame, "Yes")
    at(frame, "2 of 3")
    say(frame, "No")
    at(frame, "3 of 3")
    shows(frame, NOT_SAVED)
    go_to(frame, 1)
    is_said(frame, "Yes")
    assert stored(desk) == {}
    desk.context.set_offline(False)
    shows(frame, "Saved")
    assert stored(desk) == {1: "yes", 2: "no"}


@pytest.mark.parametrize("status", [500, 503])
def test_the_server_is_down_for_a_while(desk: Desk, tmp_path: Path, status: int) -> None:
    _, frame = links_of(desk, tmp_path)
    shows(frame, "Saved")
    asked = Count(desk.context, DRAFT)
    desk.context.route(API, lambda route: route.fulfill(status=status, body="<h1>Oh no</h1>"))
    say(frame, "No")
    at(frame, "2 of 3")
    shows(frame, NOT_SAVED)
    assert stored(desk) == {}
    desk.context.unroute(API)
    shows(frame, "Saved")
    assert stored(desk) == {1: "no"}
    assert len(asked) >= 2


def test_one_draft_at_a_time_and_the_newest_last(desk: Desk, tmp_path: Path) -> None:
    _, frame = links_of(desk, tmp_path)
    slow = Slow(desk.context, DRAFT)
    say(frame, "Yes")
    at(frame, "2 of 3")
    shows(frame, "Saving…")
    go_to(frame, 1)
    say(frame, "No")
    at(frame, "2 of 3")
    shows(frame, "Saving…")
    [first] = slow.held
    slow.end()
    first.continue_()
    shows(frame, "Saved")
    assert stored(desk) == {1: "no"}


def test_a_late_draft_does_not_replace_a_newer_one(desk: Desk, tmp_path: Path) -> None:
    """The page gave the slow request up when it went away; the network delivers it all the same."""
    _, frame = links_of(desk, tmp_path)
    slow = Slow(desk.context, DRAFT)
    say(frame, "Yes")
    at(frame, "2 of 3")
    go_to(frame, 1)
    say(frame, "No")
    at(frame, "2 of 3")
    slow.end()
    task_frame(desk.page).evaluate("location.reload()")
    at(frame, "2 of 3")
    assert stored(desk) == {1: "no"}
    [late] = slow.held
    reply = desk.context.request.post(
        late.request.url, headers=late.request.headers, data=late.request.post_data_buffer
    )
    assert reply.ok
    assert stored(desk) == {1: "no"}


def _never_sent(route: Route) -> None:
    route.abort("connectionreset")


def _reply_lost(route: Route) -> None:
    assert route.fetch().ok
    route.abort("connectionreset")


@pytest.mark.parametrize("cut", [_never_sent, _reply_lost])
def test_cut_while_handing_in(desk: Desk, tmp_path: Path, cut: Callable[[Route], None]) -> None:
    _, frame = links_of(desk, tmp_path, images=2)
    say(frame, "Yes")
    at(frame, "2 of 2")
    desk.context.route(FINISH, cut, times=2)
    say(frame, "No")
    forms = Count(desk.context, SUBMIT)
    submit(frame)
    shows(frame, NOT_SAVED)
    expect(frame.get_by_text("sent as soon as the server can be reached")).to_be_visible()
    submitted(desk)
    assert len(forms) == 1
    assert stored(desk) == {1: "yes", 2: "no"}
    assert models.Sitting.objects.get().status == SittingStatus.FINISHED


def test_double_click_submits_once(desk: Desk, tmp_path: Path) -> None:
    _, frame = links_of(desk, tmp_path, images=2)
    finishes, forms = Count(desk.context, FINISH), Count(desk.context, SUBMIT)
    say(frame, "Yes")
    at(frame, "2 of 2")
    say(frame, "Yes")
    frame.get_by_role("button", name="Submit", exact=True).dblclick()
    submitted(desk)
    assert (len(finishes), len(forms)) == (1, 1)
    assert Assignment.objects.count() == models.Sitting.objects.count() == 1
    answers = json.loads(handed_in(desk)["answers"])
    assert [(one["number"], one["answer"]) for one in answers] == [(1, "yes"), (2, "yes")]
    confirmed = sitting_confirm(sitting=desk.sitting)
    assert (confirmed.recorded, confirmed.refused) == (2, ())
    assert models.Fact.objects.count() == 2
