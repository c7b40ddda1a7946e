"""Dictionaries of entity types, learnt from the mentions of a release.

The result is meant for human editors. Head words come first, and longer entries only where a head
word alone would be wrong. Nothing is listed that the default (`other`) gives anyway.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from annotation.pipeline.mentions.entity_types import NOT_VISUAL, OTHER

Types = tuple[str, ...]
Words = tuple[str, ...]
Chunks = dict[Words, Counter[Types]]

# How many mentions an entry must put right to be listed. One mention is enough for a head word of a
# type, as releases are typed by dictionaries too; the left-out list should stay short.
_GAIN_OF_HEAD = 1
_GAIN_OF_PHRASE = 2
_GAIN_OF_LEFT_OUT = 5


class _Choice(NamedTuple):
    """The entries for all chunks with one ending, and what they cost: errors and entries."""

    cost: float
    entries: dict[str, Types]


class TypeCounts:
    """Counts how often each chunk has which types."""

    def __init__(self) -> None:
        self._by_head: dict[str, Chunks] = defaultdict(dict)

    def add(self, words: Iterable[str], types: Types) -> None:
        folded = tuple(word.casefold() for word in words)
        self._by_head[folded[-1]].setdefault(folded, Counter())[types] += 1

    def entries(self, *, left_out: Iterable[str]) -> dict[str, Types]:
        """Return the few entries that give most mentions their types.

        The head words `left_out` are left out whatever the counts say; longer entries may still be
        exceptions ("two of us").
        """
        entries: dict[str, Types] = dict.fromkeys(left_out, (NOT_VISUAL,))
        for head, chunks in self._by_head.items():
            if head.startswith("#"):  # such a line would be a comment
                continue
            if head in entries:
                for ending, longer in _longer_endings((head,), chunks).items():
                    entries |= _best(ending, longer, inherited=(NOT_VISUAL,)).entries
            else:
                entries |= _best((head,), chunks, inherited=(OTHER,)).entries
        return entries


def _longer_endings(ending: Words, chunks: Chunks) -> dict[Words, Chunks]:
    """Group the chunks by the ending that is one word longer; drop those without one."""
    longer: dict[Words, Chunks] = defaultdict(dict)
    for words, counts in chunks.items():
        if len(words) > len(ending):
            longer[words[-len(ending) - 1 :]][words] = counts
    return longer


def _best(ending: Words, chunks: Chunks, inherited: Types) -> _Choice:
    """Choose the types of `ending`, given those that a shorter ending already gives it."""
    total: Counter[Types] = Counter()
    for counts in chunks.values():
        total += counts
    if set(total) == {inherited}:
        return _Choice(0.0, {})
    longer = _longer_endings(ending, chunks)
    here = chunks.get(ending, Counter())

    best: _Choice | None = None
    # The most frequent types win a tie, which keeps the entry as short as possible.
    for types in sorted(total.keys() | {inherited}, key=lambda t: (-total[t], t)):
        cost = float(here.total() - here[types])
        entries: dict[str, Types] = {}
        if types != inherited:
            cost += _price(ending, types)
            entries[" ".join(ending)] = types
        for longer_ending, its_chunks in longer.items():
            choice = _best(longer_ending, its_chunks, types)
            cost += choice.cost
            entries |= choice.entries
        if best is None or cost < best.cost:
            best = _Choice(cost, entries)
    assert best is not None
    return best


def _price(ending: Words, types: Types) -> float:
    """Return the cost of an entry in errors: half an error below the gain it must bring."""
    if types == (NOT_VISUAL,):
        return _GAIN_OF_LEFT_OUT - 0.5
    return (_GAIN_OF_HEAD if len(ending) == 1 else _GAIN_OF_PHRASE) - 0.5
