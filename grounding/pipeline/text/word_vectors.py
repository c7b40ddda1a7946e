"""Word vectors: a row of numbers for each word. `word_vectors_sources.py` loads them."""

from collections.abc import Mapping, Sequence

import msgspec
import numpy

from grounding.pipeline.arrays import Float32
from grounding.pipeline.errors import GroundingError

Tokens = Sequence[str]


class WordVectorsError(GroundingError):
    """Word vectors could not be loaded; the message names the source, the cause and a remedy."""


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


def checked(found: dict[str, Float32], dimensions: int, source: str) -> WordVectors:
    """Return the vectors as one matrix; raise if there are none, or if one is not finite."""
    if not found:
        raise WordVectorsError(
            f"{source}: it has no vector for any word of the captions; is it for their language?"
        )
    matrix = numpy.empty((len(found), dimensions), dtype=numpy.float32)
    for row, vector in enumerate(found.values()):
        matrix[row] = vector
    finite = numpy.isfinite(matrix).all(axis=1)
    if not finite.all():
        word = list(found)[int(numpy.argmin(finite))]
        raise WordVectorsError(
            f"{source}: the vector of “{word}” contains a value that is not a finite number"
        )
    return WordVectors({word: row for row, word in enumerate(found)}, matrix)
