"""Known devices: a browser where somebody has signed in keeps a signed cookie.

The cookie signs nobody in. It only distinguishes an account's owner from strangers who try its
name, so that their failures do not lock out the owner. It is bound to the account's password: after
a password change only the device used for it is still known.
"""

from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.core import signing
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac

# In production with the prefix that makes browsers accept it only from this host, over HTTPS.
COOKIE = "__Host-known_device" if settings.SESSION_COOKIE_SECURE else "known_device"
SALT = "accounts.device"
KEPT_SECONDS = 180 * 24 * 3600
# Accounts that one browser remembers: the sixth replaces the first.
MOST_ACCOUNTS = 5

_SIGNED_IN = "_device_signed_in"


def device_is_known(request: HttpRequest | None, username: str) -> bool:
    """Tell whether somebody has signed in to this account here with its current password."""
    known = _accounts(request)
    if not known:
        return False
    user = User.objects.filter(username=username).first()
    return user is not None and constant_time_compare(known.get(str(user.pk), ""), _token(user))


def device_remember(request: HttpRequest, user: User) -> None:
    """Make the response to this request mark the device as known to the account."""
    setattr(request, _SIGNED_IN, user)


@receiver(user_logged_in)
def remember_at_sign_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    """Remember every device that somebody signs in with, on any page."""
    if request is not None:
        device_remember(request, user)


class KnownDeviceMiddleware:
    """Sets the cookie on the response to a successful sign-in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer, and set the cookie if somebody has signed in."""
        response = self.get_response(request)
        user = getattr(request, _SIGNED_IN, None)
        if isinstance(user, User):
            known = _accounts(request)
            known.pop(str(user.pk), None)
            newest = [*known.items(), (str(user.pk), _token(user))][-MOST_ACCOUNTS:]
            response.set_cookie(
                COOKIE,
                signing.dumps(dict(newest), salt=SALT),
                max_age=KEPT_SECONDS,
                secure=settings.SESSION_COOKIE_SECURE,
                httponly=True,
                samesite="Lax",
            )
        return response


def _accounts(request: HttpRequest | None) -> dict[str, str]:
    """Return the accounts that the cookie names, with a token for each."""
    value = "" if request is None else request.COOKIES.get(COOKIE, "")
    if not value:
        return {}
    try:
        found = signing.loads(value, salt=SALT, max_age=KEPT_SECONDS)
    except signing.BadSignature:
        return {}
    return found if isinstance(found, dict) else {}


def _token(user: User) -> str:
    # Derived from the password's hash, as sessions are, so that it ends with the password.
    return salted_hmac(SALT, user.get_session_auth_hash(), algorithm="sha256").hexdigest()[:32]
