"""The importer of a release like Flickr30k Entities."""

from pathlib import Path

import pytest

from annotation.pipeline.corpus.importers import (
    CorpusError,
    CorpusImage,
    Problem,
    read_corpus,
)
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.release.folder import (
    write_unrelated,
)
from tests.unit.corpus.corpus_files import make_release, read, texts


def test_entities(tmp_path: Path) -> None:
    images = list(read_corpus(make_release(tmp_path), "entities", with_annotation=True))
    assert all(isinstance(image, CorpusImage) for image in images)
    third, _, second = (image for image in images if isinstance(image, CorpusImage))
    assert (third.name, third.filename, third.split) == ("3", "3.png", "train")
    assert (second.name, second.split) == ("2", "val")
    assert (third.width, third.height, third.depth) == (50, 40, 1)
    assert texts(third) == ["A man sits", "It rains"]
    assert third.mentions == (
        Mention(1, 1, 0, 2, ("people",)),
        Mention(2, 2, 0, 1, ("notvisual",)),
    )
    assert third.annotation is not None
    assert [chain.mentions for chain in third.annotation.chains] == [(1,), ()]
    assert third.annotation.boxes[0].rect == Rect(1, 1, 9, 9)
    assert third.annotation.unrelated == ()
    assert second.annotation is not None
    assert second.annotation.unrelated == (2,)


def test_entities_without_annotation(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    (folder / "Annotations" / "1.xml").unlink()
    (folder / "Annotations" / "2.xml").write_text("nonsense")
    images, problems = read(folder, "entities")
    assert problems == []
    assert [(image.name, image.filename, image.width) for image in images] == [
        ("3", "3.png", 50),
        ("1", "1.jpg", 0),
        ("2", "2.jpg", 0),
    ]
    assert [(image.height, image.depth) for image in images[1:]] == [(0, 3), (0, 3)]
    assert all(image.annotation is None and image.mentions for image in images)


def test_entities_with_bad_files(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    (folder / "Annotations" / "1.xml").unlink()
    (folder / "Sentences" / "3.txt").write_text("A man\nA [/EN#1/people dog\n")
    write_unrelated(folder, {"2": [3]})
    items = list(read_corpus(folder, "entities", with_annotation=True))
    assert items == [
        Problem(
            str(folder / "Sentences" / "3.txt"),
            "line 2",
            "the phrase “[/EN#1/people” is never closed",
        ),
        Problem(str(folder / "Annotations" / "1.xml"), "", "the file is missing"),
        Problem(
            str(folder / "Sentences" / "2.txt"),
            "",
            "UNRELATED_CAPTIONS names caption 3, but the image has 2",
        ),
    ]


@pytest.mark.parametrize(
    ("content", "place", "why"),
    [
        ("A man\nA\x01man\n", "line 2", "the caption contains the control character U+0001"),
        ("A " * 2000 + "man\n", "line 1", "the caption has 2,001 tokens"),
        ("A man\n" * 101, "", "image 1 has 101 captions"),
        ("", "", "the file has no caption"),
    ],
)
def test_entities_captions_are_checked(tmp_path: Path, content: str, place: str, why: str) -> None:
    (tmp_path / "Sentences").mkdir()
    (tmp_path / "Sentences" / "1.txt").write_text(content)
    images, [(found, reason)] = read(tmp_path, "entities")
    assert (images, found) == ([], place)
    assert why in reason


def test_entities_with_bad_split_file(tmp_path: Path) -> None:
    folder = make_release(tmp_path)
    (folder / "val.txt").write_text("2\n3\n")
    with pytest.raises(CorpusError, match=r"val\.txt, line 2: image 3 is already listed"):
        list(read_corpus(folder, "entities"))
