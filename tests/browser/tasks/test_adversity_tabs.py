"""Outdated pages: the back button, two tabs, an expired sitting, a returned HIT."""

from datetime import timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotation import models
from annotation.models import SittingStatus
from common.clock import database_now
from marketplace.models import Assignment
from marketplace.rules.lifecycle import AssignmentStatus
from tests.browser.kit.desk import Desk
from tests.browser.kit.trouble import (
    SUBMIT,
    Count,
    at,
    handed_in,
    links_of,
    say,
    shows,
    stored,
    submit,
    submitted,
    task_frame,
)

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

STATUS = "**/marketplace/work/*/status/"


def test_back_after_submitting(desk: Desk, tmp_path: Path) -> None:
    """Neither the browser's way back nor the old address hands anything in anew."""
    _, frame = links_of(desk, tmp_path, images=2)
    address = task_frame(desk.page).url
    say(frame, "Yes")
    at(frame, "2 of 2")
    say(frame, "No")
    submitted(desk)
    got = handed_in(desk)
    forms = Count(desk.context, SUBMIT)
    desk.page.go_back()
    expect(desk.page.get_by_role("main")).to_be_visible()
    expect(frame.get_by_role("button", name="Submit")).to_have_count(0)

    desk.page.goto(address)
    expect(desk.page.get_by_role("heading", name="Your answers are saved")).to_be_visible()
    assert len(forms) == 0
    desk.page.get_by_role("button", name="Submit to the marketplace again").click()
    expect(desk.page.get_by_text("submitted", exact=False).first).to_be_visible()
    assert len(forms) == 1
    assert (stored(desk), handed_in(desk)) == ({1: "yes", 2: "no"}, got)
    assert desk.assignment.status == AssignmentStatus.SUBMITTED


def second_tab(desk: Desk) -> Page:
    """Open the HIT once more, where the marketplace's own page does not notice changes."""
    tab = desk.context.new_page()
    tab.route(STATUS, lambda route: route.abort())
    tab.goto(desk.page.url)
    return tab


def test_two_tabs(desk: Desk, tmp_path: Path) -> None:
    """Both save to one sitting; what is handed in first stands, and the other tab says so."""
    _, one = links_of(desk, tmp_path, images=2)
    tab = second_tab(desk)
    other = tab.frame_locator("iframe")
    at(other, "1 of 2")
    say(one, "Yes")
    at(one, "2 of 2")
    shows(one, "Saved")
    say(other, "No")
    at(other, "2 of 2")
    shows(other, "Saved")
    assert stored(desk) == {1: "no"}
    say(one, "Yes")
    submitted(desk)
    assert stored(desk) == {1: "yes", 2: "yes"}

    say(other, "No")
    expect(other.get_by_role("heading", name="Your answers are saved")).to_be_visible()
    expect(other.get_by_text("You had already submitted them")).to_be_visible()
    assert stored(desk) == {1: "yes", 2: "yes"}
    assert models.Sitting.objects.get().status == SittingStatus.FINISHED
    assert Assignment.objects.count() == 1
    assert '"answer":"no"' not in handed_in(desk)["answers"]


def time_runs_out() -> None:
    models.Sitting.objects.update(until=database_now() - timedelta(seconds=1))


def test_the_time_runs_out(desk: Desk, tmp_path: Path) -> None:
    _, frame = links_of(desk, tmp_path)
    say(frame, "Yes")
    at(frame, "2 of 3")
    shows(frame, "Saved")
    time_runs_out()
    say(frame, "No")
    expect(frame.get_by_role("heading", name="time")).to_be_visible()
    expect(frame.get_by_text("Load the page again to get new ones")).to_be_visible()
    expect(frame.get_by_text("To return the HIT")).to_be_visible()
    frame.get_by_role("button", name="Reload this page").click()
    at(frame, "1 of 3")
    old, new = models.Sitting.objects.order_by("pk")
    assert (old.status, new.status) == (SittingStatus.LAPSED, SittingStatus.OPEN)
    assert stored(desk) == {}


@pytest.mark.parametrize("last", ["answer", "submit"])
def test_a_tab_with_a_lapsed_sitting_does_not_answer_the_next_one(
    desk: Desk, tmp_path: Path, last: str
) -> None:
    """The assignment is the same, but its questions are others now."""
    _, frame = links_of(desk, tmp_path, images=2)
    say(frame, "Yes")
    at(frame, "2 of 2")
    if last == "submit":
        say(frame, "Yes")
    shows(frame, "Saved")
    time_runs_out()
    at(second_tab(desk).frame_locator("iframe"), "1 of 2")
    if last == "submit":
        submit(frame)
    else:
        say(frame, "No")
    expect(frame.get_by_role("heading", name="time")).to_be_visible()
    assert stored(desk) == {}
    assert desk.assignment.status == AssignmentStatus.ACCEPTED
    assert [one.status for one in models.Sitting.objects.order_by("pk")] == [
        SittingStatus.LAPSED,
        SittingStatus.OPEN,
    ]


def test_returned_in_another_tab(desk: Desk, tmp_path: Path) -> None:
    """What is handed in afterwards is not taken by the marketplace, which says so."""
    _, frame = links_of(desk, tmp_path, images=2)
    say(frame, "Yes")
    at(frame, "2 of 2")
    say(frame, "No")
    shows(frame, "Saved")
    desk.page.route(STATUS, lambda route: route.abort())
    tab = second_tab(desk)
    tab.get_by_role("button", name="Return").click()
    expect(tab.get_by_role("button", name="Accept and work")).to_be_visible()
    submit(frame)
    expect(frame.get_by_text("return", exact=False).first).to_be_visible()
    assert desk.assignment.status == AssignmentStatus.RETURNED
    assert desk.assignment.answer == ""
    desk.page.unroute(STATUS)
    # The marketplace's page notices by itself that there is nothing to work on.
    expect(desk.page.locator("iframe")).to_have_count(0)
