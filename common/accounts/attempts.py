"""Counting sign-in attempts in the database, each before its password is checked."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db import transaction
from django.db.models.functions import Now
from django.utils.crypto import salted_hmac

from common.accounts.models import SignInCount
from common.accounts.rules import (
    WINDOW_MS,
    Attempt,
    account_wait,
    address_wait,
    still_counted,
    without,
)

# Somewhat longer than attempts count, so that no row is deleted while it matters.
KEPT = timedelta(milliseconds=WINDOW_MS) + timedelta(minutes=5)
# More rows than one attempt can add, so the table shrinks whenever it holds old rows.
PURGED_AT_ONCE = 20


class Reservation(NamedTuple):
    """An attempt that was counted, with its rows; or how many seconds to wait."""

    wait_seconds: int
    is_known: bool
    places: tuple[tuple[str, Attempt], ...] = ()


# Given the attempts so far and the time, how many milliseconds to wait.
Rule = Callable[[Sequence[Attempt], int], int]


def attempt_reserve(*, name: str, address: str, is_known: bool) -> Reservation:
    """Count an attempt for this account name if it is allowed; the caller then checks the password.

    `address` is empty if unknown. Attempts for names without an account are limited like any other.
    """
    rules = _rules(name=name, address=address, is_known=is_known)
    # Look first: an attempt that has to wait changes nothing and locks nothing.
    wait = _wait(rules)
    if not wait:
        wait, places = _count(rules, is_known=is_known)
    if wait:
        return Reservation(wait_seconds=-(-wait // 1000), is_known=is_known)
    purge()
    return Reservation(wait_seconds=0, is_known=is_known, places=places)


@transaction.atomic
def attempt_forgive(reservation: Reservation) -> None:
    """Remove an attempt: its password was right."""
    for key, attempt in reservation.places:
        row = SignInCount.objects.select_for_update().filter(pk=key).first()
        if row is not None:
            row.attempts = without(_attempts(row), attempt)
            row.save(update_fields=["attempts"])


@transaction.atomic
def purge() -> None:
    """Delete some of the rows whose attempts no longer count."""
    old = SignInCount.objects.filter(touched_at__lt=Now() - KEPT).order_by("touched_at")
    # Rows that another process has locked are skipped, so that nobody waits for us.
    chosen = old.select_for_update(skip_locked=True).values("pk")[:PURGED_AT_ONCE]
    SignInCount.objects.filter(pk__in=chosen).delete()


def _rules(*, name: str, address: str, is_known: bool) -> list[tuple[str, Rule]]:
    """Return the rows to count in, in the order in which all processes lock them.

    The address comes first: if it has to wait, made-up names leave no rows behind.
    """
    rules: list[tuple[str, Rule]] = []
    if address and not is_known:
        rules.append((_key("address", address), address_wait))
    account = name_key(name)
    return [*rules, (account, lambda found, now: account_wait(found, now, is_known=is_known))]


def _wait(rules: Sequence[tuple[str, Rule]]) -> int:
    rows = SignInCount.objects.filter(pk__in=[key for key, _ in rules]).annotate(now=Now())
    by_key = {row.pk: (_attempts(row), _milliseconds(row.now)) for row in rows}
    return max(rule(*by_key.get(key, ((), 0))) for key, rule in rules)


class _RefusedError(Exception):
    """Somebody else took the last attempt after we looked."""


def _count(
    rules: Sequence[tuple[str, Rule]], *, is_known: bool
) -> tuple[int, tuple[tuple[str, Attempt], ...]]:
    """Lock row after row, and add the attempt to each unless one requires a wait."""
    places = []
    wait = 0
    try:
        with transaction.atomic():
            for key, rule in rules:
                row, now = _locked(key)
                found = _attempts(row)
                wait = rule(found, now)
                if wait:
                    raise _RefusedError
                attempt = Attempt(at=now, is_known=is_known)
                row.attempts = [*still_counted(found, now), attempt]
                row.save(update_fields=["attempts"])
                places.append((key, attempt))
    except _RefusedError:  # and nothing was counted anywhere
        return wait, ()
    return 0, tuple(places)


def _locked(key: str) -> tuple[SignInCount, int]:
    """Return the row, created if needed and locked until the transaction ends, and the time."""
    # One statement creates or locks it: between two statements the row could be purged.
    SignInCount.objects.bulk_create(
        [SignInCount(key=key, attempts=[], touched_at=Now())],
        update_conflicts=True,
        unique_fields=["key"],
        update_fields=["touched_at"],
    )
    row = SignInCount.objects.annotate(now=Now()).get(pk=key)
    return row, _milliseconds(row.now)


def _attempts(row: SignInCount) -> list[Attempt]:
    return [Attempt(at=at, is_known=is_known) for at, is_known in row.attempts]


def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def name_key(name: str) -> str:
    """Return the hash under which the attempts for an account name are counted."""
    return _key("account", name.casefold())


def _key(kind: str, text: str) -> str:
    return salted_hmac(
        f"accounts.{kind}", text.encode(errors="backslashreplace"), algorithm="sha256"
    ).hexdigest()
