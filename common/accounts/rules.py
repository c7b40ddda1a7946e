"""Limits on password attempts, as pure functions: from times to seconds to wait.

An attempt is counted before its password is checked, and forgiven if the password was right. So
only failures stay counted.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

WINDOW_MS = 15 * 60 * 1000
# For one account, from anywhere together.
MOST_PER_ACCOUNT = 10
# Of these, strangers never get the last three: they are left for devices that the owner has signed
# in with before, so nobody can lock the owner out.
MOST_BY_STRANGERS = 7
# For one address, under all names together. Generous, since a university may share one address.
MOST_PER_ADDRESS = 300


class Attempt(NamedTuple):
    """One password check: when, in milliseconds since 1970, and whether from a known device."""

    at: int
    is_known: bool


def still_counted(attempts: Iterable[Attempt], now: int) -> list[Attempt]:
    """Return the attempts of the last fifteen minutes.

    After a clock was set back, some may lie in the future. They count if they are near. Others are
    forgotten, so that nobody has to wait until the clock has caught up.
    """
    return [attempt for attempt in attempts if abs(now - attempt.at) < WINDOW_MS]


def account_wait(attempts: Iterable[Attempt], now: int, *, is_known: bool) -> int:
    """Return in how many milliseconds the account's next password may be evaluated; 0 is now."""
    counted = still_counted(attempts, now)
    wait = _wait([attempt.at for attempt in counted], now, MOST_PER_ACCOUNT)
    if is_known:
        return wait
    strangers = [attempt.at for attempt in counted if not attempt.is_known]
    return max(wait, _wait(strangers, now, MOST_BY_STRANGERS))


def address_wait(attempts: Iterable[Attempt], now: int) -> int:
    """Return in how many milliseconds a stranger at this address may try again; 0 is now."""
    return _wait([attempt.at for attempt in still_counted(attempts, now)], now, MOST_PER_ADDRESS)


def without(attempts: Iterable[Attempt], forgiven: Attempt) -> list[Attempt]:
    """Return the attempts without one that was forgiven."""
    left = list(attempts)
    if forgiven in left:
        left.remove(forgiven)
    return left


def _wait(times: Sequence[int], now: int, most: int) -> int:
    """Return how long until fewer than `most` of these are counted."""
    if len(times) < most:
        return 0
    return sorted(times)[-most] + WINDOW_MS - now


def wait_in_words(seconds: int, *, is_known: bool) -> str:
    """Say how long to wait, and what else can be done."""
    minutes = -(-seconds // 60)
    again = f"Please try again in {minutes} {'minute' if minutes == 1 else 'minutes'}"
    if not is_known:
        again += ", or use a browser where you have signed in before"
    return f"Too many failed sign-in attempts. {again}."
