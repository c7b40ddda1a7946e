"""A log line for every sign-in, sign-out and failed attempt."""

import logging
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in, user_logged_out, user_login_failed
from django.dispatch import receiver
from django.http import HttpRequest

from common.accounts.addresses import client_address
from common.accounts.attempts import name_key

log = logging.getLogger(__name__)


@receiver(user_logged_in)
def signed_in(request: HttpRequest | None, user: User, **_: Any) -> None:
    log.info("account %s signed in from %s", user.pk, _address(request))


@receiver(user_logged_out)
def signed_out(request: HttpRequest | None, user: User | None, **_: Any) -> None:
    if user is not None:
        log.info("account %s signed out", user.pk)


@receiver(user_login_failed)
def failed(credentials: dict[str, Any], request: HttpRequest | None, **_: Any) -> None:
    # Only the hash used for counting: people type passwords into the name field.
    name = name_key(str(credentials.get("username") or ""))[:16]
    log.warning("a sign-in failed from %s, for the name with hash %s", _address(request), name)


def _address(request: HttpRequest | None) -> str:
    return client_address(request) or "an unknown address"
