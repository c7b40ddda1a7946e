"""The accounts `make run` offers on a developer's own machine. Never made in production mode."""

import secrets
from collections.abc import Iterable
from typing import NamedTuple

from django.conf import settings
from django.contrib.auth import get_user_model
from django.contrib.auth.models import Permission
from django.core.exceptions import ImproperlyConfigured


class DemoAccount(NamedTuple):
    """A well-known name and password, safe only because the site listens on this machine alone."""

    username: str
    password: str
    staff: bool
    purpose: str
    permissions: tuple[str, ...] = ()


DEMO_ACCOUNTS = (
    DemoAccount("admin", "chainbox-admin", True, "may view and change everything"),
    DemoAccount(
        "researcher",
        "chainbox-researcher",
        False,
        "views campaigns, edits their guides, runs experiments",
        ("view_campaign", "change_campaign", "estimate_campaign", "add_experiment"),
    ),
)


def ensure_demo_accounts() -> list[DemoAccount]:
    """Create missing demo accounts; return those that still have their well-known password."""
    if settings.PRODUCTION:
        raise ImproperlyConfigured(
            "Demo accounts have public passwords, so production mode does not create them."
        )
    users = get_user_model()._default_manager
    usable = []
    for account in DEMO_ACCOUNTS:
        user, created = users.get_or_create(
            username=account.username,
            defaults={"is_staff": account.staff, "is_superuser": account.staff},
        )
        if created:
            user.set_password(account.password)
            user.save()
        # Also for accounts created before a permission was required.
        user.user_permissions.add(
            *Permission.objects.filter(
                content_type__app_label__in=["annotation", "grounding"],
                codename__in=account.permissions,
            )
        )
        if user.check_password(account.password):
            usable.append(account)
    return usable


def demo_accounts_close(accounts: Iterable[DemoAccount]) -> list[DemoAccount]:
    """Give a new password to accounts that still have the well-known one; return them.

    For a site that others can reach: everybody knows the passwords that `make run` prints.
    """
    users = get_user_model()._default_manager
    closed = []
    for account in accounts:
        user = users.filter(username=account.username).first()
        if user is not None and user.check_password(account.password):
            made = account._replace(password=secrets.token_urlsafe(12))
            user.set_password(made.password)
            user.save(update_fields=["password"])
            closed.append(made)
    return closed
