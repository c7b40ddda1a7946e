"""Fisher vectors against the formula written out, and the mixture they rest on."""

import math
from pathlib import Path

import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grounding.pipeline.arrays import ArrayFileError, Float32, Float64, write_arrays
from grounding.pipeline.text.features import (
    TextEncoder,
    fisher_encoder,
    mean_encoder,
    vocabulary_of,
    word_coverage,
)
from grounding.pipeline.text.mixture import Mixture, fit_mixture
from grounding.pipeline.text.word_vectors import WordVectors

WORDS = ("a", "dog", "in", "field", "barking", "at", "cat", "man")


def vectors_of(seed: int, dimensions: int) -> WordVectors:
    random = numpy.random.default_rng(seed)
    matrix = random.standard_normal((len(WORDS), dimensions)).astype(numpy.float32)
    return WordVectors({word: row for row, word in enumerate(WORDS)}, matrix)


def mixture_of(seed: int, centres: int, dimensions: int) -> Mixture:
    random = numpy.random.default_rng(seed)
    weights = random.uniform(0.1, 1, centres)
    return Mixture(
        weights / weights.sum(),
        random.standard_normal((centres, dimensions)),
        random.uniform(0.3, 2, (centres, dimensions)),
    )


def slow_fisher_vector(words: list[Float32], mixture: Mixture) -> Float64:
    """The formula, number by number."""
    centres, dimensions = mixture.means.shape
    gradient = [[0.0] * dimensions for _ in range(centres)]
    for x in words:
        joint = []
        for k in range(centres):
            density = float(mixture.weights[k])
            for j in range(dimensions):
                variance = float(mixture.variances[k, j])
                distance = (float(x[j]) - float(mixture.means[k, j])) ** 2
                density *= math.exp(-distance / (2 * variance)) / math.sqrt(2 * math.pi * variance)
            joint.append(density)
        for k in range(centres):
            posterior = joint[k] / sum(joint)
            for j in range(dimensions):
                deviation = math.sqrt(mixture.variances[k, j])
                step = posterior * (float(x[j]) - float(mixture.means[k, j])) / deviation
                gradient[k][j] += step / (len(words) * math.sqrt(mixture.weights[k]))
    flat = [math.copysign(math.sqrt(abs(z)), z) for row in gradient for z in row]
    length = math.sqrt(sum(z * z for z in flat))
    return numpy.array([z / length for z in flat])


@settings(max_examples=30, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    dimensions=st.integers(1, 5),
    centres=st.integers(1, 4),
    words=st.lists(st.sampled_from(WORDS), min_size=1, max_size=7),
)
def test_fisher_vectors_are_those_of_the_formula(
    seed: int, dimensions: int, centres: int, words: list[str]
) -> None:
    vectors, mixture = vectors_of(seed, dimensions), mixture_of(seed, centres, dimensions)
    [made] = TextEncoder(vectors, mixture).encode([words])
    wanted = slow_fisher_vector([vectors.matrix[vectors.rows[word]] for word in words], mixture)
    assert made.shape == (centres * dimensions,)
    assert numpy.allclose(made, wanted, atol=1e-4)


def test_words_without_vector_are_skipped_and_their_share_is_told() -> None:
    vectors = vectors_of(0, 3)
    encoder = TextEncoder(vectors, mixture_of(0, 2, 3))
    known, with_others, signs, none = encoder.encode(
        [["a", "dog"], ["a", "purple", "dog", "."], [".", ","], ["purple"]]
    )
    assert numpy.array_equal(known, with_others)
    assert not signs.any()
    assert not none.any()
    coverage = word_coverage([["A", "purple", "dog", "."], ["Purple", "cat"]], vectors)
    assert (coverage.words, coverage.missing) == (5, 2)
    assert (coverage.types, coverage.missing_types) == (4, 1)
    assert coverage.missing_share == pytest.approx(0.4)
    assert coverage.most_frequent_missing == (("purple", 2),)


def test_a_word_is_found_as_written_or_else_in_lower_case() -> None:
    vectors = WordVectors({"May": 0, "may": 1, "dog": 2}, numpy.eye(3, dtype=numpy.float32))
    assert [vectors.row(word) for word in ("May", "may", "MAY", "Dog", "cat")] == [0, 1, 1, 2, None]


def test_mean_pooling_is_the_mean() -> None:
    vectors = vectors_of(1, 4)
    [made] = mean_encoder(vectors).encode([["A", "dog", "xyz"]])
    assert numpy.allclose(made, vectors.matrix[:2].mean(axis=0))


def test_the_mixture_finds_clusters_that_are_there() -> None:
    random = numpy.random.default_rng(3)
    centres = numpy.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0]])
    spread = numpy.array([0.6, 1.0, 0.8])
    x = numpy.concatenate(
        [c + s * random.standard_normal((200, 2)) for c, s in zip(centres, spread, strict=True)]
    )
    mixture = fit_mixture(x, 3, seed=1)
    order = [int(((mixture.means - centre) ** 2).sum(axis=1).argmin()) for centre in centres]
    assert sorted(order) == [0, 1, 2]
    assert numpy.allclose(mixture.means[order], centres, atol=0.3)
    assert numpy.allclose(mixture.weights, 1 / 3, atol=0.02)
    assert numpy.allclose(mixture.variances[order].mean(axis=1), spread**2, rtol=0.3)


def test_the_same_seed_gives_the_same_mixture() -> None:
    x = numpy.random.default_rng(4).standard_normal((60, 5))
    one, again, other = (fit_mixture(x, 4, seed=seed) for seed in (7, 7, 8))
    assert numpy.array_equal(one.means, again.means)
    assert not numpy.array_equal(one.means, other.means)


def test_words_that_are_all_alike_give_numbers_all_the_same() -> None:
    mixture = fit_mixture(numpy.ones((5, 3)), 3)
    assert numpy.isfinite(mixture.posteriors(numpy.zeros((2, 3)))).all()
    with pytest.raises(ValueError, match="3 centres cannot be fitted to 2 words"):
        fit_mixture(numpy.ones((2, 3)), 3)


def test_one_centre_is_the_mean_and_as_many_centres_as_words_are_possible() -> None:
    x = numpy.random.default_rng(6).standard_normal((8, 3))
    one = fit_mixture(x, 1)
    assert numpy.allclose(one.means, x.mean(axis=0))
    assert numpy.allclose(one.variances, x.var(axis=0))
    assert fit_mixture(x, 8).means.shape == (8, 3)
    for centres in (0, -1, 9):
        with pytest.raises(ValueError, match=f"{centres} centres cannot be fitted to 8 words"):
            fit_mixture(x, centres)


def test_the_mixture_is_fitted_on_types_not_on_tokens() -> None:
    vectors = vectors_of(5, 3)
    often = vocabulary_of([["a", "dog"]] * 100 + [["in", "a", "field", "at", "."]])
    once = vocabulary_of([["a", "dog", "in", "field", "at"]])
    one, other = (fisher_encoder(vectors, words, centres=2) for words in (often, once))
    assert one.mixture is not None
    assert other.mixture is not None
    assert numpy.array_equal(one.mixture.means, other.mixture.means)
    assert one.dimensions == 6


def test_few_words_make_few_centres() -> None:
    encoder = fisher_encoder(vectors_of(6, 3), {"dog", "cat", "unicorn"}, centres=30)
    assert encoder.dimensions == 6
    with pytest.raises(ValueError, match="no word of the training captions"):
        fisher_encoder(vectors_of(6, 3), {"unicorn"})


@pytest.mark.parametrize("mixture", [None, mixture_of(2, 3, 4)], ids=["mean", "fisher"])
def test_an_encoder_read_from_its_file_encodes_the_same(
    tmp_path: Path, mixture: Mixture | None
) -> None:
    encoder = TextEncoder(vectors_of(1, 4), mixture)
    encoder.write(tmp_path / "encoder.npz")
    captions = [("A", "dog"), ("unheard", "of"), WORDS]
    again = TextEncoder.read(tmp_path / "encoder.npz")
    assert numpy.array_equal(again.encode(captions), encoder.encode(captions))
    assert (again.mixture is None) == (mixture is None)


def test_half_a_mixture_is_none(tmp_path: Path) -> None:
    vectors = vectors_of(1, 4)
    arrays = {"words": numpy.array(WORDS), "rows": numpy.arange(8), "matrix": vectors.matrix}
    write_arrays(tmp_path / "encoder.npz", arrays | {"means": numpy.zeros((2, 4))})
    with pytest.raises(ArrayFileError, match="has no array weights, variances"):
        TextEncoder.read(tmp_path / "encoder.npz")
