"""Guessing a corpus's format from its content."""

from itertools import islice
from pathlib import Path

from annotation.pipeline.corpus.importers.captions_csv import REQUIRED, header_columns
from annotation.pipeline.corpus.importers.checks import CorpusError
from annotation.pipeline.corpus.importers.flickr30k import looks_like_row
from annotation.pipeline.corpus.importers.json_items import read_keys
from annotation.pipeline.corpus.importers.rows import LONGEST_LINE, read_lines, unreadable

FORMATS: tuple[str, ...] = ("flickr30k", "karpathy", "coco", "csv", "entities")
_LINES_LOOKED_AT = 20


def guess_format(path: Path) -> str:
    """Return the format of the corpus at `path`; raise CorpusError if it matches none."""
    if path.is_dir():
        if (path / "Sentences").is_dir():
            return "entities"
        raise _unclear(path, "the folder has no subfolder Sentences")
    if path.suffix.casefold() in (".csv", ".tsv") and path.exists():
        return "csv"
    if path.suffix.casefold() == ".json" or _starts_with_brace(path):
        return _guess_json(path)
    lines = [line for _, line in islice(read_lines(path), _LINES_LOOKED_AT)]
    if any(looks_like_row(line) for line in lines):
        return "flickr30k"
    if lines and set(REQUIRED) <= set(header_columns(lines[0])[1]):
        return "csv"
    raise _unclear(path, "its first lines match no known format")


def _guess_json(path: Path) -> str:
    for prefix, key in read_keys(path):
        if (prefix, key) == ("images.item", "sentences"):
            return "karpathy"
        if (prefix, key) == ("", "annotations"):
            return "coco"
    raise _unclear(path, "the JSON has neither images with sentences nor annotations")


def _starts_with_brace(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(LONGEST_LINE).removeprefix(b"\xef\xbb\xbf").lstrip()[:1] == b"{"
    except OSError as error:
        raise unreadable(path, error) from error


def _unclear(path: Path, why: str) -> CorpusError:
    return CorpusError(
        f"{path}: the format is unclear: {why}; choose it with --format, one of "
        f"{', '.join(FORMATS)}"
    )
