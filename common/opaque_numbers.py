"""Numbers of ours in addresses: a name that stands for a number and tells nothing about it."""

from django.utils.crypto import salted_hmac

HALF = 32
# From four rounds on, nobody without the key can tell such a shuffle of all numbers (a Feistel
# network) from one by lot.
ROUNDS = 4


def number_hide(number: int) -> str:
    """Return the name of a number from 0 up to 2⁶⁴: always the same, while the secret key is.

    Names must still be signed: every name stands for some number.
    """
    left, right = divmod(number, 1 << HALF)
    for turn in range(ROUNDS):
        left, right = right, left ^ _scramble(right, turn)
    return f"{left << HALF | right:016x}"


def number_reveal(name: str) -> int:
    """Return the number that a name stands for; ValueError if it is no name at all."""
    left, right = divmod(int(name, 16), 1 << HALF)
    for turn in reversed(range(ROUNDS)):
        left, right = right ^ _scramble(left, turn), left
    return left << HALF | right


def _scramble(half: int, turn: int) -> int:
    keyed = salted_hmac("chainbox.opaque", f"{turn}/{half}", algorithm="sha256")
    return int.from_bytes(keyed.digest()[: HALF // 8])
