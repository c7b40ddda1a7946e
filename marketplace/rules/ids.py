"""Opaque ids that look like MTurk's."""

import secrets

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def is_id(text: str) -> bool:
    """Tell whether this could be one of our ids; if not, there is no need to look it up."""
    return 0 < len(text) <= 64 and all(letter in ALPHABET for letter in text)


def _random(prefix: str, length: int) -> str:
    return prefix + "".join(secrets.choice(ALPHABET) for _ in range(length - len(prefix)))


def thing_id() -> str:
    """Return an id for a HIT, a HIT type, an assignment, a qualification type or a request."""
    return _random("3", 30)


def person_id() -> str:
    """Return an id for a worker or a requester: it matches ^A[A-Z0-9]+$."""
    return _random("A", 14)


def access_key_id() -> str:
    return _random("AKIA", 20)
