"""The Flickr30k token file: `<file name>#<number><tab><caption>`, captions tokenised already."""

import re
from collections.abc import Iterator
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem
from annotation.pipeline.corpus.importers.checks import BadItemError, caption_tokens, check_filename
from annotation.pipeline.corpus.importers.rows import Row, gather, read_lines
from annotation.pipeline.release.model import shorten

_LABEL = re.compile(r"(.*)#([0-9]{1,9})")


def read(path: Path) -> Iterator[CorpusImage | Problem]:
    return gather(path, _rows(path))


def looks_like_row(line: str) -> bool:
    label, tab, _ = line.partition("\t")
    return bool(tab) and _LABEL.fullmatch(label) is not None


def _rows(path: Path) -> Iterator[Row | Problem]:
    for number, line in read_lines(path):
        if line.isspace():
            continue
        try:
            yield _row(number, line.rstrip("\r\n"))
        except BadItemError as error:
            yield Problem(str(path), f"line {number}", str(error))


def _row(number: int, line: str) -> Row:
    label, tab, caption = line.partition("\t")
    if not tab:
        raise BadItemError(
            "the tab is missing; a line is a file name, # and a number, a tab and a caption"
        )
    match = _LABEL.fullmatch(label)
    if match is None:
        raise BadItemError(
            f"{shorten(label)} is not a file name with # and a number, such as photo.jpg#0"
        )
    filename = check_filename(match[1])
    return Row(number, filename, caption_tokens(caption, tokenised=True), number=int(match[2]))
