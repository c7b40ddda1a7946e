"""Word vectors trained on the captions themselves, if no others are available."""

from collections.abc import Sequence

import numpy
from gensim.models import Word2Vec
from gensim.models.callbacks import CallbackAny2Vec

from grounding.pipeline.progress import Report, silent
from grounding.pipeline.text.word_vectors import Tokens, WordVectors, WordVectorsError

# Skip-gram with negative sampling (Mikolov et al., 2013). Captions are few and short, so there are
# more rounds and fewer dimensions than for a large corpus.
DIMENSIONS = 100
WINDOW = 5
ROUNDS = 10
LEAST_COUNT = 2


class _Rounds(CallbackAny2Vec):  # type: ignore[misc]  # gensim has no types
    """Reports each round of the training."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._done = 0

    def on_epoch_end(self, model: Word2Vec) -> None:
        self._done += 1
        self._report("training word vectors", self._done, ROUNDS)


def train_word_vectors(
    captions: Sequence[Tokens],
    *,
    seed: int = 0,
    dimensions: int = DIMENSIONS,
    report: Report = silent,
) -> WordVectors:
    """Return vectors of the words that occur at least twice, in lower case.

    The same captions and seed give the same vectors: one worker, since several would race.
    """
    sentences = [[word.lower() for word in caption] for caption in captions]
    model = Word2Vec(
        vector_size=dimensions,
        window=WINDOW,
        min_count=LEAST_COUNT,
        sg=1,
        epochs=ROUNDS,
        seed=seed,
        workers=1,
    )
    model.build_vocab(sentences)
    if not len(model.wv):
        raise WordVectorsError(
            "no word occurs twice in the captions, too few to train vectors on; use other vectors"
        )
    model.train(
        sentences, total_examples=len(sentences), epochs=ROUNDS, callbacks=[_Rounds(report)]
    )
    return WordVectors(
        {word: row for row, word in enumerate(model.wv.index_to_key)},
        numpy.array(model.wv.vectors, dtype=numpy.float32),
    )
