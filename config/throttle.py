"""Sign-in throttling: too many failures for one account from one address, and it has to wait.

It works as an authentication backend, so every way in is covered (our login page, the admin, the
API): the backend refuses before any password is checked. Failures are counted from Django's
signals. Counting by account and address together means nobody can lock out somebody else.
"""

import hashlib
import math
import time
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_login_failed
from django.contrib.auth.views import LoginView
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse

WAIT_SECONDS = 15 * 60
FAILURES_PER_ACCOUNT = 10
# One address trying many accounts; generous, since an office may share one address.
FAILURES_PER_ADDRESS = 100


def client_address(request: HttpRequest | None) -> str:
    """Return who is asking; X-Forwarded-For counts only as far as our own proxies wrote it."""
    if request is None:
        return ""
    forwarded = [part.strip() for part in request.headers.get("X-Forwarded-For", "").split(",")]
    trusted: int = settings.TRUSTED_PROXIES
    if trusted and len(forwarded) >= trusted and forwarded[-trusted]:
        return forwarded[-trusted]
    return str(request.META.get("REMOTE_ADDR", ""))


def _counters(request: HttpRequest | None, username: str) -> list[tuple[str, int]]:
    address = client_address(request)
    account = hashlib.sha256(f"{username.casefold()}\n{address}".encode()).hexdigest()
    whole = hashlib.sha256(address.encode()).hexdigest()
    return [
        (f"sign-in:account:{account}", FAILURES_PER_ACCOUNT),
        (f"sign-in:address:{whole}", FAILURES_PER_ADDRESS),
    ]


def seconds_to_wait(request: HttpRequest | None, username: str) -> int:
    """Return for how long this account may not sign in from this address; 0 means it may."""
    waits = [0]
    for key, limit in _counters(request, username):
        if (cache.get(key) or 0) >= limit:
            until = cache.get(f"{key}:until") or 0.0
            waits.append(math.ceil(until - time.time()))
    return max(waits)


class ThrottledBackend(ModelBackend):
    """Django's accounts, but no password is looked at while the account has to wait."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        """Check the password, or raise PermissionDenied, at which Django asks no other backend."""
        if seconds_to_wait(request, username or ""):
            raise PermissionDenied("Too many failed attempts.")
        return super().authenticate(request, username=username, password=password, **kwargs)


@receiver(user_login_failed)
def count_failure(credentials: dict[str, Any], request: HttpRequest | None, **_: Any) -> None:
    """Count one failure. Attempts made while waiting do not prolong the wait."""
    username = str(credentials.get("username") or "")
    if seconds_to_wait(request, username):
        return
    for key, _limit in _counters(request, username):
        if not cache.add(key, 1, WAIT_SECONDS):
            try:
                cache.incr(key)
            except ValueError:  # ran out between the two calls
                cache.set(key, 1, WAIT_SECONDS)
        cache.set(f"{key}:until", time.time() + WAIT_SECONDS, WAIT_SECONDS)
        cache.touch(key, WAIT_SECONDS)


@receiver(user_logged_in)
def forget_failures(request: HttpRequest | None, user: User, **_: Any) -> None:
    """A right password clears the account's counter, but not the address's."""
    key, _limit = _counters(request, user.get_username())[0]
    cache.delete_many([key, f"{key}:until"])


class ThrottledLoginView(LoginView):
    """The sign-in page: says how long to wait, with the status that means it."""

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Answer 429 with Retry-After when the account has to wait."""
        wait = seconds_to_wait(self.request, str(form.data.get("username", "")))
        if not wait:
            return super().form_invalid(form)
        form.errors.clear()
        form.add_error(
            None,
            f"Too many failed attempts. Please try again in {math.ceil(wait / 60)} minutes.",
        )
        response = super().form_invalid(form)
        response.status_code = 429
        response.headers["Retry-After"] = str(wait)
        return response
