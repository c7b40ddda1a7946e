"""Requesters and their access keys."""

from django.db import transaction

from common.clock import database_now
from marketplace.models import AccessKey, Requester


@transaction.atomic
def requester_create(*, name: str) -> Requester:
    """Create a requester with a first access key. ValueError: the name is not valid."""
    if not 1 <= len(name) <= 100 or not name.isprintable() or name != name.strip():
        raise ValueError("A requester's name has 1 to 100 printable characters.")
    if Requester.objects.filter(name=name).exists():
        raise ValueError(f"A requester named {name!r} already exists.")
    requester = Requester.objects.create(name=name)
    access_key_issue(requester=requester)
    return requester


@transaction.atomic
def requester_let_invite(*, requester: Requester, may_invite: bool) -> None:
    """Set whether a requester may invite workers through the API."""
    requester.may_invite = may_invite
    requester.save(update_fields=["may_invite"])


@transaction.atomic
def access_key_issue(*, requester: Requester) -> AccessKey:
    """Give a requester one more access key; the others stay valid."""
    return AccessKey.objects.create(requester=requester)


@transaction.atomic
def access_key_revoke(*, requester: Requester, key_id: str) -> bool:
    """Revoke a key for good. False: the requester has no such valid key."""
    keys = AccessKey.objects.filter(requester=requester, key_id=key_id, revoked_at=None)
    return keys.update(revoked_at=database_now()) == 1
