"""Rectangles of an image, in the coordinates of the release: 1-based pixels, both ends included.

Features, proposals and predictions all use these coordinates, so that a box of the release is the
key of its feature.
"""

from collections.abc import Iterable
from typing import NamedTuple

from annotation.pipeline.release.folder import ReleasedBox


class Rect(NamedTuple):
    """Pixels x0 to x1 and y0 to y1; (1, 1, 1, 1) is the top left pixel alone."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def width(self) -> int:
        return self.x1 - self.x0 + 1

    @property
    def height(self) -> int:
        return self.y1 - self.y0 + 1


def rect_of(box: ReleasedBox) -> Rect:
    """Return the rectangle of a box of the release."""
    return Rect(box.rect.xmin, box.rect.ymin, box.rect.xmax, box.rect.ymax)


def union(rects: Iterable[Rect]) -> Rect:
    """Return the smallest rectangle round all of them; there must be at least one.

    >>> union([Rect(1, 5, 10, 20), Rect(4, 2, 30, 8)])
    Rect(x0=1, y0=2, x1=30, y1=20)
    """
    left, top, right, bottom = zip(*rects, strict=True)
    return Rect(min(left), min(top), max(right), max(bottom))


def clip(rect: Rect, width: int, height: int) -> Rect | None:
    """Return the part of `rect` inside a width × height image, or None if there is none.

    >>> clip(Rect(-3, 5, 60, 40), 50, 40)
    Rect(x0=1, y0=5, x1=50, y1=40)
    """
    inside = Rect(max(rect.x0, 1), max(rect.y0, 1), min(rect.x1, width), min(rect.y1, height))
    return inside if inside.x0 <= inside.x1 and inside.y0 <= inside.y1 else None
