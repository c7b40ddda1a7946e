"""Karpathy's split files: `{"images": [{"filename", "split", "sentences": [{"raw"}]}]}`."""

from collections.abc import Iterator
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem
from annotation.pipeline.corpus.importers.checks import (
    BadItemError,
    Head,
    check_split,
    claim_name,
    image_or_problems,
)
from annotation.pipeline.corpus.importers.json_items import read_items


def read(path: Path) -> Iterator[CorpusImage | Problem]:
    places: dict[str, str] = {}
    for position, item in enumerate(read_items(path, "images.item")):
        place = f"images[{position}]"
        try:
            head, texts = _image(item, place, places)
        except BadItemError as error:
            yield Problem(str(path), place, str(error))
            continue
        yield from image_or_problems(str(path), place, head, texts)


def _image(
    item: object, place: str, places: dict[str, str]
) -> tuple[Head, list[tuple[str, object]]]:
    if not isinstance(item, dict):
        raise BadItemError("this is not an image: it must be an object with filename and sentences")
    sentences = item.get("sentences", [])
    if not isinstance(sentences, list):
        raise BadItemError("`sentences` is not a list")
    split = check_split(item.get("split"))
    name, filename = claim_name(item.get("filename"), place, places)
    texts = [
        (f"{place}.sentences[{number}]", entry.get("raw") if isinstance(entry, dict) else None)
        for number, entry in enumerate(sentences)
    ]
    return Head(name, filename, split), texts
