"""Rows of comma- or tab-separated files, in which a quote may open and never close."""

import csv
from collections.abc import Iterator
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import Problem
from annotation.pipeline.corpus.importers.checks import CorpusError

# Characters: enough for more than ten of the longest captions.
LONGEST_ROW = 2**19


def csv_rows(
    path: Path, lines: Iterator[tuple[int, str]], delimiter: str
) -> Iterator[tuple[int, list[str]] | Problem]:
    """Yield the rows with the numbers of their first lines, and the problems of bad rows.

    CorpusError: a row does not end, so the rest of the file would be read as part of it.
    """
    row = _Row(path, lines)
    reader = csv.reader(row, delimiter=delimiter, strict=True)
    while True:
        row.begin()
        try:
            fields = next(reader, None)
            if fields is None:
                return
            if fields:
                yield row.first, fields
        except csv.Error as error:
            if "field larger than" in str(error) and row.last > row.first:
                raise row.endless() from None
            yield Problem(str(path), f"line {row.first}", _plain(error, row.first, row.last))


class _Row:
    """The lines as the reader takes them, counted from the beginning of each row."""

    def __init__(self, path: Path, lines: Iterator[tuple[int, str]]) -> None:
        self._path = path
        self._lines = lines
        self.begin()

    def begin(self) -> None:
        self.first = self.last = self._characters = 0

    def __iter__(self) -> Iterator[str]:
        for number, line in self._lines:
            self.first, self.last = self.first or number, number
            self._characters += len(line)
            if self.last > self.first and self._characters > LONGEST_ROW:
                raise self.endless()
            yield line

    def endless(self) -> CorpusError:
        return CorpusError(
            f"{self._path}, line {self.first}: a quoted field is never closed or is far too long, "
            f"up to line {self.last}"
        )


def _plain(error: csv.Error, first: int, last: int) -> str:
    reason = str(error)
    upto = f", up to line {last}" if last > first else ""
    if "unexpected end of data" in reason or "field larger than" in reason:
        return f"a quoted field is never closed or is far too long{upto}"
    if "expected after" in reason:
        return f"there is text after a closing quote; double every quote inside a field{upto}"
    if "new-line character" in reason:
        return f"there is a carriage return inside a field without quotes{upto}"
    return f"this row cannot be read: {reason}{upto}"
