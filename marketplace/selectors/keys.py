"""How the API looks up access keys."""

from common.rows import only_row
from marketplace.models import AccessKey, Requester

# The most keys that sign at a time. A requester who changes keys has two; an address has no room
# for many.
MOST_KEYS = 10


def valid_key(key_id: str) -> AccessKey | None:
    """Return a key with its requester. None: unknown, revoked, or the requester is not active."""
    if not (key_id.isascii() and key_id.isalnum()):
        return None  # not one of our keys, and perhaps not a text that a database accepts
    return only_row(
        AccessKey.objects.select_related("requester").filter(
            key_id=key_id, revoked_at=None, requester__is_active=True
        )
    )


def secrets_of(requester: Requester) -> dict[str, str]:
    """Return the secrets of a requester's valid keys by their ids, the newest first."""
    keys = AccessKey.objects.filter(requester=requester, revoked_at=None).order_by("-pk")
    return {key.key_id: key.secret for key in keys[:MOST_KEYS]}
