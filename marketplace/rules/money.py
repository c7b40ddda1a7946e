"""Money in whole cents."""

import re

from marketplace.rules.errors import RequestError

_AMOUNT = re.compile(r"[0-9]+(\.)?[0-9]{0,2}")


def cents(amount: str) -> int:
    """Read an amount as MTurk writes it.

    >>> cents("0.5"), cents("12"), cents("1.")
    (50, 1200, 100)
    """
    if not _AMOUNT.fullmatch(amount):
        raise RequestError("InvalidParameterValue", f"{amount!r} is no amount such as 0.25")
    whole, _, part = amount.partition(".")
    return int(whole) * 100 + int(part.ljust(2, "0") or 0)


def dollars(amount: int) -> str:
    """Write cents as an amount: 5 is 0.05."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02d}"


def fee(amount: int, percent: int) -> int:
    """Return the marketplace's fee, rounded up to a cent; zero if it takes none.

    >>> fee(5, 20), fee(100, 20), fee(100, 0)
    (1, 20, 0)
    """
    return -(-amount * percent // 100)
