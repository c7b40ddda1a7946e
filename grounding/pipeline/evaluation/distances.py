"""Distances between images and sentences in embedded spaces: equations 1 and 2 of the paper.

    D_IS = ‖image − sentence‖²                                 (projected whole features)
    D_RP = 1/L^γ · Σ_{i=1…L} ‖p_i − r(p_i)‖²                   (1)
    D̂_IS = α D_IS + (1 − α) D_RP                               (2)

r(p_i) is the region of the image nearest to phrase i. All distances are computed block by block,
and no block takes more memory than its budget.
"""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy

from grounding.pipeline.arrays import Float32, Integers
from grounding.pipeline.errors import GroundingError

GAMMA = 1.5
ALPHA = 0.7
# The memory for one block of distances, including all intermediate arrays.
MEMORY = 256 * 1024 * 1024


class NotFiniteError(GroundingError):
    """A distance is not a finite number, so it cannot be ranked."""


class Distances(Protocol):
    """Distances of every image to every sentence; `shape` is (images, sentences)."""

    @property
    def shape(self) -> tuple[int, int]: ...

    def block(self, images: slice, sentences: slice) -> Float32:
        """Return the distances of some images to some sentences."""

    def cell_bytes(self) -> int:
        """Return the most memory that computing one cell of a block takes, in bytes."""


class ImageSentenceDistances:
    """D_IS: squared Euclidean distances. `images` (n, k), `sentences` (m, k)."""

    def __init__(self, images: Float32, sentences: Float32) -> None:
        self.images = images
        self.sentences = sentences

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.images), len(self.sentences)

    def block(self, images: slice, sentences: slice) -> Float32:
        return squared_distances(self.images[images], self.sentences[sentences])

    def cell_bytes(self) -> int:
        return 4


class RegionPhraseDistances:
    """D_RP, equation 1.

    `regions` (n, R, k): R regions of each of n images; if an image has fewer, repeat one of
    them, which does not change the nearest. `phrases` (P, k): those of all sentences, one sentence
    after the other; `lengths` (m,): how many each sentence has, at least 1.
    """

    def __init__(
        self, regions: Float32, phrases: Float32, lengths: Sequence[int], gamma: float = GAMMA
    ) -> None:
        self.regions = regions
        self.phrases = phrases
        self.lengths: Integers = numpy.asarray(lengths, dtype=numpy.int64)
        self.gamma = gamma
        if len(self.lengths) and self.lengths.min() < 1:
            raise ValueError(
                f"sentence {int(self.lengths.argmin())} has no phrase, and equation 1 needs one; "
                "use the whole sentence as its phrase"
            )
        if self.lengths.sum() != len(phrases):
            raise ValueError(
                f"the sentences have {self.lengths.sum()} phrases, but {len(phrases)} were given"
            )
        self.ends: Integers = numpy.cumsum(self.lengths)

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.regions), len(self.lengths)

    def block(self, images: slice, sentences: slice) -> Float32:
        lengths = self.lengths[sentences]
        starts = self.ends[sentences] - lengths
        if not len(lengths):
            return numpy.empty((len(self.regions[images]), 0), dtype=numpy.float32)
        phrases = self.phrases[starts[0] : starts[0] + lengths.sum()]
        regions = self.regions[images]
        count, per_image, size = regions.shape
        nearest = squared_distances(regions.reshape(-1, size), phrases)
        nearest = nearest.reshape(count, per_image, len(phrases)).min(axis=1)
        sums = numpy.add.reduceat(nearest, starts - starts[0], axis=1)
        result: Float32 = (sums / lengths**self.gamma).astype(numpy.float32)
        return result

    def cell_bytes(self) -> int:
        # Each cell comes from the distances of all regions to all phrases, and three copies of
        # its own: the nearest, their sum in float32 and in float64.
        longest = int(self.lengths.max()) if len(self.lengths) else 1
        return 4 * longest * (int(self.regions.shape[1]) + 1) + 16


class WeightedDistances:
    """D̂_IS, equation 2: α D_IS + (1 − α) D_RP."""

    def __init__(
        self, image_sentence: Distances, region_phrase: Distances, alpha: float = ALPHA
    ) -> None:
        if image_sentence.shape != region_phrase.shape:
            raise ValueError(
                f"distances of {image_sentence.shape} and of {region_phrase.shape} images and "
                "sentences cannot be weighted"
            )
        self.image_sentence = image_sentence
        self.region_phrase = region_phrase
        self.alpha = alpha

    @property
    def shape(self) -> tuple[int, int]:
        return self.image_sentence.shape

    def block(self, images: slice, sentences: slice) -> Float32:
        first = self.image_sentence.block(images, sentences)
        first *= numpy.float32(self.alpha)
        second = self.region_phrase.block(images, sentences)
        second *= numpy.float32(1 - self.alpha)
        first += second
        return first

    def cell_bytes(self) -> int:
        return self.image_sentence.cell_bytes() + self.region_phrase.cell_bytes()


def squared_distances(left: Float32, right: Float32) -> Float32:
    """Return ‖l − r‖² for all rows l of (n, k) and r of (m, k): shape (n, m)."""
    distances: Float32 = left @ right.T
    distances *= -2
    distances += numpy.einsum("ij,ij->i", left, left)[:, None]
    distances += numpy.einsum("ij,ij->i", right, right)
    # Rounding can make a distance of zero negative.
    return numpy.maximum(distances, 0, out=distances)


def image_rows(distances: Distances, memory: int = MEMORY) -> Iterator[tuple[slice, Float32]]:
    """Yield some images at a time, with their distances to all sentences: (some, sentences)."""
    images, sentences = distances.shape
    for rows in _slices(images, memory // 2, 4 * sentences):
        block = numpy.empty((rows.stop - rows.start, sentences), dtype=numpy.float32)
        inner = (rows.stop - rows.start) * distances.cell_bytes()
        for columns in _slices(sentences, memory // 2, inner):
            block[:, columns] = finite_block(distances, rows, columns)
        yield rows, block


def sentence_rows(distances: Distances, memory: int = MEMORY) -> Iterator[tuple[slice, Float32]]:
    """Yield some sentences at a time, with their distances to all images: (some, images)."""
    images, sentences = distances.shape
    for rows in _slices(sentences, memory // 2, 4 * images):
        block = numpy.empty((rows.stop - rows.start, images), dtype=numpy.float32)
        inner = (rows.stop - rows.start) * distances.cell_bytes()
        for columns in _slices(images, memory // 2, inner):
            block[:, columns] = finite_block(distances, columns, rows).T
        yield rows, block


def finite_block(distances: Distances, images: slice, sentences: slice) -> Float32:
    """Return the block; raise NotFiniteError, which names the distance, if one is not finite.

    No comparison with nan is true, so ranking by it would count as a perfect answer.
    """
    block = distances.block(images, sentences)
    finite = numpy.isfinite(block)
    if not finite.all():
        row, column = numpy.argwhere(~finite)[0].tolist()
        raise NotFiniteError(
            f"the distance of image {images.start + row} to sentence {sentences.start + column} is "
            f"{block[row, column]}, which cannot be ranked ({finite.size - finite.sum():,} of "
            f"{finite.size:,} in this block are not finite); look for values that are not finite "
            "in the features of both, and extract those again"
        )
    return block


def _slices(count: int, memory: int, each: int) -> Iterator[slice]:
    """Yield slices of as many items as fit into `memory` at `each` bytes an item; at least 1."""
    size = max(1, memory // max(1, each))
    return (slice(start, min(start + size, count)) for start in range(0, count, size))
