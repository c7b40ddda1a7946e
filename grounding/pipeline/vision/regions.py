"""The regions of an image that get features: boxes of the release, or of a file."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import msgspec

from annotation.pipeline.release.folder import ReleasedImage
from grounding.pipeline.boxes import Rect, rect_of, union
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.text.pairs import relation_pairs
from grounding.pipeline.text.relations import RelationFinder


class BoxFileError(GroundingError):
    """A file of boxes cannot be used; the message names the file, the line and the cause."""


# In characters. A row of numbers has about fifty; an image may have thousands of boxes.
_LONGEST_ROW = 10_000
_LONGEST_LINE = 1 << 20


class _BoxLine(msgspec.Struct, forbid_unknown_fields=True):
    image: str
    boxes: list[tuple[int, int, int, int]]


def chain_boxes(image: ReleasedImage) -> dict[int, list[Rect]]:
    """Return the boxes of each chain that has any, in the order of the release."""
    boxes: dict[int, list[Rect]] = {}
    for box in image.boxes:
        for chain in box.chains:
            boxes.setdefault(chain, []).append(rect_of(box))
    return boxes


def gold_regions(image: ReleasedImage, relations_of: RelationFinder | None = None) -> list[Rect]:
    """Return each region that a phrase of the release can be paired with.

    These are its boxes, then the union of the boxes of each chain that has several; with
    `relations_of` also the regions of augmented phrases, which enclose the boxes of two chains.
    """
    unions = (union(rects) for rects in chain_boxes(image).values() if len(rects) > 1)
    regions = [*map(rect_of, image.boxes), *unions]
    if relations_of is not None:
        regions += [pair.box for pair in relation_pairs(image, relations_of)]
    return list(dict.fromkeys(regions))


def read_boxes(path: Path) -> dict[str, list[Rect]]:
    """Return the boxes of a file by image id, in the file's order: best first.

    `.csv` has a header with image, x0, y0, x1 and y1, and a row for each box; other columns are
    ignored. `.jsonl` has a line {"image": "36979", "boxes": [[x0, y0, x1, y1], …]} for each image.
    Numbers are pixels as in the release: 1-based, both ends included.
    """
    if path.suffix not in (".csv", ".jsonl"):
        raise BoxFileError(f"{path}: the name of a file of boxes ends in .csv or .jsonl")
    boxes: dict[str, list[Rect]] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as lines:
            entries = (
                _csv(path, _bounded(path, lines, _LONGEST_ROW))
                if path.suffix == ".csv"
                else _json_lines(path, _bounded(path, lines, _LONGEST_LINE))
            )
            for number, image, rect in entries:
                if rect.x1 < rect.x0 or rect.y1 < rect.y0:
                    raise BoxFileError(f"{path}, line {number}: the box ends before it starts")
                if min(rect) < 1 or max(rect) >= 2**31:
                    raise BoxFileError(f"{path}, line {number}: pixels are counted from 1")
                boxes.setdefault(image, []).append(rect)
    except (OSError, UnicodeDecodeError) as error:
        raise BoxFileError(f"{path}: cannot be read: {error}") from error
    return {image: list(dict.fromkeys(rects)) for image, rects in boxes.items()}


def _bounded(path: Path, lines: IO[str], longest: int) -> Iterator[str]:
    number = 0
    while line := lines.readline(longest + 1):
        number += 1
        if len(line) > longest:
            raise BoxFileError(
                f"{path}, line {number}: the line is longer than {longest:,} characters"
            )
        yield line


def _csv(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, str, Rect]]:
    # No quotes are expected, and an unclosed one would swallow the rest of the file.
    rows = csv.DictReader(lines, quoting=csv.QUOTE_NONE)
    missing = {"image", *Rect._fields} - set(rows.fieldnames or ())
    if missing:
        raise BoxFileError(f"{path}, line 1: the header lacks {', '.join(sorted(missing))}")
    for row in rows:
        try:
            yield rows.line_num, row["image"], Rect(*(int(row[corner]) for corner in Rect._fields))
        except (TypeError, ValueError):
            raise BoxFileError(
                f"{path}, line {rows.line_num}: x0, y0, x1 and y1 are not all whole numbers"
            ) from None


def _json_lines(path: Path, lines: Iterator[str]) -> Iterator[tuple[int, str, Rect]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = msgspec.json.decode(line, type=_BoxLine)
        except (msgspec.MsgspecError, RecursionError) as error:
            raise BoxFileError(f"{path}, line {number}: {error}") from error
        for corners in entry.boxes:
            yield number, entry.image, Rect(*corners)
