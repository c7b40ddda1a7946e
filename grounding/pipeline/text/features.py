"""Features of sentences and phrases: Fisher vectors or means of their words' vectors.

The Fisher vector (Perronnin, Sánchez & Mensink, 2010; for words Klein et al., 2015) of words
x_1 … x_T under a mixture of K Gaussians, with the gradients of the means only:

    G_k = 1 / (T √w_k) · Σ_t γ_t(k) (x_t − μ_k) / σ_k          shape (K, d), flattened to K·d

then every number z becomes sign(z) √|z|, and the whole is scaled to length 1. With 300-d vectors
and 30 centres that is 9000 numbers.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import msgspec
import numpy

from grounding.pipeline.arrays import Float32, Floats, read_arrays, write_arrays
from grounding.pipeline.progress import Report, silent
from grounding.pipeline.text.mixture import Mixture, fit_mixture
from grounding.pipeline.text.word_vectors import Tokens, WordVectors

CENTRES = 30
_VECTORS, _MIXTURE = ("words", "rows", "matrix"), ("weights", "means", "variances")
_WORD = re.compile(r"\w")


class WordCoverage(msgspec.Struct, frozen=True):
    """How many words have no vector, among all tokens and among all distinct words."""

    words: int
    missing: int
    types: int
    missing_types: int
    most_frequent_missing: tuple[tuple[str, int], ...]

    @property
    def missing_share(self) -> float:
        return self.missing / self.words if self.words else 0.0


def is_word(token: str) -> bool:
    """Return whether a token is a word or a number; punctuation is left out."""
    return _WORD.search(token) is not None


def vocabulary_of(captions: Iterable[Tokens]) -> set[str]:
    """Return all words of `captions`, as they are written."""
    return {token for caption in captions for token in caption if is_word(token)}


def word_coverage(captions: Iterable[Tokens], vectors: WordVectors) -> WordCoverage:
    """Count the words of `captions`, in lower case, with and without a vector."""
    counts = Counter(token.lower() for caption in captions for token in caption if is_word(token))
    missing = Counter({word: n for word, n in counts.items() if vectors.row(word) is None})
    return WordCoverage(
        words=counts.total(),
        missing=missing.total(),
        types=len(counts),
        missing_types=len(missing),
        most_frequent_missing=tuple(missing.most_common(10)),
    )


class TextEncoder:
    """Turns sentences or phrases, given as tokens, into features of `dimensions` numbers."""

    def __init__(self, vectors: WordVectors, mixture: Mixture | None) -> None:
        """With a mixture: Fisher vectors. Without one: means."""
        self.vectors = vectors
        self.mixture = mixture
        self.dimensions = vectors.dimensions * (len(mixture.weights) if mixture else 1)
        if mixture is not None:
            # A word has the same posteriors in every caption.
            self._posteriors = mixture.posteriors(vectors.matrix)

    def write(self, path: str | Path) -> None:
        """Write the encoder to a file, so that another worker can encode in the same way."""
        words, rows = zip(*self.vectors.rows.items(), strict=True)
        arrays = {
            "words": numpy.array(words),
            "rows": numpy.array(rows, dtype=numpy.int64),
            "matrix": self.vectors.matrix,
        }
        if self.mixture is not None:
            arrays |= {name: getattr(self.mixture, name) for name in _MIXTURE}
        write_arrays(path, arrays)

    @classmethod
    def read(cls, path: str | Path) -> "TextEncoder":
        """Read what `write` wrote; raise ArrayFileError if the file is anything else."""
        found = read_arrays(path, _VECTORS, maybe=_MIXTURE)
        rows = dict(zip(found["words"].tolist(), found["rows"].tolist(), strict=True))
        mixture = Mixture(*(found[name] for name in _MIXTURE)) if "means" in found else None
        return cls(WordVectors(rows, found["matrix"]), mixture)

    def encode(self, captions: Sequence[Tokens]) -> Float32:
        """Return one row for each caption, (n, dimensions). It is zero without known words."""
        features = numpy.zeros((len(captions), self.dimensions), dtype=numpy.float32)
        for feature, caption in zip(features, captions, strict=True):
            rows = self.word_rows(caption)
            if rows:
                feature[:] = self._pooled(rows)
        return features

    def word_rows(self, caption: Tokens) -> list[int]:
        """Return the rows of the caption's words in the vectors; words without one are skipped."""
        found = (self.vectors.row(token) for token in caption if is_word(token))
        return [row for row in found if row is not None]

    def _pooled(self, rows: list[int]) -> Floats:
        x = self.vectors.matrix[rows]
        if self.mixture is None:
            mean: Floats = x.mean(axis=0)
            return mean
        gradient = mean_gradients(x, self._posteriors[rows], self.mixture)
        return normalised(gradient.reshape(-1))


def mean_gradients(x: Floats, posteriors: Floats, mixture: Mixture) -> Floats:
    """Return G_k for words x (T, d) with posteriors γ (T, K): shape (K, d)."""
    # Σ_t γ_t(k) (x_t − μ_k) = Σ_t γ_t(k) x_t − μ_k Σ_t γ_t(k)
    sums = posteriors.T @ x - posteriors.sum(axis=0)[:, None] * mixture.means
    scale = len(x) * numpy.sqrt(mixture.weights)[:, None] * numpy.sqrt(mixture.variances)
    gradients: Floats = sums / scale
    return gradients


def normalised(feature: Floats) -> Floats:
    """Return sign(z) √|z| of every number, scaled to length 1 (zeros stay zeros)."""
    powered: Floats = numpy.sign(feature) * numpy.sqrt(numpy.abs(feature))
    length = numpy.linalg.norm(powered)
    return powered / length if length > 0 else powered


def fisher_encoder(
    vectors: WordVectors,
    training_words: Collection[str],
    *,
    centres: int = CENTRES,
    seed: int = 0,
    report: Report = silent,
) -> TextEncoder:
    """Fit a mixture to the distinct `training_words`, and return an encoder to Fisher vectors.

    With fewer words than centres there are as many centres as words.
    """
    found = (vectors.row(word) for word in training_words)
    types = sorted({row for row in found if row is not None})
    if not types:
        raise ValueError("no word of the training captions has a vector; choose other word vectors")
    mixture = fit_mixture(vectors.matrix[types], min(centres, len(types)), seed=seed, report=report)
    return TextEncoder(vectors, mixture)


def mean_encoder(vectors: WordVectors) -> TextEncoder:
    """Return an encoder to the means of the words' vectors."""
    return TextEncoder(vectors, None)
