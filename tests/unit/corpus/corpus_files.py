"""Corpus files for tests of the importers, written and read."""

import json
from pathlib import Path

from hypothesis import HealthCheck, settings

from annotation.pipeline.corpus.importers import CorpusImage, Problem, read_corpus
from annotation.pipeline.geometry import Rect
from annotation.pipeline.release.folder import (
    Phrase,
    ReleasedBox,
    ReleasedImage,
    Sentence,
    UnboxedChain,
    write_image,
    write_splits,
    write_unrelated,
)

# The same folder serves all examples of a property: every example writes its file anew.
same_folder = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def write(folder: Path, content: str | bytes | object, name: str = "corpus") -> Path:
    path = folder / name
    if isinstance(content, str):
        content = content.encode()
    path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    return path


def read(path: Path, format: str) -> tuple[list[CorpusImage], list[tuple[str, str]]]:
    """Return the images, and the problems' places and reasons."""
    images: list[CorpusImage] = []
    problems: list[tuple[str, str]] = []
    for item in read_corpus(path, format):
        if isinstance(item, Problem):
            assert item.file.startswith(str(path))
            problems.append((item.place, item.why))
        else:
            images.append(item)
    return images, problems


def texts(image: CorpusImage) -> list[str]:
    assert [caption.number for caption in image.captions] == [*range(1, len(image.captions) + 1)]
    return [caption.text for caption in image.captions]


def make_release(folder: Path) -> Path:
    for name in ("1", "2", "3"):
        write_image(
            folder,
            ReleasedImage(
                image=name,
                filename=f"{name}.png",
                width=50,
                height=40,
                depth=1,
                sentences=(
                    Sentence(("A", "man", "sits"), (Phrase(0, 2, ("people",), 8),)),
                    Sentence(("It", "rains"), (Phrase(0, 1, ("notvisual",), 0),)),
                ),
                boxes=(ReleasedBox((8,), Rect(1, 1, 9, 9)),),
                unboxed=(UnboxedChain(9, scene=True, nobndbox=False),),
            ),
        )
    write_splits(folder, {"train": ["3", "1"], "val": ["2"]})
    write_unrelated(folder, {"2": [2]})
    return folder
