"""Which passwords the site accepts."""

import pytest
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError


@pytest.mark.parametrize(
    "password",
    ["chainbox2026", "Chainbox-Worker!", "flickr30k1234", "my-annotator", "1234567890", "short"],
)
def test_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password)


@pytest.mark.parametrize(
    "password", ["correct horse 77", "chainbox and a green bicycle", "ünïcödé påss", "x9" * 64]
)
def test_taken(password: str) -> None:
    validate_password(password)
