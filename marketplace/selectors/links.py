"""Addresses of the worker site, for use outside it."""

from urllib.parse import urlencode, urljoin

from django.conf import settings
from django.urls import reverse


def sign_up_link(code: str = "") -> str:
    """Return the address where people sign up as workers, with an invitation's code or without."""
    link = urljoin(settings.MARKETPLACE_URL, reverse("marketplace:sign-up"))
    return f"{link}?{urlencode({'code': code})}" if code else link
