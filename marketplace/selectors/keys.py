"""Access keys as the API looks them up."""

from marketplace.models import AccessKey


def valid_key(key_id: str) -> AccessKey | None:
    """Return a key with its requester. None: unknown, revoked, or the requester is not active."""
    if not (key_id.isascii() and key_id.isalnum()):
        return None  # no key of ours, and perhaps nothing that a database would take
    return (
        AccessKey.objects.select_related("requester")
        .filter(key_id=key_id, revoked_at=None, requester__is_active=True)
        .first()
    )
