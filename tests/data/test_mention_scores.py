"""Finding mentions, measured on the public dataset."""

from itertools import islice
from pathlib import Path

import pytest

from annotation.pipeline.captions import tokenise
from annotation.pipeline.mentions.chunker import MODEL_FILE
from annotation.pipeline.mentions.mention import MentionFinder
from annotation.pipeline.mentions.training import score, train
from annotation.pipeline.release.folder import Sentence, image_ids, read_sentences

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def val_sentences(public_dataset: Path) -> list[Sentence]:
    return [
        sentence
        for image in image_ids(public_dataset, "val")
        for sentence in read_sentences(public_dataset, image)
    ]


def test_shipped_model_on_the_val_captions(val_sentences: list[Sentence]) -> None:
    result = score(MentionFinder.load(), val_sentences)
    assert len(val_sentences) == 5000
    assert result.gold == 17_728
    assert result.f1 >= 0.97
    assert result.type_share >= 0.997
    assert result.visual_type_share >= 0.997


def test_public_captions_keep_their_tokens(val_sentences: list[Sentence]) -> None:
    changed = [s.tokens for s in val_sentences if tokenise(" ".join(s.tokens)) != s.tokens]
    # The few that are left are slips of the original, such as "B.." or "'slide".
    assert len(changed) <= 5


def test_training_is_deterministic_and_a_little_data_goes_far(
    public_dataset: Path, val_sentences: list[Sentence], tmp_path: Path
) -> None:
    lesson = [
        sentence
        for image in islice(image_ids(public_dataset, "train"), 600)
        for sentence in read_sentences(public_dataset, image)
    ]
    finder = train(lesson, tmp_path / "one")
    train(lesson, tmp_path / "two")
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert MODEL_FILE in names
    for name in names:
        one, two = (tmp_path / folder / name for folder in ("one", "two"))
        assert one.read_bytes() == two.read_bytes(), name

    result = score(finder, val_sentences)
    assert 0.92 <= result.f1 < 0.97
    assert result.type_share >= 0.95
