"""No address, query, form or cookie causes a server error: every route is tried."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import resolve
from django.urls.exceptions import Resolver404

from common.web.converters import LARGEST
from marketplace.actions.workers import worker_sign_up
from tests.web.campaigns import small_campaign
from tests.web.routes import filled, parts, templates

ORDINARY = {"id": "1", "int": "1", "str": "1", "slug": "a", "path": "a", "uuid": "a"}
NUMBERS = ("99999999999999999999", str(LARGEST), str(LARGEST + 1), "0", "1" * 4_400)
TEXTS = ("%00", "a%00b", "%FF", "%ED%A0%80", "%0D%0A", "%F0%9F%9A%80", "..%2F..", "x" * 3_000)
QUERIES = ("%00", "99999999999999999999", "-1", "%FF", "%ED%A0%80", "x" * 2_000)
# What our pages and the administration's read from the query.
NAMES = ("page", "p", "q", "o", "e", "status", "stage", "text", "next", "estimate", "id__exact")

WITHOUT_COOKIES = (
    *("/externalSubmit", "/crowd/notifications", "/hits/api/open", "/hits/api/draft"),
    *("/hits/api/finish", "/hits/api/consent", "/marketplace/api"),
)


def hostile(ordinary: dict[str, str]) -> list[str]:
    """Return every route with every hostile value at each place."""
    found = []
    for template in templates():
        for place, converter in enumerate(parts(template)):
            values = {"id": NUMBERS, "str": TEXTS}.get(converter, NUMBERS + TEXTS)
            found += [filled(template, ordinary, place, value) for value in values]
        query = "&".join(f"{name}={{0}}" for name in NAMES)
        found += [f"{filled(template, ordinary)}?{query.format(value)}" for value in QUERIES]
    return found


def client_of(kind: str) -> Client:
    """Return a client of one kind of account that gets error pages instead of exceptions."""
    client = Client(raise_request_exception=False)
    if kind == "superuser":
        client.force_login(User.objects.create_superuser("chief"))
    elif kind == "worker":
        worker = worker_sign_up(
            username="w", password="a-long-word-9", country="GB", is_adult=True, open_to_all=True
        )
        assert worker.user is not None
        client.force_login(worker.user)
    return client


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["nobody", "worker", "superuser"])
def test_no_address_is_an_error_of_ours(kind: str, tmp_path: Path) -> None:
    # With something at the ordinary places: else what is behind them is never reached.
    campaign = small_campaign(tmp_path, ["1"])
    client = client_of(kind)
    addresses = hostile(ORDINARY | {"id": str(campaign.pk)})
    assert len(addresses) > 800
    broken = [one for one in addresses if client.get(one).status_code >= 500]
    # Signing out would make nobody of the rest.
    posted = [one for one in addresses if "logout" not in one]
    broken += [one for one in posted if client.post(one).status_code >= 500]
    assert broken == []


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["nobody", "worker", "superuser"])
def test_no_form_with_a_nul_gets_in(kind: str) -> None:
    client = client_of(kind)
    for template in templates():
        path = filled(template, ORDINARY)
        for form in ({"name": "a\0b"}, {"a\0b": "name"}):
            urlencoded = client.post(
                path,
                "&".join(f"{key}={value}".replace("\0", "%00") for key, value in form.items()),
                content_type="application/x-www-form-urlencoded",
            )
            # What frames and programs send is cleaned, or refused, where it is read.
            fine = range(200, 500) if path.endswith(WITHOUT_COOKIES) else {400}
            assert urlencoded.status_code in fine, path
            # A name with a NUL cannot be written in a multipart form.
            if "name" in form:
                assert client.post(path, form).status_code in fine, path


@pytest.mark.django_db
@pytest.mark.parametrize("place", ["path", "query", "name", "cookie"])
def test_a_nul_is_refused_wherever_it_stands(client: Client, place: str) -> None:
    if place == "cookie":
        # Browsers' cookies may be quoted, and then hold any character by its number.
        client.cookies.load('sessionid="\\000"')
    path = {"path": "/marketplace/groups/%00/", "query": "/?q=%00", "name": "/?%00=q"}
    assert client.get(path.get(place, "/")).status_code == 400


@pytest.mark.django_db
def test_a_form_longer_than_any_of_ours_is_refused(client: Client) -> None:
    long = client.post("/accounts/login/", {"username": "a" * 3_000_000})
    assert long.status_code == 400


def test_numbers_that_no_row_can_have_lead_nowhere() -> None:
    assert resolve(f"/campaigns/{LARGEST}/").kwargs == {"campaign_id": LARGEST}
    for number in (LARGEST + 1, "9" * 20, "1" * 4_400):
        with pytest.raises(Resolver404):
            resolve(f"/campaigns/{number}/")


def test_every_number_in_an_address_is_bounded() -> None:
    for template in templates():
        assert "<int:" not in template, f"{template}: write <id:…>"
