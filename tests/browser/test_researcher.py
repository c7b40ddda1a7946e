"""Researchers' pages in a real browser: dashboard, crowd, experiments, administration."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from playwright.sync_api import Browser, BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.pipeline.protocol.cycles import NO_BOX_LEFT
from annotation.pipeline.protocol.facts import BoxDelete, decode_body
from annotation.pipeline.protocol.state import Phase, accepted_boxes
from grounding.models import Experiment, ExperimentStatus
from tests.web.campaigns import answer, image_named, small_campaign
from tests.web.crowd.crowd_rows import appeal, assignment, failed_call, trusted

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PASSWORD = "correct horse battery"
DESKTOP, PHONE = (1280, 800), (360, 740)
RECALLS = {"r1": 41.25, "r5": 70.0, "r10": 81.2, "median_rank": 2.0}
# How bright what lies behind the words is, 0 to 255.
BRIGHTNESS = """() => {
  const [r, g, b] = getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number);
  return (r + g + b) / 3;
}"""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture
def image(tmp_path: Path) -> models.Image:
    """An image that is done, of a campaign with workers, payments, an appeal and a failed call."""
    campaign = small_campaign(tmp_path, ["first", "second"])
    found = image_named(campaign, "first")
    answer(found)
    standing = trusted(campaign, "A1")
    assignment(campaign, standing.worker)
    assignment(campaign, standing.worker, paid=False)
    lost = trusted(campaign, "A2", right=20)
    assert lost.trust == "revoked"
    appeal(lost, "I looked at every photo.")
    failed_call(campaign, "message/1", "they cannot be written to")
    return found


@pytest.fixture
def experiment() -> Experiment:
    found = dict.fromkeys(("image_to_sentence", "sentence_to_image"), RECALLS)
    return Experiment.objects.create(
        recipe="image_sentence",
        release="first",
        vectors="captions",
        status=ExperimentStatus.DONE,
        metrics={"val": found, "test": None},
    )


@pytest.fixture
def chief() -> User:
    return User.objects.create_superuser("chief", password=PASSWORD)


@pytest.fixture(params=[("light", DESKTOP), ("dark", PHONE)], ids=["desktop", "phone-dark"])
def context(request: pytest.FixtureRequest, browser: Browser) -> Iterator[BrowserContext]:
    scheme, (width, height) = request.param
    made = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": height}, reduced_motion="reduce"
    )
    made.set_default_timeout(20_000)
    yield made
    made.close()


def sign_in(page: Page, live_server: LiveServer, to: str) -> None:
    """Go somewhere, and sign in on the way; by keyboard alone."""
    page.goto(f"{live_server.url}{to}")
    page.get_by_label("Username").focus()
    page.keyboard.type("chief")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(f"{live_server.url}{to}")


def pages_of(image: models.Image, experiment: Experiment) -> list[str]:
    campaign, worker = image.campaign_id, models.Worker.objects.get(name="A2")
    chain = models.Chain.objects.filter(image=image).order_by("pk")[0]
    dashboard = ["campaign", "guides", "crowd", "crowd-workers", "crowd-calls"]
    return [
        reverse("campaigns"),
        *(reverse(name, args=[campaign]) for name in dashboard),
        reverse("image", args=[campaign, image.name]),
        reverse("guide", args=[campaign, "links"]),
        reverse("crowd-worker", args=[campaign, worker.pk]),
        reverse("experiments"),
        reverse("experiment", args=[experiment.pk]),
        reverse("admin:index"),
        reverse("admin:annotation_chain_changelist"),
        reverse("admin:annotation_chain_change", args=[chain.pk]),
        reverse("admin:annotation_chain_decide", args=[chain.pk]),
        reverse("admin:annotation_worker_change", args=[worker.pk]),
    ]


def test_every_page_is_whole_on_a_desk_and_on_a_phone_in_the_dark(
    live_server: LiveServer,
    context: BrowserContext,
    image: models.Image,
    experiment: Experiment,
    chief: User,
) -> None:
    page = context.new_page()
    complaints: list[str] = []
    # What the policy forbids, and what a script trips over, is told to the console.
    page.on("console", lambda told: complaints.append(told.text) if told.type == "error" else None)
    page.on("pageerror", lambda error: complaints.append(str(error)))
    sign_in(page, live_server, reverse("campaigns"))
    is_dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    for path in pages_of(image, experiment):
        reply = page.goto(f"{live_server.url}{path}")
        assert reply is not None
        assert reply.status == 200, path
        expect(page.get_by_role("heading").first).to_be_visible()
        assert page.evaluate(TOO_WIDE) <= 0, f"{path} is wider than the window"
        assert (page.evaluate(BRIGHTNESS) < 80) == is_dark, path
        broken = "[...document.images].filter(i => i.complete && !i.naturalWidth).length"
        assert page.evaluate(broken) == 0, f"a photo of {path} is not there"
        assert complaints == [], path


def test_a_reviewer_takes_a_box_away_by_keyboard(
    live_server: LiveServer, context: BrowserContext, image: models.Image, chief: User
) -> None:
    page = context.new_page()
    chain = models.Chain.objects.filter(image=image).order_by("pk")[0]
    image.stored_state.refresh_from_db()
    (box,) = accepted_boxes(image.stored_state.state, chain.number)
    sign_in(page, live_server, reverse("admin:annotation_chain_decide", args=[chain.pk]))
    form = page.locator("form.decision").filter(has=page.locator("[value=box_delete]"))
    form.get_by_role("button").focus()
    with page.expect_navigation():
        page.keyboard.press("Enter")
    fact = models.Fact.objects.filter(image=image, worker=None).get()
    assert decode_body(fact.body) == BoxDelete(reviewer=chief.pk, box=box.number)
    chain.refresh_from_db()
    assert chain.phase == Phase.REVIEW.value
    expect(page.get_by_text(NO_BOX_LEFT).first).to_be_visible()
