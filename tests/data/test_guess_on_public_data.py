"""Guessed answer keys against the public ones: about as much is to be asked."""

from collections import Counter
from pathlib import Path

import pytest

from annotation.pipeline.corpus.corpus_image import (
    annotation_of,
    captions_of,
    mentions_of_sentences,
)
from annotation.pipeline.engine import begin
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.release.folder import image_ids, read_image
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import TYPICAL, Crowd
from annotation.simulation.guess import guess_annotation
from annotation.simulation.work import work_in_memory

pytestmark = pytest.mark.slow


def test_a_guess_leads_to_about_as_many_judgments_as_the_key(public_dataset: Path) -> None:
    crowd = Crowd(list(range(1, 31)), TYPICAL, 1)
    with_key: Counter[Stage] = Counter()
    with_guess: Counter[Stage] = Counter()
    for name in image_ids(public_dataset, "val")[:150]:
        image = read_image(public_dataset, name)
        captions = captions_of(image.sentences)
        mentions = mentions_of_sentences(image.sentences)
        width, height = image.width, image.height
        guess = guess_annotation(captions, mentions, width=width, height=height, seed=name)
        state = begin(captions, mentions, width=width, height=height, settings=Settings())
        for annotation, count in ((annotation_of(image), with_key), (guess, with_guess)):
            _, given = work_in_memory(state, AnswerKey(annotation), crowd, name, Settings())
            count.update(judgment.question.stage for judgment in given)
    assert with_guess.total() == pytest.approx(with_key.total(), rel=0.1)
    for stage in Stage:
        assert with_guess[stage] == pytest.approx(with_key[stage], rel=0.15), stage
