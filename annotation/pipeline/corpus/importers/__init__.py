"""Reading corpora: five formats in, one stream of images and problems out."""

from collections.abc import Iterator
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem
from annotation.pipeline.corpus.importers import captions_csv, coco, entities, flickr30k, karpathy
from annotation.pipeline.corpus.importers.checks import CorpusError, mostly_good
from annotation.pipeline.corpus.importers.guess import FORMATS, guess_format

__all__ = ["FORMATS", "CorpusError", "CorpusImage", "Problem", "guess_format", "read_corpus"]


def read_corpus(
    path: Path, format: str, *, with_annotation: bool = False
) -> Iterator[CorpusImage | Problem]:
    """Yield the images of the corpus at `path` and, in between, what is wrong with it.

    A bad row is one problem: the image keeps its other captions. With `with_annotation` the
    images bring their chains and boxes, which only the format `entities` has. Raises CorpusError,
    on the first step or later, if the file cannot be read at all.
    """
    if format not in FORMATS:
        raise CorpusError(f"“{format}” is not a format; the formats are {', '.join(FORMATS)}")
    if with_annotation and format != "entities":
        raise CorpusError(
            f"{path}: the format {format} has no chains and boxes; only the format entities does"
        )
    if format == "entities":
        items = mostly_good(entities.read(path, with_annotation=with_annotation))
    elif format == "flickr30k":
        items = mostly_good(flickr30k.read(path))
    elif format == "karpathy":
        items = mostly_good(karpathy.read(path))
    elif format == "coco":
        items = coco.read(path)  # it applies `mostly_good` to annotations and to images
    else:
        items = mostly_good(captions_csv.read(path))
    return _never_nothing(path, format, items)


def _never_nothing(
    path: Path, format: str, items: Iterator[CorpusImage | Problem]
) -> Iterator[CorpusImage | Problem]:
    """Pass the items on; report a corpus without any, as its path or format is likely wrong."""
    empty = True
    for item in items:
        empty = False
        yield item
    if empty:
        yield Problem(str(path), "", f"no images were found; is {format} the right format?")
