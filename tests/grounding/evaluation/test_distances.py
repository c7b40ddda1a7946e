"""Equations 1 and 2 against loops, blocks against the whole, and the memory that they take."""

import tracemalloc

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.pipeline.arrays import Float32
from grounding.pipeline.embedding.cca import unit_rows
from grounding.pipeline.evaluation.distances import (
    Distances,
    ImageSentenceDistances,
    RegionPhraseDistances,
    WeightedDistances,
    image_rows,
    sentence_rows,
)
from grounding.pipeline.evaluation.ranks import rank_both_ways

some = settings(max_examples=30, deadline=None)


def units(random: numpy.random.Generator, *shape: int) -> Float32:
    rows = random.standard_normal((int(numpy.prod(shape[:-1])), shape[-1])).astype(numpy.float32)
    return unit_rows(rows).reshape(shape)


class Scene:
    """Random images with regions, and sentences with phrases, in spaces of six dimensions."""

    def __init__(self, seed: int, images: int = 5, each: int = 2, regions: int = 4) -> None:
        random = numpy.random.default_rng(seed)
        self.images = units(random, images, 6)
        self.sentences = units(random, images * each, 6)
        self.regions = units(random, images, regions, 6)
        self.lengths = [int(n) for n in random.integers(1, 5, images * each)]
        self.phrases = units(random, sum(self.lengths), 6)
        self.owners = [sentence // each for sentence in range(images * each)]

    def weighted(self, alpha: float, gamma: float) -> Distances:
        return WeightedDistances(
            ImageSentenceDistances(self.images, self.sentences),
            RegionPhraseDistances(self.regions, self.phrases, self.lengths, gamma),
            alpha,
        )

    def slow(self, alpha: float, gamma: float) -> Float32:
        """Equations 1 and 2, term by term."""
        table = numpy.zeros((len(self.images), len(self.sentences)), dtype=numpy.float32)
        for image in range(len(self.images)):
            start = 0
            for sentence, length in enumerate(self.lengths):
                total = 0.0
                for phrase in self.phrases[start : start + length]:
                    total += min(((phrase - r) ** 2).sum() for r in self.regions[image])
                start += length
                whole = ((self.images[image] - self.sentences[sentence]) ** 2).sum()
                table[image, sentence] = alpha * whole + (1 - alpha) * total / length**gamma
        return table


def whole(distances: Distances) -> Float32:
    return distances.block(slice(None), slice(None))


@some
@given(
    seed=st.integers(0, 10**6),
    alpha=st.sampled_from([0.0, 0.3, 0.7, 1.0]),
    gamma=st.sampled_from([1.0, 1.5, 2.0]),
)
def test_equations_1_and_2_are_those_of_the_loops(seed: int, alpha: float, gamma: float) -> None:
    scene = Scene(seed)
    assert numpy.allclose(whole(scene.weighted(alpha, gamma)), scene.slow(alpha, gamma), atol=1e-5)


@some
@given(seed=st.integers(0, 10**6), memory=st.integers(1, 4000))
def test_blocks_give_the_same_as_the_whole(seed: int, memory: int) -> None:
    scene = Scene(seed)
    distances = scene.weighted(0.7, 1.5)
    table = whole(distances)
    by_image = numpy.concatenate([block for _, block in image_rows(distances, memory)])
    by_sentence = numpy.concatenate([block for _, block in sentence_rows(distances, memory)])
    assert numpy.allclose(by_image, table, atol=1e-6)
    assert numpy.allclose(by_sentence, table.T, atol=1e-6)
    one = rank_both_ways(distances, scene.owners, memory=memory)
    other = rank_both_ways(distances, scene.owners)
    assert numpy.array_equal(one.image_to_sentence, other.image_to_sentence)
    assert numpy.array_equal(one.sentence_to_image, other.sentence_to_image)


@some
@given(seed=st.integers(0, 10**6), gamma=st.floats(1, 3))
def test_without_whole_images_gamma_cannot_change_which_image_a_sentence_finds(
    seed: int, gamma: float
) -> None:
    """At α = 0 it divides all distances of a sentence by the same number."""
    scene = Scene(seed)
    plain = rank_both_ways(scene.weighted(0.0, 1.0), scene.owners)
    other = rank_both_ways(scene.weighted(0.0, gamma), scene.owners)
    assert numpy.array_equal(plain.sentence_to_image, other.sentence_to_image)


def test_gamma_does_change_which_sentence_an_image_finds() -> None:
    scene = Scene(1, images=20)
    plain = rank_both_ways(scene.weighted(0.0, 1.0), scene.owners)
    other = rank_both_ways(scene.weighted(0.0, 2.0), scene.owners)
    assert not numpy.array_equal(plain.image_to_sentence, other.image_to_sentence)


def test_no_more_memory_than_the_budget() -> None:
    scene = Scene(2, images=100, each=5, regions=20)
    distances = scene.weighted(0.7, 1.5)
    budget = 400_000
    # All at once, the phrases' distances to the regions alone would take 10 MB.
    assert 4 * len(scene.phrases) * 100 * 20 > 20 * budget
    tracemalloc.start()
    try:
        for _ in image_rows(distances, budget):
            pass
        for _ in sentence_rows(distances, budget):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # The block before is let go only when the next one is there.
    assert peak < 1.5 * budget + 100_000


def test_what_is_taken_at_once_fits_into_half_of_the_memory() -> None:
    """The other half is for making it. A row of 5 or 10 distances takes 20 or 40 bytes."""
    scene = Scene(5, images=10, each=1)
    distances = ImageSentenceDistances(scene.images, scene.sentences[:5])
    for memory, images, sentences in ((2 * 60, 3, 1), (2 * 60 - 2, 2, 1), (2 * 80, 4, 2)):
        assert next(image_rows(distances, memory))[0] == slice(0, images)
        assert next(sentence_rows(distances, memory))[0] == slice(0, sentences)
        assert [rows.start for rows, _ in image_rows(distances, memory)] == [*range(0, 10, images)]


def test_what_a_distance_takes_while_it_is_made() -> None:
    scene = Scene(6, images=3, each=1, regions=7)
    distances = RegionPhraseDistances(scene.regions, scene.phrases[:5], [1, 3, 1])
    # For each phrase of the longest sentence: its distances to seven regions and to the nearest;
    # and the sum in float32, in float64 and as it is given back.
    assert distances.cell_bytes() == 3 * (7 * 4 + 4) + (4 + 8 + 4)
    none = RegionPhraseDistances(scene.regions, scene.phrases[:0], [])
    assert none.cell_bytes() == (7 * 4 + 4) + (4 + 8 + 4)


def test_a_region_given_twice_changes_nothing() -> None:
    scene = Scene(3)
    plain = RegionPhraseDistances(scene.regions, scene.phrases, scene.lengths)
    padded = numpy.concatenate([scene.regions, scene.regions[:, :2]], axis=1)
    assert numpy.allclose(
        whole(plain), whole(RegionPhraseDistances(padded, scene.phrases, scene.lengths)), atol=1e-6
    )


def test_what_does_not_fit_together_is_refused() -> None:
    scene = Scene(4)
    with pytest.raises(ValueError, match="sentence 1 has no phrase"):
        RegionPhraseDistances(scene.regions, scene.phrases, [1, 0])
    with pytest.raises(ValueError, match="have 2 phrases, but"):
        RegionPhraseDistances(scene.regions, scene.phrases, [1, 1])
    with pytest.raises(ValueError, match="cannot be weighted"):
        WeightedDistances(
            ImageSentenceDistances(scene.images, scene.sentences),
            ImageSentenceDistances(scene.images, scene.sentences[:3]),
        )
