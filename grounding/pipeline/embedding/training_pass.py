"""The pass over the training pairs: covariances of images or regions with their texts.

The pass can be cut into parts. Covariances add up, so other workers can gather some of the parts.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import repeat
from typing import Generic, NamedTuple, TypeVar

import numpy

from grounding.pipeline.arrays import Float32
from grounding.pipeline.embedding.covariances import Covariances, CovarianceSum
from grounding.pipeline.progress import Report, silent
from grounding.pipeline.text.features import TextEncoder
from grounding.pipeline.text.word_vectors import Tokens

GATHERING = "gathering covariances"
# An image usually has five captions: this is about one block of the covariances.
ITEMS_AT_ONCE = 800

Key = TypeVar("Key", bound=Hashable)
# Returns the features of images or regions, (n, d), in the order of their keys.
Features = Callable[[Sequence[Key]], Float32]


class Pairs(NamedTuple, Generic[Key]):
    """Images or regions by key, and the texts of each: one training pair for each text."""

    keys: Sequence[Key]
    texts: Sequence[Sequence[Tokens]]


def gather_parts(
    parts: Sequence[Pairs[Key]],
    made: Iterator[Covariances | None],
    features: Features[Key],
    encoder: TextEncoder,
    *,
    report: Report = silent,
    device: str | None = None,
) -> Covariances:
    """Add up the covariances of all parts, and gather those that nobody else has gathered.

    At most three sets are in memory: our sum, the sum of the others, and the next of theirs.
    Without helpers it is one.
    """
    total = sum(len(part.keys) for part in parts)
    ours = CovarianceSum(device)
    theirs: Covariances | None = None
    done = 0
    for part in parts:
        found = next(made, None)
        if found is None:
            for x, y, count in _blocks(part, features, encoder):
                ours.add(x, y)
                done += count
                report(GATHERING, done, total)
            continue
        theirs = found if theirs is None else theirs.absorb(found)
        del found  # frees its memory before the next is read
        done += len(part.keys)
        report(GATHERING, done, total)
    if theirs is None:
        return ours.result()
    return theirs.absorb(ours.result()) if ours.count else theirs


def gather_pairs(
    pairs: Pairs[Key], features: Features[Key], encoder: TextEncoder, device: str | None = None
) -> Covariances:
    """Gather the covariances of all pairs."""
    return gather_parts([pairs], repeat(None), features, encoder, device=device)


def _blocks(
    pairs: Pairs[Key], features: Features[Key], encoder: TextEncoder
) -> Iterator[tuple[Float32, Float32, int]]:
    for start in range(0, len(pairs.keys), ITEMS_AT_ONCE):
        keys = pairs.keys[start : start + ITEMS_AT_ONCE]
        texts = pairs.texts[start : start + ITEMS_AT_ONCE]
        x = numpy.repeat(features(keys), [len(some) for some in texts], axis=0)
        yield x, encoder.encode([text for some in texts for text in some]), len(keys)
