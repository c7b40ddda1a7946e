"""HIT group ids.

On MTurk, workers and requesters saw different ids for the same group of HITs. Our group id is the
HIT type id with every character but the first moved along the alphabet by a step that depends on
its place. It never equals the type id, and can be reversed without a table.
"""

from marketplace.rules.ids import ALPHABET


def _moved(number: str, direction: int) -> str:
    rest = (
        ALPHABET[(ALPHABET.index(letter) + direction * (7 * place % 35 + 1)) % len(ALPHABET)]
        for place, letter in enumerate(number[1:], start=1)
    )
    return number[0] + "".join(rest)


def group_id(hit_type_id: str) -> str:
    """Return the id of the group of all HITs of a type.

    >>> group_id("3AAAAAAA")
    '3IPW3BIP'
    """
    return _moved(hit_type_id, 1)


def hit_type_id_of(group: str) -> str | None:
    """Return the type of this group, or None if this cannot be a group id.

    >>> hit_type_id_of("3IPW3BIP")
    '3AAAAAAA'
    """
    if not group or any(letter not in ALPHABET for letter in group):
        return None
    return _moved(group, -1)
