"""The image–sentence recipe on synthetic photos whose captions name their colours."""

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy
import pytest

from grounding.pipeline.arrays import Float32
from grounding.pipeline.embedding.covariances import Covariances
from grounding.pipeline.embedding.training_pass import gather_pairs
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.text.features import TextEncoder
from grounding.pipeline.text.word_vectors import WordVectors
from grounding.recipes.cca_settings import CcaSettings as Settings
from grounding.recipes.image_sentence import IMAGE_SENTENCE
from grounding.recipes.retrieval import Split, run, text_encoder

COLOURS = ("red", "green", "blue", "white", "black", "brown")
THINGS = ("dog", "cat", "man", "woman", "car", "ball", "hat", "tree")
SETTINGS = Settings(centres=3, ridges=(0.01, 1.0), powers=(0.0, 1.0), components=10)


class World:
    """Images of one to three coloured things; a feature is the sum over them."""

    def __init__(self, seed: int) -> None:
        self.random = numpy.random.default_rng(seed)
        self.looks = {
            word: self.random.standard_normal(40).astype(numpy.float32)
            for word in (*COLOURS, *THINGS)
        }
        meanings = self.random.standard_normal((len(self.looks), 12)).astype(numpy.float32)
        self.vectors = WordVectors({word: n for n, word in enumerate(self.looks)}, meanings)
        self.pictures: dict[str, Float32] = {}

    def split(self, name: str, images: int) -> Split:
        captions: dict[str, list[list[str]]] = {}
        for number in range(images):
            count = int(self.random.integers(1, 4))
            seen = [
                (str(self.random.choice(COLOURS)), str(self.random.choice(THINGS)))
                for _ in range(count)
            ]
            picture = sum((self.looks[word] for pair in seen for word in pair), numpy.float32(0))
            image = f"{name}{number}"
            self.pictures[image] = picture + self.random.normal(0, 0.5, 40).astype(numpy.float32)
            spoken = [["a", *pair, "."] for pair in seen]
            captions[image] = [list(chain(*spoken)), list(chain(*reversed(spoken)))]
        return Split(tuple(captions), captions)

    def features(self, images: Sequence[str]) -> Float32:
        return numpy.stack([self.pictures[image] for image in images])


def test_captions_are_found_far_above_chance() -> None:
    world = World(0)
    train, val, test = world.split("a", 400), world.split("b", 60), world.split("c", 60)
    reports: list[tuple[str, int, int]] = []
    result = run(
        train,
        val,
        test,
        world.features,
        world.vectors,
        SETTINGS,
        report=lambda *told: reports.append(told),
    )
    assert result.test is not None
    for scores in (result.val, result.test):
        assert scores.image_to_sentence.r10 > 3 * scores.image_to_sentence_chance.r10
        assert scores.sentence_to_image.r10 > 3 * scores.sentence_to_image_chance.r10
        assert scores.sentence_to_image.median_rank <= 5
        interval = scores.sentence_to_image_intervals["r10"]
        assert interval.low <= scores.sentence_to_image.r10 <= interval.high
    assert len(result.tried) == 8
    assert result.chosen.mean_recall == max(choice.mean_recall for choice in result.tried)
    # "a" has no vector here, and is one word of three.
    assert result.coverage.missing_share == pytest.approx(1 / 3)
    assert reports[0][0] == "fitting the mixture of words"
    assert tuple(dict.fromkeys(what for what, _, _ in reports)) == IMAGE_SENTENCE.stages
    assert ("gathering covariances", 400, 400) in reports
    assert reports[-1] == ("trying ridges and powers", 8, 8)


def test_the_same_run_twice_gives_the_same_and_no_test_split_none() -> None:
    world = World(1)
    train, val = world.split("a", 80), world.split("b", 20)
    one, again = (run(train, val, None, world.features, world.vectors, SETTINGS) for _ in range(2))
    assert one.val == again.val
    assert one.chosen == again.chosen
    assert one.test is None


def test_pairs_gathered_in_shards_are_those_of_the_whole() -> None:
    world = World(2)
    train = world.split("a", 50)
    encoder = text_encoder(train.texts(train.images), world.vectors, SETTINGS)
    whole = gather_pairs(train.pairs(), world.features, encoder)
    parts = [
        gather_pairs(Split(images, train.captions).pairs(), world.features, encoder)
        for images in (train.images[:13], train.images[13:40], train.images[40:])
    ]
    total = parts[0] + parts[1] + parts[2]
    assert total.count == whole.count == 100
    assert numpy.allclose(total.scatter_xy, whole.scatter_xy, atol=1e-3)


def test_parts_that_others_made_are_taken_and_the_rest_is_made() -> None:
    world = World(2)
    train, val = world.split("a", 50), world.split("b", 20)
    alone = run(train, val, None, world.features, world.vectors, SETTINGS, part_images=20)
    asked: list[tuple[str, ...]] = []

    def shared(parts: Sequence[Split], encoder: TextEncoder) -> Iterator[Covariances | None]:
        asked.extend(part.images for part in parts)
        for number, part in enumerate(parts):
            yield None if number == 1 else gather_pairs(part.pairs(), world.features, encoder)

    reports: list[tuple[str, int, int]] = []
    helped = run(
        train,
        val,
        None,
        world.features,
        world.vectors,
        SETTINGS,
        report=lambda *told: reports.append(told),
        part_images=20,
        shared=shared,
    )
    assert [len(images) for images in asked] == [20, 20, 10]
    assert tuple(chain(*asked)) == train.images
    assert helped.space.correlations == pytest.approx(alone.space.correlations, abs=1e-6)
    told = [done for what, done, total in reports if what == "gathering covariances"]
    assert told == [20, 40, 50]


def test_mean_pooling_works_too() -> None:
    world = World(3)
    settings = Settings(pooling="mean", ridges=(0.1,), powers=(1.0,))
    result = run(
        world.split("a", 300), world.split("b", 40), None, world.features, world.vectors, settings
    )
    assert result.encoder.dimensions == 12
    assert result.val.sentence_to_image.r10 > 2 * result.val.sentence_to_image_chance.r10


def test_what_is_missing_is_named() -> None:
    world = World(4)
    empty = Split((), {})
    with pytest.raises(GroundingError, match="no image of the split val can be used"):
        run(world.split("a", 5), empty, None, world.features, world.vectors, SETTINGS)
    with pytest.raises(GroundingError, match="unknown pooling “max”"):
        text_encoder([], world.vectors, Settings(pooling="max"))  # type: ignore[arg-type]
