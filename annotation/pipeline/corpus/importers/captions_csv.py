"""Comma- or tab-separated captions, one a row: `image,caption` and perhaps `split,width,height`."""

import csv
import re
from collections.abc import Iterator
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem
from annotation.pipeline.corpus.importers.checks import (
    BadItemError,
    CorpusError,
    caption_tokens,
    check_filename,
    check_size,
    check_split,
)
from annotation.pipeline.corpus.importers.csv_rows import csv_rows
from annotation.pipeline.corpus.importers.rows import Row, gather, read_lines

REQUIRED = ("image", "caption")
OPTIONAL = ("split", "width", "height")


def read(path: Path) -> Iterator[CorpusImage | Problem]:
    return gather(path, _rows(path))


def header_columns(line: str) -> tuple[str, list[str]]:
    """Return the delimiter and the names of the columns."""
    delimiter = "\t" if "\t" in line else ","
    try:
        fields = next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error:
        fields = []
    return delimiter, [field.strip().casefold() for field in fields]


def _rows(path: Path) -> Iterator[Row | Problem]:
    lines = read_lines(path)
    _, header = next(lines, (1, ""))
    delimiter, columns = header_columns(header)
    _check_columns(path, columns)
    for item in csv_rows(path, lines, delimiter):
        if isinstance(item, Problem):
            yield item
            continue
        first, fields = item
        try:
            yield _row(first, columns, fields)
        except BadItemError as error:
            yield Problem(str(path), f"line {first}", str(error))


def _check_columns(path: Path, columns: list[str]) -> None:
    missing = [name for name in REQUIRED if name not in columns]
    if missing:
        raise CorpusError(
            f"{path}, line 1: the header has no column {' and no column '.join(missing)}; "
            "name both image and caption, separated by commas or tabs"
        )
    for name in (*REQUIRED, *OPTIONAL):
        if columns.count(name) > 1:
            raise CorpusError(f"{path}, line 1: the header has the column {name} more than once")


def _row(line: int, columns: list[str], fields: list[str]) -> Row:
    if len(fields) != len(columns):
        raise BadItemError(
            f"the row has {len(fields)} fields and the header has {len(columns)}; put quotes "
            "around a caption with a comma or tab"
        )
    row = dict(zip(columns, fields, strict=True))
    width, height = check_size(_number(row.get("width", "")), _number(row.get("height", "")))
    return Row(
        line,
        check_filename(row["image"].strip()),
        caption_tokens(row["caption"]),
        split=check_split(row.get("split", "").strip()),
        width=width,
        height=height,
    )


def _number(text: str) -> int | str | None:
    """Return the number, None for an empty field, or any other text unchanged."""
    text = text.strip()
    return int(text) if re.fullmatch("[0-9]{1,9}", text) else text or None
