"""Opaque names for numbers that appear in addresses: a name reveals nothing about its number."""

from django.utils.crypto import salted_hmac

HALF = 32
# With four rounds or more, nobody without the key can tell this permutation of all numbers (a
# Feistel network) from a random one.
ROUNDS = 4


def number_hide(number: int) -> str:
    """Return the name of a number from 0 up to 2⁶⁴; it changes only with the secret key.

    Names must still be signed, because every name stands for some number.
    """
    left, right = divmod(number, 1 << HALF)
    for turn in range(ROUNDS):
        left, right = right, left ^ _scramble(right, turn)
    return f"{left << HALF | right:016x}"


def number_reveal(name: str) -> int:
    """Return the number that a name stands for; ValueError if it is not a name."""
    left, right = divmod(int(name, 16), 1 << HALF)
    for turn in reversed(range(ROUNDS)):
        left, right = right ^ _scramble(left, turn), left
    return left << HALF | right


def _scramble(half: int, turn: int) -> int:
    keyed = salted_hmac("chainbox.opaque", f"{turn}/{half}", algorithm="sha256")
    return int.from_bytes(keyed.digest()[: HALF // 8])
