"""Sign-ins and failures are logged, without the typed text."""

import logging

import pytest
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse 77"
LOGGER = "common.accounts.log"


def test_what_happens_is_logged(client: Client, caplog: pytest.LogCaptureFixture) -> None:
    user = User.objects.create_user("ada", password=PASSWORD)
    with caplog.at_level(logging.INFO, LOGGER):
        client.post("/accounts/login/", {"username": "ada", "password": PASSWORD})
        client.post("/accounts/logout/")
    lines = [one.getMessage() for one in caplog.records if one.name == LOGGER]
    assert lines == [
        f"account {user.pk} signed in from 127.0.0.1",
        f"account {user.pk} signed out",
    ]


@pytest.mark.parametrize("path", ["/accounts/login/", "/marketplace/login/"])
def test_a_failure_is_logged_without_what_was_typed(
    path: str, client: Client, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO, LOGGER):
        client.post(path, {"username": "my secret passphrase", "password": "another secret"})
    (line,) = [one.getMessage() for one in caplog.records if one.name == LOGGER]
    assert "a sign-in failed from 127.0.0.1" in line
    assert "secret" not in line
