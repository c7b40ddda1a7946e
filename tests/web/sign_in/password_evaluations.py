"""Counts how many passwords were really evaluated, for all accounts."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from django.contrib.auth.hashers import MD5PasswordHasher
from django.test.utils import override_settings


class CountingHasher(MD5PasswordHasher):
    """A hasher that is fast enough for tests and counts every password."""

    evaluated = 0
    lock = Lock()

    def encode(self, password: str, salt: str) -> str:
        """Hash it; checking a password against a stored one hashes it too."""
        with self.lock:
            CountingHasher.evaluated += 1
        return super().encode(password, salt)


class Evaluations:
    """How many passwords were evaluated since this was made."""

    def __init__(self) -> None:
        self.before = CountingHasher.evaluated

    @property
    def count(self) -> int:
        return CountingHasher.evaluated - self.before


@contextmanager
def counting_passwords() -> Iterator[None]:
    """Have passwords evaluated by the hasher that counts, those of new accounts included."""
    with override_settings(
        PASSWORD_HASHERS=["tests.web.sign_in.password_evaluations.CountingHasher"],
    ):
        yield
