"""Bars drawn on the server: plain numbers for SVG attributes."""

from collections.abc import Iterable, Sequence

import msgspec

# The width of a bar in SVG units; the SVG stretches to the available width.
FULL = 1000


class Segment(msgspec.Struct, frozen=True):
    """A part of a bar; `kind` names its colour in the style sheet."""

    kind: str
    label: str
    count: int
    x: int
    width: int


def stacked(parts: Iterable[tuple[str, str, int]], total: int) -> list[Segment]:
    """Put (kind, label, count) side by side on a bar as wide as `total`.

    The edges are rounded, not the widths: the parts of a whole always fill the bar.

    >>> [(s.x, s.width) for s in stacked([("a", "A", 1), ("b", "B", 2)], 3)]
    [(0, 333), (333, 667)]
    """
    segments = []
    before = 0
    for kind, label, count in parts:
        start, end = (
            round(FULL * edge / total) if total else 0 for edge in (before, before + count)
        )
        segments.append(Segment(kind=kind, label=label, count=count, x=start, width=end - start))
        before += count
    return segments


def per_cent(part: int, whole: int) -> int:
    """Return a share in whole per cent; 100 only if nothing is missing."""
    return 100 * part // whole if whole else 0


def longest_of(counts: Sequence[int]) -> int:
    """Return the count of a chart's longest bar; 1 for an empty chart."""
    return max(counts, default=0) or 1
