"""The task pages: their content, which sites may frame them, and that they write nothing."""

import html
import json
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from django.core import signing
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.work.guides import guide_save
from annotation.hits import wire
from annotation.hits.tokens import BadTicketError, ticket_read
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.sittings import Claim, task_url
from tests.acceptances import key_set, with_acceptance
from tests.web.campaigns import HOSTILE, image_named, small_campaign
from tests.web.work.task_pages import LINKS_EXAMPLES, LINKS_TEST, agree, claim_of

pytestmark = pytest.mark.django_db

MARKET = "https://market.example"
QUERY = {
    "assignmentId": "ASG1",
    "hitId": "HIT1",
    "workerId": "A1",
    "turkSubmitTo": f"{MARKET}/marketplace",
}


@pytest.fixture(autouse=True)
def _marketplaces(settings: Settings) -> None:
    settings.CHAINBOX_MARKETPLACE_ORIGINS = [MARKET, "http://localhost:8000"]
    key_set(settings)


def query(**changes: str) -> dict[str, str]:
    """Return the query that the marketplace appends to the address, with its proof."""
    return with_acceptance(QUERY | changes)


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second"])


def address(campaign: models.Campaign, stage: str = "links", rest: str = "") -> str:
    return f"/hits/{campaign.pk}/{stage}/{rest}"


def page_of(response: Any) -> dict[str, Any]:
    """Return the JSON in the page; it must follow the contract."""
    found = re.search(
        r'<script id="page" type="application/json">(.*?)</script>', response.content.decode(), re.S
    )
    assert found is not None
    page: dict[str, Any] = json.loads(found[1])
    msgspec.convert(page, wire.Page)
    return page


# Working


def test_the_page_of_an_assignment(client: Client, campaign: models.Campaign) -> None:
    response = client.get(address(campaign), query())
    assert response.status_code == 200
    page = page_of(response)
    assert page["mode"] == "work"
    assert page["stage"] == "links"
    assert page["submitUrl"] == f"{MARKET}/marketplace/mturk/externalSubmit"
    assert page["assignmentId"] == "ASG1"
    assert page["api"] == "/hits/api/"
    assert page["guide"]["examplesUrl"] == address(campaign, rest="examples/")
    assert page["items"] == []
    assert page["consent"]["version"] == 1
    claim = ticket_read(page["token"])
    assert claim.acceptance is not None
    assert claim == Claim(
        campaign=campaign.pk,
        stage=Stage.LINKS,
        kind=SittingKind.WORK,
        assignment_id="ASG1",
        hit_id="HIT1",
        worker="A1",
        acceptance=claim.acceptance,
    )


def test_the_browser_keeps_answers_by_worker_and_assignment(
    client: Client, campaign: models.Campaign
) -> None:
    """A shared machine must not show one worker's answers to the next."""

    def key(**changes: str) -> str:
        found: str = page_of(client.get(address(campaign), query(**changes)))["sittingKey"]
        return found

    assert len(key()) == 32
    assert key() == key()
    assert len({key(), key(workerId="A2"), key(assignmentId="ASG2")}) == 3
    assert "A1" not in key()


def test_opening_a_page_writes_nothing_and_needs_few_statements(
    client: Client, campaign: models.Campaign
) -> None:
    with CaptureQueriesContext(connection) as queries:
        client.get(address(campaign), query())
    assert all(one["sql"].startswith("SELECT") for one in queries)
    assert len(queries) <= 6
    assert not models.Worker.objects.exists()


def test_who_has_agreed_is_not_asked_again_until_the_text_changes(
    client: Client, campaign: models.Campaign
) -> None:
    agree(claim_of(campaign))
    assert page_of(client.get(address(campaign), query()))["consent"] is None
    text = 'title = "<New>"\nparagraphs = ["**Read** this."]\n'
    guide_save(campaign=campaign, topic="consent", source=text)
    assert page_of(client.get(address(campaign), query()))["consent"] == {
        "version": 2,
        "title": "<New>",
        "paragraphs": ["**Read** this."],
    }


@pytest.mark.parametrize(
    ("submit_to", "submit_url"),
    [
        (f"{MARKET}/", f"{MARKET}/mturk/externalSubmit"),
        (
            f"{MARKET}/marketplace/by/0f3a/",
            f"{MARKET}/marketplace/by/0f3a/mturk/externalSubmit",
        ),
        ("https://market.example:443", "https://market.example:443/mturk/externalSubmit"),
        (
            "http://localhost:8000/marketplace",
            "http://localhost:8000/marketplace/mturk/externalSubmit",
        ),
    ],
)
def test_where_the_form_goes(
    client: Client, campaign: models.Campaign, submit_to: str, submit_url: str
) -> None:
    page = page_of(client.get(address(campaign), query(turkSubmitTo=submit_to)))
    assert page["submitUrl"] == submit_url


@pytest.mark.parametrize(
    "change",
    [
        {"turkSubmitTo": "https://evil.example"},
        {"turkSubmitTo": "https://market.example.evil.example"},
        {"turkSubmitTo": "http://market.example"},
        {"turkSubmitTo": "https://market.example:444"},
        {"turkSubmitTo": "https://market.example@evil.example"},
        {"turkSubmitTo": "https://evil.example\\@market.example"},
        {"turkSubmitTo": "javascript:alert(1)//https://market.example"},
        {"turkSubmitTo": "https://market.example/?x=1"},
        {"turkSubmitTo": "https://market.example/#x"},
        {"turkSubmitTo": "https://market.example/a/../b"},
        {"turkSubmitTo": "https://market.example:99999"},
        {"turkSubmitTo": "https://market.example/" + "a" * 400},
        {"turkSubmitTo": "https://[::1"},
        {"turkSubmitTo": "//market.example"},
        {"turkSubmitTo": ""},
        {"workerId": ""},
        {"workerId": "A" * 65},
        {"workerId": "A 1"},
        {"workerId": "<script>"},
        {"workerId": "simulated-1"},
        {"workerId": "erased-1"},
        {"assignmentId": "A" * 65},
        {"assignmentId": "ü"},
        {"hitId": "H" * 65},
        {"hitId": "'"},
    ],
)
def test_an_address_that_no_marketplace_made(
    client: Client, campaign: models.Campaign, change: dict[str, str]
) -> None:
    response = client.get(address(campaign), query(**change))
    assert response.status_code == 400
    page = page_of(response)
    assert page["mode"] == "problem"
    assert "return the HIT" in page["problem"]["text"]
    assert (page["token"], page["submitUrl"], page["assignmentId"]) == ("", "", "")
    assert "evil" not in response.content.decode()


def test_names_are_taken_in_their_exact_case(client: Client, campaign: models.Campaign) -> None:
    wrong = {name.lower(): value for name, value in query().items()}
    assert page_of(client.get(address(campaign), wrong))["mode"] == "preview"


# Looking


@pytest.mark.parametrize(
    "asked", [{}, {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H"}]
)
def test_a_preview_shows_one_example_and_no_answer(
    client: Client, campaign: models.Campaign, asked: dict[str, str]
) -> None:
    guide_save(campaign=campaign, topic="links", source=LINKS_EXAMPLES)
    page = page_of(client.get(address(campaign), asked))
    assert (page["mode"], page["token"], page["submitUrl"]) == ("preview", "", "")
    assert page["consent"] is None
    (item,) = page["items"]
    assert item["phrase"] == "A man"
    assert (item["feedback"], item["answer"]) == (None, None)
    photo = client.get(item["photo"]["url"])
    assert photo.status_code == 200
    b"".join(photo.streaming_content)  # type: ignore[attr-defined]  # a FileResponse


def test_a_preview_without_examples_is_still_a_page(
    client: Client, campaign: models.Campaign
) -> None:
    assert page_of(client.get(address(campaign, "drawing")))["items"] == []


def test_examples_say_what_is_right_and_why(client: Client, campaign: models.Campaign) -> None:
    guide_save(campaign=campaign, topic="links", source=LINKS_EXAMPLES)
    page = page_of(client.get(address(campaign, rest="examples/")))
    assert page["mode"] == "examples"
    assert [item["number"] for item in page["items"]] == [1, 2]
    assert page["items"][0]["feedback"] == {
        "right": None,
        "expected": "yes",
        "expectedRects": [],
        "why": "There is one man.",
    }
    assert [caption["marks"] for caption in page["items"][1]["captions"]] == [
        [{"mention": 0, "start": 3, "end": 5, "colour": 1}],
        [{"mention": 0, "start": 0, "end": 2, "colour": 2}],
    ]


def test_an_example_whose_photo_was_withdrawn_is_left_out(
    client: Client, campaign: models.Campaign
) -> None:
    guide_save(campaign=campaign, topic="links", source=LINKS_EXAMPLES)
    image_withdraw(image=image_named(campaign, "first"), reason="rights")
    for rest in ("", "examples/"):
        page = page_of(client.get(address(campaign, rest=rest)))
        assert [item["phrase"] for item in page["items"]] == ["a horse"]


# Tests


def test_the_page_of_a_test(client: Client, campaign: models.Campaign) -> None:
    response = client.get(address(campaign, rest="test/"), query())
    assert response.status_code == 404
    assert "no qualification test" in page_of(response)["problem"]["text"]
    guide_save(campaign=campaign, topic="links", source=LINKS_TEST)
    page = page_of(client.get(address(campaign, rest="test/"), query()))
    assert page["mode"] == "test"
    assert ticket_read(page["token"]).kind == SittingKind.TEST
    assert page_of(client.get(address(campaign, rest="test/")))["mode"] == "preview"


# All pages


@pytest.mark.parametrize("rest", ["", "test/", "examples/"])
@pytest.mark.parametrize("known", [True, False])
def test_pages_go_into_the_marketplaces_frames_and_no_others(
    client: Client, campaign: models.Campaign, rest: str, known: bool
) -> None:
    guide_save(campaign=campaign, topic="links", source=LINKS_TEST)
    response = client.get(address(campaign, "links" if known else "cooking", rest), query())
    policy = dict(
        part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; ")
    )
    assert policy["frame-ancestors"] == f"{MARKET} http://localhost:8000"
    assert policy["form-action"] == policy["frame-ancestors"]
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert "unsafe" not in response.headers["Content-Security-Policy"]
    assert "X-Frame-Options" not in response.headers
    assert response.headers["Cache-Control"] == "no-store"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert not response.cookies
    assert "Cookie" not in response.headers.get("Vary", "")
    assert "Access-Control-Allow-Origin" not in response.headers


def test_without_a_marketplace_nobody_frames_them(
    client: Client, campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_MARKETPLACE_ORIGINS = []
    policy = client.get(address(campaign)).headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "form-action 'none'" in policy


def test_all_other_pages_forbid_frames(client: Client) -> None:
    for path in ("/accounts/login/", "/hits/", "/healthz"):
        response = client.get(path)
        assert response.headers["X-Frame-Options"] == "DENY"
        assert "frame-ancestors 'none'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    ["/hits/999/links/", "/hits/{}/cooking/", "/hits/{}/LINKS/test/"],
)
def test_what_is_not_there_is_said_in_words(
    client: Client, campaign: models.Campaign, path: str
) -> None:
    response = client.get(path.format(campaign.pk), query())
    assert response.status_code == 404
    assert b"There is no such task" in response.content


def test_pages_are_only_looked_at(client: Client, campaign: models.Campaign) -> None:
    assert client.post(address(campaign), query()).status_code == 405
    assert client.head(address(campaign), query()).status_code == 200


def test_hostile_words_stay_words(client: Client, campaign: models.Campaign) -> None:
    guide_save(
        campaign=campaign,
        topic="links",
        source='title = "</script><script>alert(1)</script>"\n' + LINKS_EXAMPLES,
    )
    response = client.get(address(campaign, rest="examples/"))
    text = response.content.decode()
    assert "alert(1)</script>" not in text
    assert HOSTILE in json.dumps(page_of(response)["items"])
    assert page_of(response)["guide"]["title"] == "</script><script>alert(1)</script>"
    assert html.escape("</script><script>") in text, "the title, as text"


def test_a_session_is_not_looked_at(client: Client, campaign: models.Campaign) -> None:
    client.cookies["sessionid"] = "x" * 32
    with CaptureQueriesContext(connection) as queries:
        client.get(address(campaign), query())
    assert not any("session" in one["sql"] for one in queries)


def test_the_address_for_a_hit(campaign: models.Campaign, settings: Settings) -> None:
    settings.CHAINBOX_TASK_URL = "https://tasks.example"
    assert task_url(campaign.pk, Stage.LINKS) == f"https://tasks.example/hits/{campaign.pk}/links/"
    assert task_url(campaign.pk, Stage.DRAWING, SittingKind.TEST).endswith("/drawing/test/")


def test_other_things_signed_here_are_no_tickets() -> None:
    for token in (
        "",
        "a",
        signing.dumps({"a": 1}),
        signing.dumps([1], salt="chainbox.hits.ticket"),
    ):
        with pytest.raises(BadTicketError):
            ticket_read(token)
