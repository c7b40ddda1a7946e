"""This site's own marketplace, for `make run`: its requester "chainbox" and a demo worker.

Only the code that starts the site uses both sides. Annotation never imports this: it reaches the
marketplace over HTTP, with the settings made here.
"""

import ipaddress
from collections.abc import Mapping

from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ImproperlyConfigured

from config.demo.accounts import DemoAccount
from marketplace.actions.ledger import funds_add
from marketplace.actions.requesters import (
    access_key_issue,
    requester_create,
    requester_let_invite,
)
from marketplace.actions.workers import worker_sign_up
from marketplace.models import Requester

REQUESTER = "chainbox"
# Given once, and in development only: nobody is ever paid from it.
PLAY_MONEY_CENTS = 1_000_000
DEMO_WORKER = DemoAccount("worker", "chainbox-worker", False, "works on the marketplace")
# If one of these is set, the operator means another marketplace, and we fill in none of the others.
OWN = ("CHAINBOX_CROWD_ENDPOINT", "CHAINBOX_CROWD_KEY_ID", "CHAINBOX_CROWD_SECRET")


def crowd_environment(host: str, port: int, given: Mapping[str, str]) -> dict[str, str]:
    """Return the missing crowd settings, filled in for this site's own marketplace.

    Creates the requester if it does not exist. Returns nothing if another marketplace is set.
    """
    if any(given.get(name) for name in OWN):
        return {}
    requester = requester_ensure()
    key = requester.keys.filter(revoked_at=None).order_by("-pk").first()
    key = key or access_key_issue(requester=requester)
    address = local_address(host, port)
    values = {
        "CHAINBOX_CROWD_ENDPOINT": f"{address}/marketplace/api",
        "CHAINBOX_CROWD_KEY_ID": key.key_id,
        "CHAINBOX_CROWD_SECRET": key.secret,
        "CHAINBOX_CROWD_REGION": "us-east-1",
        "CHAINBOX_CROWD_WEBHOOK_SECRET": requester.webhook_secret,
    }
    if is_local(host):
        # The marketplace sends over plain HTTP only to its own machine; elsewhere, annotation polls
        # it.
        values["CHAINBOX_CROWD_WEBHOOK"] = f"{address}/crowd/notifications"
    return {name: value for name, value in values.items() if not given.get(name)}


def requester_ensure() -> Requester:
    """Return annotation's requester on this site's marketplace."""
    requester = Requester.objects.filter(name=REQUESTER).first()
    if requester is None:
        requester = requester_create(name=REQUESTER)
        requester_let_invite(requester=requester, may_invite=True)
    if not settings.PRODUCTION:
        funds_add(
            requester=requester, cents=PLAY_MONEY_CENTS, key="embedded/play", memo="play money"
        )
    return requester


def demo_worker_ensure() -> DemoAccount | None:
    """Create a worker for newcomers to try the tasks; None if somebody else has the name.

    Also None if the password was changed. Only for a site that nobody else can reach.
    """
    if settings.PRODUCTION:
        raise ImproperlyConfigured(
            "Demo accounts have public passwords, so production mode does not create them."
        )
    user = User.objects.filter(username=DEMO_WORKER.username).first()
    if user is None:
        worker_sign_up(
            username=DEMO_WORKER.username,
            password=DEMO_WORKER.password,
            country="GB",
            is_adult=True,
            open_to_all=True,
        )
        return DEMO_WORKER
    known = user.check_password(DEMO_WORKER.password) and hasattr(user, "worker")
    return DEMO_WORKER if known else None


def local_address(host: str, port: int) -> str:
    """Return the address at which the site's own processes reach it.

    >>> local_address("0.0.0.0", 8000), local_address("::", 8000), local_address("::1", 80)
    ('http://127.0.0.1:8000', 'http://[::1]:8000', 'http://[::1]:80')
    """
    name = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://{f'[{name}]' if ':' in name else name}:{port}"


def is_local(host: str) -> bool:
    """Tell whether localhost reaches a site that listens there.

    >>> is_local("127.0.0.1"), is_local("0.0.0.0"), is_local("192.0.2.7"), is_local("localhost")
    (True, True, False, True)
    """
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost"
    return str(address) in {"127.0.0.1", "::1"} or address.is_unspecified
