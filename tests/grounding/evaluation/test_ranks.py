"""Ranks with ties, recall, chance, and what the intervals cover."""

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.pipeline.arrays import Float32
from grounding.pipeline.evaluation.distances import (
    ImageSentenceDistances,
    NotFiniteError,
    sentence_rows,
)
from grounding.pipeline.evaluation.ranks import (
    Retrieval,
    bootstrap,
    by_chance,
    paired_difference,
    rank_both_ways,
    retrieval,
)


class Table:
    """Distances that are given as they are."""

    def __init__(self, table: Float32) -> None:
        self.table = table

    @property
    def shape(self) -> tuple[int, int]:
        images, sentences = self.table.shape
        return images, sentences

    def block(self, images: slice, sentences: slice) -> Float32:
        return self.table[images, sentences].copy()

    def cell_bytes(self) -> int:
        return 4


@settings(max_examples=50, deadline=None)
@given(
    table=st.lists(st.lists(st.integers(0, 4), min_size=6, max_size=6), min_size=3, max_size=3),
    memory=st.integers(1, 300),
)
def test_ranks_are_those_of_counting(table: list[list[int]], memory: int) -> None:
    owners = [0, 0, 1, 1, 2, 2]
    ranks = rank_both_ways(Table(numpy.array(table, numpy.float32)), owners, memory=memory)
    for image in range(3):
        best = min(table[image][s] for s in range(6) if owners[s] == image)
        wrong = sum(table[image][s] <= best for s in range(6) if owners[s] != image)
        assert ranks.image_to_sentence[image] == 1 + wrong
    for sentence in range(6):
        own = table[owners[sentence]][sentence]
        wrong = sum(table[i][sentence] <= own for i in range(3) if i != owners[sentence])
        assert ranks.sentence_to_image[sentence] == 1 + wrong


def test_a_system_that_knows_nothing_gets_the_worst_rank() -> None:
    ranks = rank_both_ways(Table(numpy.ones((4, 8), numpy.float32)), [0, 0, 1, 1, 2, 2, 3, 3])
    assert ranks.image_to_sentence.tolist() == [7] * 4
    assert ranks.sentence_to_image.tolist() == [4] * 8


def test_the_same_caption_of_two_images_is_a_tie_wherever_it_stands() -> None:
    """Equal rows of a matrix product may differ in their last digit."""
    random = numpy.random.default_rng(0)
    sentence = random.standard_normal(333).astype(numpy.float32)
    images = random.standard_normal((30, 333)).astype(numpy.float32)
    sentences = numpy.tile(sentence, (30, 1))
    ranks = rank_both_ways(ImageSentenceDistances(images, sentences), range(30))
    assert set(ranks.image_to_sentence.tolist()) == {30}


def test_recall_in_percent_and_median_rank() -> None:
    assert retrieval(numpy.array([1, 2, 5, 6, 11, 12, 13, 40])) == Retrieval(
        r1=12.5, r5=37.5, r10=50.0, median_rank=8.5
    )


def test_chance_is_what_random_distances_get() -> None:
    random = numpy.random.default_rng(1)
    owners = numpy.repeat(numpy.arange(40), 5)
    found = []
    for _ in range(40):
        table = random.random((40, 200)).astype(numpy.float32)
        found.append(rank_both_ways(Table(table), owners.tolist()))
    forth = retrieval(numpy.concatenate([ranks.image_to_sentence for ranks in found]))
    back = retrieval(numpy.concatenate([ranks.sentence_to_image for ranks in found]))
    for measured, told in ((forth, by_chance(200, 5)), (back, by_chance(40, 1))):
        assert measured.r1 == pytest.approx(told.r1, abs=1.5)
        assert measured.r10 == pytest.approx(told.r10, abs=3)
        assert measured.median_rank == pytest.approx(told.median_rank, abs=2)
    exact = by_chance(40, 1)
    assert [exact.r1, exact.r5, exact.r10] == pytest.approx([2.5, 12.5, 25.0])
    assert exact.median_rank == 20


def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    random = numpy.random.default_rng(2)
    images = numpy.repeat(numpy.arange(60), 5)
    held = 0
    for trial in range(100):
        # The five captions of an image go right or wrong together: true R@1 is 50%.
        easy = numpy.repeat(random.random(60) < 0.5, 5)
        interval = bootstrap(numpy.where(easy, 1, 20), images.tolist(), seed=trial, repeats=200)
        held += interval["r1"].low <= 50 <= interval["r1"].high
    # 95 of 100 are expected; treating captions as independent would give about 60.
    assert 87 <= held <= 100


def test_intervals_of_all_figures_are_round_them() -> None:
    ranks = numpy.random.default_rng(3).geometric(0.1, 200)
    images = list(range(200))
    found, intervals = retrieval(ranks), bootstrap(ranks, images, seed=1)
    assert intervals == bootstrap(ranks, images, seed=1)
    for name, interval in intervals.items():
        assert interval.low <= getattr(found, name) <= interval.high
        assert interval.low < interval.high


def test_paired_comparison_sees_what_two_intervals_cannot() -> None:
    random = numpy.random.default_rng(4)
    ranks = random.integers(1, 21, 300)
    better = numpy.where(random.random(300) < 0.08, 1, ranks)
    difference, interval, p = paired_difference(better, ranks, list(range(300)), 5)
    assert difference > 2
    assert 0 < interval.low < difference < interval.high
    _, narrow, _ = paired_difference(better, ranks, list(range(300)), 5, level=0.5)
    assert interval.low < narrow.low < difference < narrow.high < interval.high
    assert p < 0.05
    own, other = bootstrap(better, list(range(300))), bootstrap(ranks, list(range(300)))
    assert own["r5"].low < other["r5"].high
    same, _, p = paired_difference(ranks, ranks, list(range(300)), 5)
    assert (same, p) == (0.0, 1.0)


@pytest.mark.parametrize("value", [numpy.nan, numpy.inf, -numpy.inf])
@pytest.mark.parametrize("memory", [1, 10**6])
@pytest.mark.parametrize("place", [(0, 0), (2, 3), (1, 5)])
def test_a_distance_that_is_no_finite_number_is_refused_by_name(
    value: float, memory: int, place: tuple[int, int]
) -> None:
    table = numpy.ones((3, 6), numpy.float32)
    table[place] = value
    wanted = f"distance of image {place[0]} to sentence {place[1]} is {value}, which cannot be"
    with pytest.raises(NotFiniteError, match=wanted):
        rank_both_ways(Table(table), [0, 0, 1, 1, 2, 2], memory=memory)
    with pytest.raises(NotFiniteError, match=wanted):
        list(sentence_rows(Table(table), memory))


def test_features_that_are_no_numbers_do_not_rank_first() -> None:
    """No comparison with nan is true: all ranks were 1 and R@1 was 100."""
    random = numpy.random.default_rng(3)
    images = random.standard_normal((4, 5)).astype(numpy.float32)
    sentences = images.copy()
    sentences[2, 1] = numpy.nan
    with pytest.raises(NotFiniteError, match="image 0 to sentence 2 is nan"):
        rank_both_ways(ImageSentenceDistances(images, sentences), range(4))


def test_images_without_sentence_are_refused() -> None:
    table = Table(numpy.ones((3, 2), numpy.float32))
    with pytest.raises(ValueError, match="every image needs a sentence"):
        rank_both_ways(table, [0, 1])
    with pytest.raises(ValueError, match="2 sentences, but 3"):
        rank_both_ways(table, [0, 1, 2])
