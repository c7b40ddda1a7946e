"""HIT group ids. MTurk showed workers another id than requesters for the same group of HITs.

Ours is the HIT type id with every character but the first moved along the alphabet by a step that
depends on its place: never the same as the type id, and readable backwards without a table.
"""

from marketplace.rules.ids import ALPHABET


def _moved(number: str, direction: int) -> str:
    rest = (
        ALPHABET[(ALPHABET.index(letter) + direction * (7 * place % 35 + 1)) % len(ALPHABET)]
        for place, letter in enumerate(number[1:], start=1)
    )
    return number[0] + "".join(rest)


def group_id(hit_type_id: str) -> str:
    """Return the id of the group that all HITs of a type make.

    >>> group_id("3AAAAAAA")
    '3IPW3BIP'
    """
    return _moved(hit_type_id, 1)


def hit_type_id_of(group: str) -> str | None:
    """Return the type whose group this is, or None if it cannot be a group's id.

    >>> hit_type_id_of("3IPW3BIP")
    '3AAAAAAA'
    """
    if not group or any(letter not in ALPHABET for letter in group):
        return None
    return _moved(group, -1)
