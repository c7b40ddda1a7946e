"""Photos have addresses that are signed and expire."""

from itertools import pairwise
from pathlib import Path
from unittest import mock

import pytest
from django.core.files.storage import default_storage
from django.core.signing import TimestampSigner
from django.test import Client
from pytest_django import Settings

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.selectors.corpus.photos import photo_url
from common.clock import CLOCK_TOLERANCE_SECONDS
from common.opaque_numbers import number_hide, number_reveal
from tests.web.campaigns import image_named, small_campaign

pytestmark = pytest.mark.django_db

# The beginning of a window, so that an address lives its whole time.
START = 1_800_000_000 // 3600 * 3600


@pytest.fixture
def image(tmp_path: Path) -> models.Image:
    return image_named(small_campaign(tmp_path, ["a"]), "a")


def at(seconds: float) -> "mock._patch[mock.Mock]":
    return mock.patch("time.time", mock.Mock(return_value=START + seconds))


def status(client: Client, url: str) -> int:
    response = client.get(url)
    if response.streaming:
        # A photo that nobody reads leaves its file open. Closing the response itself would have
        # Django close the connection as well, in the middle of the test's transaction.
        b"".join(response.streaming_content)  # type: ignore[attr-defined]  # a FileResponse
    return response.status_code


def test_anybody_with_the_address_gets_the_photo(client: Client, image: models.Image) -> None:
    with at(600):
        response = client.get(photo_url(image))
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "image/png"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Cache-Control"] == "private, max-age=6600, immutable"
    assert "Set-Cookie" not in response.headers
    content = b"".join(response.streaming_content)  # type: ignore[attr-defined]  # a FileResponse
    with default_storage.open(image.file) as stored:
        assert content == stored.read()


def test_the_address_stays_the_same_for_a_while(image: models.Image) -> None:
    with at(0):
        first = photo_url(image)
    with at(3599):
        assert photo_url(image) == first
    with at(3600):
        assert photo_url(image) != first


def test_an_address_expires(client: Client, image: models.Image) -> None:
    with at(100):
        url = photo_url(image)
    with at(7200):
        assert status(client, url) == 200
    with at(7201 + CLOCK_TOLERANCE_SECONDS):
        response = client.get(url)
    assert response.status_code == 410
    assert "expired" in response.content.decode()
    assert response.headers["Cache-Control"] == "no-store"


def test_how_long_is_a_setting(client: Client, image: models.Image, settings: Settings) -> None:
    settings.CHAINBOX_PHOTO_URL_SECONDS = 60
    with at(0):
        url = photo_url(image)
        assert status(client, url) == 200
    with at(61 + CLOCK_TOLERANCE_SECONDS):
        assert status(client, url) == 410


def test_forged_addresses(client: Client, image: models.Image) -> None:
    token = photo_url(image).removeprefix("/photos/")
    name, moment, signature = token.split(":")
    elsewhere = TimestampSigner(salt="another purpose").sign(name)
    next_one = number_hide(image.pk + 1)
    forged = [
        *(name, f"{name}:{moment}", f"{name}:{moment}:", f"{token}x", token[:-1] + "-"),
        *(f"{next_one}:{moment}:{signature}", elsewhere, "..", "..%2F..%2Fetc%2Fpasswd"),
        *("images%2Fphoto.png", "é", "a" * 5000),
    ]
    for wrong in forged:
        if wrong != token:
            assert status(client, f"/photos/{wrong}") == 404, wrong


def test_a_name_signed_for_no_image(client: Client, image: models.Image) -> None:
    signer = TimestampSigner(salt="chainbox.photo")
    for name in (number_hide(image.pk + 1), number_hide(2**64 - 1), str(image.pk), "no name", ""):
        assert status(client, f"/photos/{signer.sign(name)}") == 404, name


def test_the_address_does_not_tell_which_image_it_is(settings: Settings) -> None:
    numbers = [*range(200), 2**31, 2**63 - 1, 2**64 - 1]
    names = [number_hide(number) for number in numbers]
    assert [number_reveal(name) for name in names] == numbers
    assert {len(name) for name in names} == {16}
    # Of two numbers in a row, half of the names' bits differ, as by lot: 32 of 64, give or take
    # four standard deviations of a mean over 199.
    steps = [int(a, 16) ^ int(b, 16) for a, b in pairwise(names[:200])]
    assert abs(sum(step.bit_count() for step in steps) / len(steps) - 32) < 4 * 4 / 199**0.5
    assert len(set(steps)) == len(steps)
    settings.SECRET_KEY = "another key"
    assert not set(names) & {number_hide(number) for number in numbers}


def test_the_number_is_not_in_the_address(image: models.Image) -> None:
    image.pk = 7_654_321
    token = photo_url(image).removeprefix("/photos/")
    assert token.split(":")[0] == number_hide(image.pk)
    assert "7654321" not in token
    assert f"{image.pk:x}" not in token


def test_stored_files_have_no_other_address(client: Client, image: models.Image) -> None:
    assert status(client, f"/media/{image.file}") == 404
    assert status(client, f"/photos/{image.file}") == 404
    assert status(client, f"/static/{image.file}") == 404


@pytest.mark.django_db(transaction=True)
def test_a_withdrawn_photo_is_gone(client: Client, image: models.Image) -> None:
    url = photo_url(image)
    assert status(client, url) == 200
    image_withdraw(image=image, reason="rights")
    assert status(client, url) == 404
    image.refresh_from_db()
    assert photo_url(image) == ""


def test_a_photo_that_the_storage_lost(client: Client, image: models.Image) -> None:
    url = photo_url(image)
    default_storage.delete(image.file)
    assert status(client, url) == 404


def test_an_image_without_a_photo_has_no_address(image: models.Image) -> None:
    image.file = ""
    assert photo_url(image) == ""
