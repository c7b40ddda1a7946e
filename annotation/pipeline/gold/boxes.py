"""Boxes that are bad beyond dispute, made from good ones."""

from collections.abc import Sequence
from random import Random

import msgspec

from annotation.pipeline.geometry import Rect, iou, rect_problem

# A bad box overlaps each right box at most this much; crowds still argue about a half.
BAD_IOU = 0.4
# A second box around a thing overlaps its first box at least this much.
SAME_IOU = 0.85
# Two things are different if their boxes overlap at most this much.
APART_IOU = 0.1
# Boxes with a shorter side are hard to see, whatever they contain.
LEAST_PIXELS = 10
# Some draws leave the image or overlap too much; give up after this many.
_DRAWS = 20


class BadBox(msgspec.Struct, frozen=True):
    """A bad box, the boxes next to it, and what is wrong with it."""

    rect: Rect
    others: tuple[Rect, ...]
    kind: str


LOOSE = "loose"
CUT = "cut"
SHIFTED = "shifted"
WRONG_THING = "wrong thing"
SEVERAL = "several things"
COVERED = "already covered"


def bad_boxes(
    rects: Sequence[Rect], foreign: Sequence[Rect], width: int, height: int, random: Random
) -> list[BadBox]:
    """Return a bad box of each possible kind for a chain with these boxes.

    `foreign` are boxes of things that the chain surely does not name.
    """
    thing = random.choice(rects)
    beside = {kind: tuple(r for r in rects if r != thing) for kind in (LOOSE, CUT, SHIFTED)}
    beside |= {WRONG_THING: (), SEVERAL: (), COVERED: (thing,)}
    made = []
    for kind, others in beside.items():
        for _ in range(_DRAWS):
            rect = _draw(kind, thing, rects, foreign, random)
            if rect is not None and _is_surely_bad(rect, kind, rects, others, width, height):
                made.append(BadBox(rect, others, kind))
                break
    return made


def is_visible(rect: Rect) -> bool:
    return min(rect.width, rect.height) >= LEAST_PIXELS


def _draw(
    kind: str, thing: Rect, rects: Sequence[Rect], foreign: Sequence[Rect], random: Random
) -> Rect | None:
    match kind:
        case "loose":
            return _moved(thing, *(random.uniform(0.3, 0.8) * side for side in (-1, -1, 1, 1)))
        case "cut":
            # Cut off all but a quarter to two fifths at one side.
            off = random.uniform(0.6, 0.75)
            edges = [0.0, 0.0, 0.0, 0.0]
            edge = random.randrange(4)
            edges[edge] = off if edge < 2 else -off
            return _moved(thing, *edges)
        case "shifted":
            across = random.choice((-1, 1)) * random.uniform(0.4, 0.7)
            down = random.choice((-1, 1)) * random.uniform(0.4, 0.7)
            return _moved(thing, across, down, across, down)
        case "already covered":
            return _moved(thing, *(random.uniform(-0.03, 0.03) for _ in range(4)))
        case "wrong thing":
            return random.choice(foreign) if foreign else None
        case _:
            if len(rects) < 2:
                return None
            several = random.sample(list(rects), random.randint(2, len(rects)))
            return Rect(
                min(r.xmin for r in several),
                min(r.ymin for r in several),
                max(r.xmax for r in several),
                max(r.ymax for r in several),
            )


def _is_surely_bad(
    rect: Rect, kind: str, rects: Sequence[Rect], beside: Sequence[Rect], width: int, height: int
) -> bool:
    if rect_problem(rect, width, height) or not is_visible(rect):
        return False
    if kind == COVERED and iou(rect, beside[0]) < SAME_IOU:
        return False
    most = APART_IOU if kind == WRONG_THING else BAD_IOU
    covered = beside if kind == COVERED else ()
    return all(iou(rect, good) <= most for good in rects if good not in covered)


def _moved(rect: Rect, left: float, top: float, right: float, bottom: float) -> Rect:
    """Move the edges by shares of the box's size."""
    return Rect(
        rect.xmin + round(left * rect.width),
        rect.ymin + round(top * rect.height),
        rect.xmax + round(right * rect.width),
        rect.ymax + round(bottom * rect.height),
    )
