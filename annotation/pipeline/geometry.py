"""Rectangles in image pixels, as the public format counts them: 1-based, both ends included."""

import msgspec


class Rect(msgspec.Struct, frozen=True, array_like=True, order=True, forbid_unknown_fields=True):
    """A rectangle around one thing; (1, 1, 1, 1) is the top left pixel alone."""

    xmin: int
    ymin: int
    xmax: int
    ymax: int

    @property
    def width(self) -> int:
        return self.xmax - self.xmin + 1

    @property
    def height(self) -> int:
        return self.ymax - self.ymin + 1

    @property
    def area(self) -> int:
        return self.width * self.height


def rect_problem(rect: Rect, width: int, height: int) -> str | None:
    """Say in plain words why `rect` is not a box of a width × height image; None if it is one.

    >>> rect_problem(Rect(1, 1, 50, 40), 50, 40)
    >>> rect_problem(Rect(1, 1, 51, 40), 50, 40)
    'box 1,1–51,40 lies outside the 50×40 image'
    """
    corners = f"box {rect.xmin},{rect.ymin}–{rect.xmax},{rect.ymax}"
    if rect.xmax < rect.xmin or rect.ymax < rect.ymin:
        return f"{corners} ends before it starts"
    if rect.xmin < 1 or rect.ymin < 1 or rect.xmax > width or rect.ymax > height:
        return f"{corners} lies outside the {width}×{height} image"
    return None


def intersection(a: Rect, b: Rect) -> int:
    """Return the number of pixels that lie in both."""
    width = min(a.xmax, b.xmax) - max(a.xmin, b.xmin) + 1
    height = min(a.ymax, b.ymax) - max(a.ymin, b.ymin) + 1
    return width * height if width > 0 and height > 0 else 0


def iou(a: Rect, b: Rect) -> float:
    """Return intersection over union, 0.0 to 1.0."""
    both = intersection(a, b)
    return both / (a.area + b.area - both)
