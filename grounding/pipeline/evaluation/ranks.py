"""Ranks, recall and median rank of retrieval both ways, with bootstrap intervals.

The rank of a query is that of its best correct answer, from 1. Ties count against the system: a
wrong answer at the same distance as the best correct one ranks before it. So a system that gives
all answers the same distance gets the worst rank, not the best.
"""

from collections.abc import Sequence

import msgspec
import numpy
from numpy.typing import NDArray

from grounding.pipeline.arrays import Float32, Float64, Integers
from grounding.pipeline.evaluation.distances import MEMORY, Distances, image_rows, sentence_rows

RECALLS = (1, 5, 10)
# Equal distances may differ by a rounding error, depending on their place in a block.
_TIED = 1e-6


class Retrieval(msgspec.Struct, frozen=True):
    """Recalls in percent of the queries; `median_rank` from 1."""

    r1: float
    r5: float
    r10: float
    median_rank: float


class Ranks(msgspec.Struct, frozen=True, eq=False):
    """Ranks of all queries both ways: (images,) and (sentences,)."""

    image_to_sentence: Integers
    sentence_to_image: Integers


def rank_both_ways(
    distances: Distances, image_of_sentence: Sequence[int], *, memory: int = MEMORY
) -> Ranks:
    """Rank all sentences for each image and all images for each sentence.

    `image_of_sentence` (m,) is the number of the image that each sentence describes. An image
    without a sentence has no correct answer and so no rank: it is refused.
    """
    owners: Integers = numpy.asarray(image_of_sentence, dtype=numpy.int64)
    images, sentences = distances.shape
    if len(owners) != sentences:
        raise ValueError(f"{sentences} sentences, but {len(owners)} numbers of images")
    if set(owners.tolist()) != set(range(images)):
        raise ValueError("every image needs a sentence, and every sentence one of the images")
    by_image = numpy.empty(images, dtype=numpy.int64)
    for rows, block in image_rows(distances, memory):
        numbers = numpy.arange(rows.start, rows.stop)
        by_image[rows] = [
            rank(row, owners == number) for number, row in zip(numbers, block, strict=True)
        ]
    by_sentence = numpy.empty(sentences, dtype=numpy.int64)
    for rows, block in sentence_rows(distances, memory):
        best = numpy.take_along_axis(block, owners[rows, None], axis=1)
        # The correct image counts itself, so ranks start at 1.
        by_sentence[rows] = (block <= _limit(best)).sum(axis=1)
    return Ranks(by_image, by_sentence)


def rank(distances: Float32, correct: NDArray[numpy.bool_]) -> int:
    """Return the rank of the best correct answer: 1 + the wrong ones that are no further away.

    All distances must be finite; `image_rows` and `sentence_rows` ensure that.

    >>> rank(numpy.float32([0.3, 0.1, 0.2, 0.2]), numpy.array([False, False, True, False]))
    3
    """
    limit = _limit(distances[correct].min())
    return 1 + int(numpy.count_nonzero(distances[~correct] <= limit))


def _limit(best: Float32) -> Float32:
    return best * numpy.float32(1 + _TIED)


def recall(ranks: Integers, most: int) -> float:
    """Return R@most: the percentage of queries whose rank is at most `most`."""
    return 100 * float((ranks <= most).mean())


def retrieval(ranks: Integers) -> Retrieval:
    """Return R@1, R@5, R@10 and the median rank."""
    r1, r5, r10 = (recall(ranks, most) for most in RECALLS)
    return Retrieval(r1, r5, r10, float(numpy.median(ranks)))


def by_chance(candidates: int, correct: int) -> Retrieval:
    """Return the figures of a random order, with `correct` right answers among `candidates`."""
    # P(rank > k) = P(none of the first k is correct), drawn without replacement.
    beyond = numpy.ones(candidates + 1)
    for k in range(1, candidates + 1):
        beyond[k] = beyond[k - 1] * max(0, candidates - correct - k + 1) / (candidates - k + 1)
    r1, r5, r10 = (100 * (1 - float(beyond[min(most, candidates)])) for most in RECALLS)
    return Retrieval(r1, r5, r10, float(numpy.argmax(beyond <= 0.5 + 1e-9)))


class Interval(msgspec.Struct, frozen=True):
    """The true value lies between `low` and `high` in `level` of all cases."""

    low: float
    high: float


def bootstrap(
    ranks: Integers,
    images: Sequence[int],
    *,
    seed: int = 0,
    repeats: int = 1000,
    level: float = 0.95,
) -> dict[str, Interval]:
    """Return percentile intervals for r1, r5, r10 and median_rank.

    Whole images are resampled (Efron, 1979), with all queries of each, because five captions of one
    image are not five independent queries. `images` (n,) is the number of the image of each query.
    The candidates stay the same.
    """
    drawn = _draws(images, seed, repeats)
    order = numpy.argsort(ranks, kind="stable")
    values: dict[str, Float64] = {
        f"r{most}": 100 * drawn @ (ranks <= most) / drawn.sum(axis=1) for most in RECALLS
    }
    running = numpy.cumsum(drawn[:, order], axis=1)
    half = (running >= running[:, -1:] / 2).argmax(axis=1)
    values["median_rank"] = ranks[order][half].astype(numpy.float64)
    tails = [(1 - level) / 2, (1 + level) / 2]
    return {
        name: Interval(*(float(q) for q in numpy.quantile(value, tails)))
        for name, value in values.items()
    }


def paired_difference(
    ranks: Integers,
    others: Integers,
    images: Sequence[int],
    most: int,
    *,
    seed: int = 0,
    repeats: int = 1000,
    level: float = 0.95,
) -> tuple[float, Interval, float]:
    """Compare two systems on the same queries: R@most of the first minus that of the second.

    Returns the difference in points, its interval, and p: twice the share of bootstrap samples in
    which the difference has the other sign, a two-sided test.
    """
    gains = 100.0 * ((ranks <= most).astype(numpy.int64) - (others <= most))
    drawn = _draws(images, seed, repeats)
    differences = drawn @ gains / drawn.sum(axis=1)
    tails = numpy.quantile(differences, [(1 - level) / 2, (1 + level) / 2])
    either = min(float((differences <= 0).mean()), float((differences >= 0).mean()))
    return float(gains.mean()), Interval(float(tails[0]), float(tails[1])), min(1.0, 2 * either)


def _draws(images: Sequence[int], seed: int, repeats: int) -> Float64:
    """Return how often each query is in each sample: (repeats, n)."""
    _, numbers = numpy.unique(numpy.asarray(images), return_inverse=True)
    count = int(numbers.max()) + 1
    random = numpy.random.default_rng(seed)
    drawn = random.multinomial(count, numpy.full(count, 1 / count), size=repeats)
    times: Float64 = drawn[:, numbers].astype(numpy.float64)
    return times
