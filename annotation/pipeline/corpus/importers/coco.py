"""COCO captions: `{"images": [{"id", "file_name"}], "annotations": [{"image_id", "caption"}]}`."""

from collections.abc import Iterator
from pathlib import Path

from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem
from annotation.pipeline.corpus.importers.checks import (
    BadItemError,
    Head,
    check_size,
    claim_name,
    image_or_problems,
    mostly_good,
)
from annotation.pipeline.corpus.importers.json_items import read_items
from annotation.pipeline.release.model import shorten

_Key = int | str
# For each image id: the positions of its annotations, and their captions.
_Captions = dict[_Key, list[tuple[int, str]]]


def read(path: Path) -> Iterator[CorpusImage | Problem]:
    """Read the file twice: first its captions, which may be in any order, then its images."""
    file = str(path)
    captions: _Captions = {}
    for item in mostly_good(_annotations(path)):
        if isinstance(item, Problem):
            yield item
            continue
        position, key, caption = item
        captions.setdefault(key, []).append((position, caption))
    yield from mostly_good(_images(path, captions))
    for key, unknown in captions.items():
        for position, _ in unknown:
            yield Problem(file, f"annotations[{position}]", f"there is no image with id {key}")


def _annotations(path: Path) -> Iterator[tuple[int, _Key, str] | Problem]:
    for position, item in enumerate(read_items(path, "annotations.item")):
        try:
            key, caption = _annotation(item)
        except BadItemError as error:
            yield Problem(str(path), f"annotations[{position}]", str(error))
            continue
        yield position, key, caption


def _images(path: Path, captions: _Captions) -> Iterator[CorpusImage | Problem]:
    """Yield the images; their captions are taken out of `captions`."""
    file = str(path)
    names: dict[str, str] = {}
    positions: dict[_Key, int] = {}
    for position, item in enumerate(read_items(path, "images.item")):
        place = f"images[{position}]"
        try:
            key = _key(item, "id")
            if key in positions:
                raise BadItemError(f"image id {key} is used already, at images[{positions[key]}]")
            positions[key] = position
            found = captions.pop(key, [])
            head = _head(item, place, names)
        except BadItemError as error:
            yield Problem(file, place, str(error))
            continue
        texts: list[tuple[str, object]] = [(f"annotations[{n}]", text) for n, text in found]
        yield from image_or_problems(file, place, head, texts)


def _annotation(item: object) -> tuple[_Key, str]:
    key = _key(item, "image_id")
    caption = item.get("caption") if isinstance(item, dict) else None
    if not isinstance(caption, str):
        raise BadItemError("the caption text is missing")
    return key, caption


def _head(item: object, place: str, names: dict[str, str]) -> Head:
    assert isinstance(item, dict)  # it has an id
    width, height = check_size(item.get("width"), item.get("height"))
    name, filename = claim_name(item.get("file_name"), place, names)
    return Head(name, filename, width=width, height=height)


def _key(item: object, field: str) -> _Key:
    key = item.get(field) if isinstance(item, dict) else None
    if isinstance(key, bool) or not isinstance(key, int | str):
        given = "missing" if key is None else shorten(str(key))
        raise BadItemError(f"{field} must be a whole number or a text, but it is {given}")
    return key
