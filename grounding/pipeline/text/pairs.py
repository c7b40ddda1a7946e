"""Training pairs of regions and phrases, from the mentions of a release and their relations.

A mention with several boxes is paired with the smallest box round all of them (section 3.1), a
relation with the smallest box round the boxes of both its phrases.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy

from annotation.pipeline.release.folder import ReleasedImage, Sentence
from grounding.pipeline.boxes import Rect, rect_of, union
from grounding.pipeline.text.relations import (
    RelationFinder,
    Tokens,
    phrase_tokens,
    relation_tokens,
)


class RegionPhrase(NamedTuple):
    """A phrase of a caption of `image`, and the region that it is about."""

    image: str
    box: Rect
    tokens: Tokens

    @property
    def phrase(self) -> str:
        """The phrase in lower case: "A man" and "a man" are the same phrase."""
        return " ".join(self.tokens).lower()


def mention_pairs(image: ReleasedImage) -> list[RegionPhrase]:
    """Return a pair for each mention whose chain has a box."""
    regions = chain_regions(image)
    return [
        RegionPhrase(image.image, regions[phrase.chain], phrase_tokens(sentence, number))
        for sentence in image.sentences
        for number, phrase in enumerate(sentence.phrases)
        if phrase.chain in regions
    ]


def relation_pairs(image: ReleasedImage, relations_of: RelationFinder) -> list[RegionPhrase]:
    """Return the pairs that the relations between an image's mentions add.

    A relation needs a box for each of its phrases; otherwise its region is unknown.
    """
    regions = chain_regions(image)
    pairs = []
    for sentence in image.sentences:
        for relation in relations_of(sentence):
            chains = [sentence.phrases[number].chain for number in relation.phrases]
            if all(chain in regions for chain in chains):
                box = union(regions[chain] for chain in chains)
                pairs.append(RegionPhrase(image.image, box, relation_tokens(sentence, relation)))
    return pairs


def chain_regions(image: ReleasedImage) -> dict[int, Rect]:
    """Return for each chain that has boxes the smallest box round them."""
    boxes: dict[int, list[Rect]] = {}
    for box in image.boxes:
        for chain in box.chains:
            boxes.setdefault(chain, []).append(rect_of(box))
    return {chain: union(rects) for chain, rects in boxes.items()}


def resample(pairs: Sequence[RegionPhrase], most: int, *, seed: int) -> list[RegionPhrase]:
    """Return at most `most` random regions of each distinct phrase, in the order they came in.

    "A man" has thousands of regions and would outweigh all other phrases. If two captions use the
    same phrase for a region, they make one pair, not two.
    """
    if most < 1:
        raise ValueError(f"at most {most} regions of each phrase leaves none; give 1 or more")
    distinct: dict[tuple[str, Rect, str], RegionPhrase] = {}
    for pair in pairs:
        distinct.setdefault((pair.image, pair.box, pair.phrase), pair)
    pairs = list(distinct.values())
    numbers: dict[str, int] = {}
    phrases = numpy.array(
        [numbers.setdefault(pair.phrase, len(numbers)) for pair in pairs], dtype=numpy.int64
    )
    drawn = numpy.random.default_rng(seed).random(len(pairs))
    # Sorted by phrase, then by random number: the first few of each phrase are kept.
    order = numpy.lexsort((drawn, phrases))
    in_order = phrases[order]
    begins = numpy.searchsorted(in_order, in_order)
    kept = order[numpy.arange(len(pairs)) - begins < most]
    return [pairs[number] for number in numpy.sort(kept).tolist()]


def sentence_phrases(sentence: Sentence) -> list[Tokens]:
    """Return the phrases that represent a sentence in equation 1: its mentions, or the sentence
    itself if it has none, since an empty sum would be the smallest distance of all.
    """
    phrases = [phrase_tokens(sentence, number) for number in range(len(sentence.phrases))]
    return phrases or [sentence.tokens]
