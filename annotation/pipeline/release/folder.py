"""The release format that existing readers accept: `Sentences/` and `Annotations/`.

The types here are the hand-over between annotation and everything that uses a finished dataset.
Files are written as UTF-8 with line feeds. Reading also accepts carriage returns before them, and
other white space round the elements of an annotation; of that, only an <object>'s indents are kept.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from annotation.pipeline.release.annotations import format_annotation, parse_annotation
from annotation.pipeline.release.model import (
    Annotation,
    Indents,
    Phrase,
    ReleasedBox,
    ReleasedImage,
    ReleaseError,
    Sentence,
    UnboxedChain,
    check_image_id,
    shorten,
)
from annotation.pipeline.release.sentences import format_sentence, parse_sentence
from common.files.whole import write_text

__all__ = [
    "SPLITS",
    "UNRELATED",
    "Annotation",
    "Indents",
    "Phrase",
    "ReleaseError",
    "ReleasedBox",
    "ReleasedImage",
    "Sentence",
    "UnboxedChain",
    "format_annotation",
    "format_sentence",
    "image_ids",
    "parse_annotation",
    "parse_sentence",
    "read_image",
    "read_release",
    "read_sentences",
    "read_splits",
    "read_unrelated",
    "write_image",
    "write_splits",
    "write_unrelated",
]

SPLITS = ("train", "val", "test")
SENTENCES = "Sentences"
ANNOTATIONS = "Annotations"
UNRELATED = "UNRELATED_CAPTIONS"

# Bytes. An image's files are held in memory as a whole, and take many times their size.
LARGEST_SENTENCES = 4 * 2**20
LARGEST_ANNOTATION = 2**20
LARGEST_LIST = 8 * 2**20
LONGEST_SENTENCE = 200_000  # characters
MOST_SENTENCES = 1000
MOST_LISTED = 500_000
MOST_UNRELATED = 1000


def image_ids(directory: str | Path, split: str | None = None) -> list[str]:
    """Return the ids of a release's images, in the order of its split file.

    Without `split`: those of train, val and test in turn, or, where a release has no split files,
    those of its Sentences files in alphabetical order.
    """
    sentences = Path(directory) / SENTENCES
    if not sentences.is_dir():
        why = f"this is not a release: it has no folder {SENTENCES}"
        raise ReleaseError(why, file=str(directory))
    splits = read_splits(directory)
    if split is not None:
        if split not in splits:
            raise ReleaseError(f"the release has no {split}.txt", file=str(directory))
        return list(splits[split])
    if splits:
        return [image for images in splits.values() for image in images]
    names = sorted(entry.name for entry in os.scandir(sentences))
    stems = [name[: -len(".txt")] for name in names if name.endswith(".txt") and name[0] != "."]
    try:
        return sorted(check_image_id(stem) for stem in stems)
    except ReleaseError as error:
        raise error.located(str(sentences)) from None


def read_splits(directory: str | Path) -> dict[str, tuple[str, ...]]:
    """Return the image ids of each split that the release has, in the order train, val, test."""
    splits: dict[str, tuple[str, ...]] = {}
    split_of: dict[str, str] = {}
    for split in SPLITS:
        path = Path(directory) / f"{split}.txt"
        if not path.exists():
            continue
        images = []
        for number, line in _entries(path):
            image = _located(path, number, line)
            if image in split_of:
                raise ReleaseError(
                    f"image {image} is already listed in {split_of[image]}.txt",
                    file=str(path),
                    line=number,
                )
            split_of[image] = split
            images.append(image)
        splits[split] = tuple(images)
    return splits


def read_unrelated(directory: str | Path) -> dict[str, tuple[int, ...]]:
    """Return, per image, the numbers (from 1) of its captions that do not describe it."""
    path = Path(directory) / UNRELATED
    # Numbers are the keys of a dictionary: each once, in their order.
    unrelated: dict[str, dict[int, None]] = {}
    if not path.exists():
        return {}
    for number, line in _entries(path):
        parts = line.split()
        if len(parts) != 2 or not re.fullmatch("[1-9][0-9]{0,8}", parts[1]):
            raise ReleaseError(
                f"expected an image id and a sentence number, found {shorten(line)}",
                file=str(path),
                line=number,
            )
        image, sentence = _located(path, number, parts[0]), int(parts[1])
        numbers = unrelated.setdefault(image, {})
        numbers[sentence] = None
        if len(numbers) > MOST_UNRELATED:
            raise ReleaseError(
                f"image {image} has more than {MOST_UNRELATED:,} captions here",
                file=str(path),
                line=number,
            )
    return {image: tuple(numbers) for image, numbers in unrelated.items()}


def read_sentences(directory: str | Path, image: str) -> tuple[Sentence, ...]:
    """Return an image's captions with their phrases. Needs no Annotations."""
    path = _sentences_path(directory, image)
    lines = _read(path, LARGEST_SENTENCES).split("\n")
    if lines[-1] == "":
        lines.pop()
    if not lines:
        raise ReleaseError("the file has no caption", file=path)
    if len(lines) > MOST_SENTENCES:
        raise ReleaseError(f"the file has more than {MOST_SENTENCES:,} captions", file=path)
    sentences = []
    for number, line in enumerate(lines, start=1):
        try:
            if len(line) > LONGEST_SENTENCE:
                raise ReleaseError(f"the caption has more than {LONGEST_SENTENCE:,} characters")
            sentences.append(parse_sentence(line.removesuffix("\r")))
        except ReleaseError as error:
            raise error.located(path, number) from None
    return tuple(sentences)


def read_image(directory: str | Path, image: str) -> ReleasedImage:
    """Return everything in the release about one image; both its files must exist."""
    sentences = read_sentences(directory, image)
    path = _annotation_path(directory, image)
    try:
        annotation = parse_annotation(_read(path, LARGEST_ANNOTATION))
    except ReleaseError as error:
        raise error.located(path) from None
    return ReleasedImage(
        image,
        annotation.filename,
        annotation.width,
        annotation.height,
        annotation.depth,
        sentences,
        annotation.boxes,
        annotation.unboxed,
    )


def read_release(directory: str | Path) -> Iterator[ReleasedImage]:
    """Yield the images of a release in the order of `image_ids`, one at a time."""
    images = image_ids(directory)
    return (read_image(directory, image) for image in images)


def write_image(directory: str | Path, image: ReleasedImage) -> None:
    """Write an image's two files; nothing is written if the image cannot be read back."""
    sentences_path = _sentences_path(directory, image.image)
    annotation_path = _annotation_path(directory, image.image)
    if not image.sentences:
        raise ReleaseError("the image has no caption", file=sentences_path)
    lines = []
    for number, sentence in enumerate(image.sentences, start=1):
        try:
            lines.append(format_sentence(sentence) + "\n")
        except ReleaseError as error:
            raise error.located(sentences_path, number) from None
    try:
        annotation = format_annotation(image)
    except ReleaseError as error:
        raise error.located(annotation_path) from None
    _write(sentences_path, "".join(lines))
    _write(annotation_path, annotation)


def write_splits(directory: str | Path, splits: Mapping[str, Sequence[str]]) -> None:
    """Write one file per split, an image id a line."""
    split_of: dict[str, str] = {}
    for split, images in splits.items():
        if split not in SPLITS:
            raise ReleaseError(f"{shorten(split)} is not a split; there are {', '.join(SPLITS)}")
        for image in images:
            if check_image_id(image) in split_of:
                raise ReleaseError(f"image {image} is in {split_of[image]} and again in {split}")
            split_of[image] = split
    for split, images in splits.items():
        _write(str(Path(directory) / f"{split}.txt"), "".join(f"{image}\n" for image in images))


def write_unrelated(directory: str | Path, unrelated: Mapping[str, Sequence[int]]) -> None:
    """Write which captions (numbered from 1) do not describe their image."""
    lines = ["# <image id> <sentence number>\n"]
    for image, numbers in unrelated.items():
        check_image_id(image)
        for number in numbers:
            if number < 1:
                raise ReleaseError(f"{number} is not a sentence number of image {image}")
            lines.append(f"{image} {number}\n")
    _write(str(Path(directory) / UNRELATED), "".join(lines))


def _sentences_path(directory: str | Path, image: str) -> str:
    return os.path.join(directory, SENTENCES, f"{check_image_id(image)}.txt")


def _annotation_path(directory: str | Path, image: str) -> str:
    return os.path.join(directory, ANNOTATIONS, f"{check_image_id(image)}.xml")


def _entries(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither empty nor a comment, with their numbers."""
    entries = 0
    for number, line in enumerate(_read(str(path), LARGEST_LIST).split("\n"), start=1):
        entry = line.strip()
        if entry and not entry.startswith("#"):
            entries += 1
            if entries > MOST_LISTED:
                why = f"the file has more than {MOST_LISTED:,} entries"
                raise ReleaseError(why, file=str(path), line=number)
            yield number, entry


def _located(path: Path, number: int, image: str) -> str:
    try:
        return check_image_id(image)
    except ReleaseError as error:
        raise error.located(str(path), number) from None


def _read(path: str, most: int) -> str:
    try:
        with open(path, "rb") as file:
            content = file.read(most + 1)
    except FileNotFoundError:
        raise ReleaseError("the file is missing", file=path) from None
    except OSError as error:
        raise ReleaseError(f"cannot be read: {error.strerror}", file=path) from error
    if len(content) > most:
        raise ReleaseError(f"the file is larger than {most // 2**20} MB", file=path)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ReleaseError("this is not UTF-8 text", file=path, line=line) from None


def _write(path: str, text: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    # Not synced: whoever writes a release waits once, for all of its many files.
    write_text(Path(path), text, sync=False)
