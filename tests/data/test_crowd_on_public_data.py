"""The protocol on the 1,000 val images of the public dataset, with simulated workers."""

from collections.abc import Iterator
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
from annotation.pipeline.release.folder import ReleasedImage, image_ids, read_image
from annotation.simulation.answer_key import AnswerKey
from annotation.simulation.crowd import PERFECT, TYPICAL, Crowd, Profile
from annotation.simulation.report import SimulationReport
from annotation.simulation.work import work_in_memory

pytestmark = pytest.mark.slow

WORKERS = list(range(1, 31))


def val_images(dataset: Path) -> Iterator[ReleasedImage]:
    for name in image_ids(dataset, "val"):
        yield read_image(dataset, name)


def simulate(images: Iterator[ReleasedImage], profile: Profile, seed: int) -> SimulationReport:
    settings, report = Settings(), SimulationReport()
    crowd = Crowd(WORKERS, profile, seed)
    for image in images:
        key = AnswerKey(annotation_of(image))
        state = begin(
            captions_of(image.sentences),
            mentions_of_sentences(image.sentences),
            width=image.width,
            height=image.height,
            settings=settings,
        )
        state, given = work_in_memory(state, key, crowd, image.image, settings)
        report.add(state, key, [judgment.question.stage for judgment in given], settings)
    print(report.render())
    return report


def test_a_perfect_crowd_finds_the_gold_again(public_dataset: Path) -> None:
    report = simulate(val_images(public_dataset), PERFECT, seed=0)
    assert report.images == report.finished == 1000
    assert report.chain_score.f1 >= 0.995
    assert report.box_scores[0.95].f1 >= 0.995
    assert report.per_image(Stage.LINKS) == pytest.approx(21.6, rel=0.05)
    assert report.all_pairs / report.images == pytest.approx(138, abs=1)
    assert report.review_share == 0


def test_a_typical_crowd_is_nearly_as_good_and_review_stays_small(public_dataset: Path) -> None:
    report = simulate(val_images(public_dataset), TYPICAL, seed=0)
    assert report.images == 1000
    assert report.review_share <= 0.03
    # Well below the perfect crowd and well above what single judgments would give (0.906, 0.824).
    assert 0.95 <= report.chain_score.f1 <= 0.99
    assert 0.93 <= report.box_scores[0.5].f1 <= 0.99
    assert report.box_scores[0.8].f1 <= report.box_scores[0.5].f1


def test_the_same_seed_gives_the_same_result(public_dataset: Path) -> None:
    def first(seed: int) -> str:
        images = (read_image(public_dataset, n) for n in image_ids(public_dataset, "val")[:40])
        return simulate(images, TYPICAL, seed).render()

    assert first(1) == first(1)
    assert first(1) != first(2)
