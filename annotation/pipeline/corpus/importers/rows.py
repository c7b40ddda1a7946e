"""Files with one caption per line: reading lines, and gathering those of one image."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem
from annotation.pipeline.corpus.importers.checks import (
    MOST_CAPTIONS,
    BadItemError,
    CorpusError,
    check_filename,
    number_captions,
    too_many_captions,
)
from annotation.pipeline.corpus.pictures import picture_stem

LONGEST_LINE = 2**20
_BYTE_ORDER_MARK = "\ufeff"


class Row(msgspec.Struct, frozen=True):
    """One good line. `number` is the caption's own, where the format has one."""

    line: int
    filename: str
    tokens: tuple[str, ...]
    number: int | None = None
    split: str = ""
    width: int = 0
    height: int = 0


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 file, with their ends, numbered from 1."""
    try:
        with path.open("rb") as file:
            number = 0
            while content := file.readline(LONGEST_LINE + 1):
                number += 1
                if len(content) > LONGEST_LINE:
                    raise CorpusError(
                        f"{path}, line {number}: the line is longer than a megabyte, "
                        "so this is not a file of captions"
                    )
                try:
                    line = content.decode()
                except UnicodeDecodeError:
                    raise CorpusError(f"{path}, line {number}: this is not UTF-8 text") from None
                yield number, line.removeprefix(_BYTE_ORDER_MARK) if number == 1 else line
    except OSError as error:
        raise unreadable(path, error) from error


def unreadable(path: Path, error: OSError) -> CorpusError:
    if isinstance(error, FileNotFoundError):
        return CorpusError(f"{path}: there is no such file")
    if isinstance(error, IsADirectoryError):
        return CorpusError(f"{path}: this is a folder, not a file")
    return CorpusError(f"{path}: cannot be read: {error.strerror}")


def gather(path: Path, rows: Iterator[Row | Problem]) -> Iterator[CorpusImage | Problem]:
    """Put the consecutive rows of one image together.

    Only the current image is kept in memory, so rows of an image that comes up again later in the
    file are problems.
    """
    file = str(path)
    first_lines: dict[str, int] = {}
    image: _Image | None = None
    for row in rows:
        if isinstance(row, Problem):
            yield row
            continue
        try:
            name = picture_stem(check_filename(row.filename))
            if image is None or image.name != name:
                if name in first_lines:
                    raise BadItemError(
                        f"image {name} was listed already, from line {first_lines[name]} on; "
                        "put all its captions together"
                    )
                if image is not None:
                    yield image.finish(file)
                first_lines[name] = row.line
                image = _Image(name, row)
            image.add(row)
        except BadItemError as error:
            yield Problem(file, f"line {row.line}", str(error))
    if image is not None:
        yield image.finish(file)


class _Image:
    """The image whose rows are being read."""

    def __init__(self, name: str, row: Row) -> None:
        self.name = name
        self._line = row.line
        self._filename = row.filename
        self._split = ""
        self._size = (0, 0)
        self._captions: list[tuple[str, ...]] = []
        self._count = 0
        self._numbers: set[int] = set()

    def add(self, row: Row) -> None:
        if row.filename != self._filename:
            raise BadItemError(
                f"image {self.name} is called {row.filename} here but {self._filename} before"
            )
        if row.number is not None and row.number in self._numbers:
            raise BadItemError(f"image {self.name} already has a caption #{row.number}")
        if row.split and self._split not in ("", row.split):
            raise BadItemError(
                f"image {self.name} is in the split {row.split} here but {self._split} before"
            )
        size = (row.width, row.height)
        if size != (0, 0) and self._size not in ((0, 0), size):
            raise BadItemError(
                f"image {self.name} is {row.width} × {row.height} here but "
                f"{self._size[0]} × {self._size[1]} before"
            )
        self._split = row.split or self._split
        self._size = self._size if size == (0, 0) else size
        self._count += 1
        if self._count <= MOST_CAPTIONS:  # an image with more is refused anyway
            self._captions.append(row.tokens)
            if row.number is not None:
                self._numbers.add(row.number)

    def finish(self, file: str) -> CorpusImage | Problem:
        if self._count > MOST_CAPTIONS:
            return Problem(file, f"line {self._line}", too_many_captions(self.name, self._count))
        return CorpusImage(
            name=self.name,
            filename=self._filename,
            captions=number_captions(self._captions),
            split=self._split,
            width=self._size[0],
            height=self._size[1],
        )
