"""Entity types of chunks, from dictionaries in plain text files.

An entry is a head word ("dog") or several words ("hot dog"). The longest entry that a chunk ends
with decides; a chunk of colour terms alone is clothing; everything else is `other`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from common.files.whole import write_text

PEOPLE = "people"
CLOTHING = "clothing"
BODYPARTS = "bodyparts"
ANIMALS = "animals"
VEHICLES = "vehicles"
INSTRUMENTS = "instruments"
SCENE = "scene"
OTHER = "other"
ENTITY_TYPES = (PEOPLE, CLOTHING, BODYPARTS, ANIMALS, VEHICLES, INSTRUMENTS, SCENE, OTHER)
# Not a real entity type: it marks a phrase that the protocol leaves out.
NOT_VISUAL = "notvisual"

# The public data writes several types of one mention in alphabetical order, but scene last:
# bodyparts/people, clothing/vehicles, vehicles/scene.
_WRITTEN_ORDER = (ANIMALS, BODYPARTS, CLOTHING, INSTRUMENTS, PEOPLE, VEHICLES, SCENE, OTHER)

LEFT_OUT_FILE = "left_out.txt"
COLOURS_FILE = "colours.txt"
# Words that may stand next to a colour in a chunk that is still "only a colour".
_BESIDE_COLOURS = frozenset({"all", "and", "&", ",", "bright", "dark", "light", "pale"})


def in_written_order(types: Iterable[str]) -> tuple[str, ...]:
    """Return the types without repeats, in the order in which the public data writes them.

    >>> in_written_order(["scene", "people"])
    ('people', 'scene')
    """
    return tuple(sorted(set(types), key=_WRITTEN_ORDER.index))


def type_file(entity_type: str) -> str:
    """Return the name of the dictionary of one entity type."""
    return f"{entity_type}.txt"


class TypeDictionary(msgspec.Struct, frozen=True):
    """Entries (case-folded, one space between words) with their types, and the colour terms.

    Phrases to leave out have the types `("notvisual",)`. No entry has more words than `most_words`.
    """

    entries: Mapping[str, tuple[str, ...]]
    colours: frozenset[str]
    most_words: int

    def types(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the types of a chunk, by its longest entry."""
        folded = [word.casefold() for word in words]
        # A chunk may have thousands of words, but an entry has few: skip longer endings.
        for start in range(max(0, len(folded) - self.most_words), len(folded)):
            types = self.entries.get(" ".join(folded[start:]))
            if types is not None:
                return types
        if self._is_only_colour(folded):
            return (CLOTHING,)
        return (OTHER,)

    def _is_only_colour(self, folded: Sequence[str]) -> bool:
        return any(word in self.colours for word in folded) and all(
            word in self.colours or word in _BESIDE_COLOURS for word in folded
        )


def read_dictionary(folder: Path) -> TypeDictionary:
    """Read the dictionaries, the left-out list and the colours of a folder."""
    listed: dict[str, set[str]] = {}
    for entity_type in ENTITY_TYPES:
        for entry in read_entries(folder / type_file(entity_type)):
            listed.setdefault(entry, set()).add(entity_type)
    entries = {entry: in_written_order(types) for entry, types in listed.items()}
    for entry in read_entries(folder / LEFT_OUT_FILE):
        entries[entry] = (NOT_VISUAL,)
    return TypeDictionary(
        entries=entries,
        colours=frozenset(read_entries(folder / COLOURS_FILE)),
        most_words=max((entry.count(" ") + 1 for entry in entries), default=0),
    )


def read_entries(path: Path) -> list[str]:
    """Return the entries of one file: one per line, without comments (#) and blank lines."""
    entries = []
    for line in path.read_text(encoding="utf-8-sig").splitlines():
        entry = "" if line.startswith("#") else line.split(" #", 1)[0]
        if words := entry.casefold().split():
            entries.append(" ".join(words))
    return entries


def write_entries(path: Path, about: Sequence[str], entries: Iterable[str]) -> None:
    """Write one file, sorted, with the lines `about` as a comment at its top."""
    lines = [f"# {line}" for line in about] + sorted(set(entries))
    write_text(path, "\n".join(lines) + "\n")
