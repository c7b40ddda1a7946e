"""A page sends its form to known marketplaces only, no matter how the address is written."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from annotation import models
from tests.acceptances import key_set, with_acceptance
from tests.web.campaigns import small_campaign

pytestmark = pytest.mark.django_db

ORIGINS = [
    "https://market.example",
    "https://market.example:8443",
    "http://localhost:8000",
    "http://[::1]:8000",
    "https://xn--mrkte-gra.example",
]
SUBMIT = "/mturk/externalSubmit"
UNREADABLE = "is not valid"
UNKNOWN = "is not a marketplace we work with"
MISSING = "has no turkSubmitTo"

GOOD = [
    ("https://market.example", "https://market.example"),
    ("https://market.example/", "https://market.example"),
    ("https://market.example///", "https://market.example"),
    ("https://market.example/marketplace", "https://market.example/marketplace"),
    (
        "https://market.example/marketplace/by/0f3a~_.-/",
        "https://market.example/marketplace/by/0f3a~_.-",
    ),
    ("https://MARKET.Example/a", "https://MARKET.Example/a"),
    ("https://market.example:443/a", "https://market.example:443/a"),
    ("https://market.example:0443", "https://market.example:0443"),
    ("https://market.example:", "https://market.example:"),
    ("https://market.example:8443/a", "https://market.example:8443/a"),
    # A path, for a browser too: the host is still the marketplace's.
    ("https://market.example//evil.example", "https://market.example//evil.example"),
    ("https://market.example/https-evil.example", "https://market.example/https-evil.example"),
    ("http://localhost:8000/marketplace", "http://localhost:8000/marketplace"),
    ("http://[::1]:8000/marketplace", "http://[::1]:8000/marketplace"),
    ("https://xn--mrkte-gra.example", "https://xn--mrkte-gra.example"),
    ("https://market.example/" + "a" * 270, "https://market.example/" + "a" * 270),
]
BAD = [
    # Other hosts
    ("https://evil.example", UNKNOWN),
    ("https://market.example.evil.example", UNKNOWN),
    ("https://evilmarket.example", UNKNOWN),
    ("https://market.example-evil.example", UNKNOWN),
    ("https://sub.market.example", UNKNOWN),
    ("https://example", UNKNOWN),
    ("https://market.example.", UNKNOWN),
    ("https://127.0.0.1", UNKNOWN),
    ("https://2130706433", UNKNOWN),
    ("https://[::ffff:127.0.0.1]:8000", UNKNOWN),
    ("http://[::1]", UNKNOWN),
    ("http://localhost", UNKNOWN),
    ("http://localhost.evil.example:8000", UNKNOWN),
    # Other ports and schemes
    ("http://market.example", UNKNOWN),
    ("https://market.example:444", UNKNOWN),
    ("https://market.example:80", UNKNOWN),
    ("https://localhost:8000", UNKNOWN),
    ("https://market.example:99999", UNREADABLE),
    ("https://market.example:443:443", UNREADABLE),
    ("https://market.example:-1", UNREADABLE),
    ("https://market.example:https", UNREADABLE),
    ("https://market.example:８４４３", UNREADABLE),
    ("HTTPS://market.example", UNREADABLE),
    ("ftp://market.example", UNREADABLE),
    ("javascript:alert(1)//https://market.example", UNREADABLE),
    ("javascript://market.example/%0aalert(1)", UNREADABLE),
    ("data:text/html,https://market.example", UNREADABLE),
    ("blob:https://market.example", UNREADABLE),
    ("view-source:https://market.example", UNREADABLE),
    # User names, which hide the host
    ("https://market.example@evil.example", UNREADABLE),
    ("https://market.example:443@evil.example", UNREADABLE),
    ("https://evil.example@market.example", UNREADABLE),
    ("https://:@market.example", UNREADABLE),
    ("https://market.example%40evil.example", UNREADABLE),
    # Slashes that browsers turn round or add up
    ("//market.example", UNREADABLE),
    ("https:market.example", UNREADABLE),
    ("https:/market.example", UNREADABLE),
    ("https:///market.example", UNREADABLE),
    ("https:\\\\market.example", UNREADABLE),
    ("https://evil.example\\@market.example", UNREADABLE),
    ("https://market.example\\.evil.example", UNREADABLE),
    ("https://market.example/\\evil.example", UNREADABLE),
    ("/marketplace", UNREADABLE),
    ("///", UNREADABLE),
    # Paths that lead elsewhere, queries, fragments
    ("https://market.example/a/../b", UNREADABLE),
    ("https://market.example/..", UNREADABLE),
    ("https://market.example/%2e%2e/b", UNREADABLE),
    ("https://market.example/a%2fb", UNREADABLE),
    ("https://market.example/?next=https://evil.example", UNREADABLE),
    ("https://market.example?x", UNREADABLE),
    ("https://market.example/#x", UNREADABLE),
    ("https://market.example;evil.example", UNREADABLE),
    # Letters that look like others, or become others
    ("https://mаrket.example", UNREADABLE),  # a Cyrillic a
    ("https://market．example", UNREADABLE),  # a wide full stop
    ("https://märkte.example", UNREADABLE),
    ("https://market。example", UNREADABLE),
    ("https://xn--mrket-3ve.example", UNKNOWN),
    ("https://xn--.example", UNKNOWN),
    ("https://ⓜarket.example", UNREADABLE),
    ("https://market.example\u200b", UNREADABLE),
    ("https://market.example\u202e", UNREADABLE),
    # Control characters, which browsers drop
    ("https://market.example\n", UNREADABLE),
    ("https://market.example\r\nX-Evil: 1", UNREADABLE),
    ("https://market.exa\tmple", UNREADABLE),
    ("ht\ntps://market.example", UNREADABLE),
    (" https://market.example", UNREADABLE),
    ("https://market.example ", UNREADABLE),
    ("https://market.example\x7f", UNREADABLE),
    # Brackets, length, nothing
    ("https://[::1", UNREADABLE),
    ("https://::1]:8000", UNREADABLE),
    ("https://[market.example]", UNREADABLE),
    ("https://" + "a." * 100 + "market.example", UNKNOWN),
    ("https://" + "a" * 64 + ".example", UNREADABLE),
    ("https://market.example/" + "a" * 400, UNREADABLE),
    ("https://" + "a" * 100_000, UNREADABLE),
    ("https://", UNREADABLE),
    ('https://market.example"><script>', UNREADABLE),
    ("https://market.example' onclick='x", UNREADABLE),
    ("", MISSING),
]


@pytest.fixture
def campaign(tmp_path: Path, settings: Settings) -> models.Campaign:
    settings.CHAINBOX_MARKETPLACE_ORIGINS = ORIGINS
    key_set(settings)
    return small_campaign(tmp_path, ["first"])


def test_there_are_more_than_fifty_variants() -> None:
    variants = [address for address, _ in GOOD + BAD]
    assert len(variants) == len(set(variants)) >= 50


def loaded(client: Client, campaign: models.Campaign, submit_to: Any) -> tuple[int, dict[str, Any]]:
    query: dict[str, Any] = with_acceptance(
        {"assignmentId": "ASG1", "hitId": "HIT1", "workerId": "A1"}
    ) | {"turkSubmitTo": submit_to}
    response = client.get(f"/hits/{campaign.pk}/links/", query)
    policy = dict(
        part.split(" ", 1) for part in response.headers["Content-Security-Policy"].split("; ")
    )
    assert policy["form-action"].split() == ORIGINS, "whatever the page says, the browser knows"
    text = response.content.decode()
    found = re.search(r'<script id="page" type="application/json">(.*?)</script>', text, re.S)
    assert found is not None
    return response.status_code, json.loads(found[1])


@pytest.mark.parametrize(("submit_to", "base"), GOOD)
def test_the_form_goes_to_a_marketplace_that_we_know(
    client: Client, campaign: models.Campaign, submit_to: str, base: str
) -> None:
    status, page = loaded(client, campaign, submit_to)
    assert (status, page["submitUrl"]) == (200, base + SUBMIT)


@pytest.mark.parametrize(("submit_to", "words"), BAD)
def test_the_form_goes_nowhere_else(
    client: Client, campaign: models.Campaign, submit_to: str, words: str
) -> None:
    status, page = loaded(client, campaign, submit_to)
    assert (status, page["mode"], page["submitUrl"], page["token"]) == (400, "problem", "", "")
    assert words in page["problem"]["text"]
    assert "evil" not in json.dumps(page)


def test_of_two_addresses_the_one_that_is_used_is_checked(
    client: Client, campaign: models.Campaign
) -> None:
    good, bad = "https://market.example", "https://evil.example"
    assert loaded(client, campaign, [good, bad])[0] == 400
    assert loaded(client, campaign, [bad, good])[1]["submitUrl"] == good + SUBMIT
