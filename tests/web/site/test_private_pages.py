"""Private pages are not cached, neither by the browser nor by a proxy."""

from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client

from tests.web.campaigns import small_campaign
from tests.web.routes import requestable

# Addresses that say of themselves what may be kept, and were made for one reader.
OWN = {"photo"}


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["nobody", "superuser"])
def test_no_page_may_be_kept(client: Client, kind: str, tmp_path: Path) -> None:
    small_campaign(tmp_path, ["1"])
    if kind == "superuser":
        client.force_login(User.objects.create_superuser("chief"))
    for route in requestable():
        if route.name not in OWN:
            response = client.get(route.path)
            assert "no-store" in response.headers.get("Cache-Control", ""), route


@pytest.mark.django_db
def test_error_pages_may_not_be_kept_either(client: Client) -> None:
    for path in ("/campaigns/1/", "/nowhere/", "/?q=%00"):
        assert "no-store" in client.get(path).headers["Cache-Control"]


@pytest.mark.django_db
def test_static_files_may_be_kept(client: Client) -> None:
    response = client.get("/static/dashboard/site.css")
    assert response.status_code == 200
    assert "no-store" not in response.headers["Cache-Control"]
    response.close()
