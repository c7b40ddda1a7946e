"""The contents of a release, counted as the paper counts them.

The rules, which reproduce the paper's Table 1 from the public files (see docs/statistics.md):

- A mention is a bracketed phrase with a chain; `notvisual` phrases are not mentions.
- A chain is any chain id other than 0 that either file of the image names.
- A chain has every type that any of its mentions has. It counts in full, with all its mentions
  and all its boxes, for each of them; a chain without a mention has no type.
- The last line of Table 1 divides the sums over its lines, so there a chain of two types counts
  twice; its number of chains counts every chain once.
- A box is an <object> with a rectangle, once however many chains it belongs to; "boxes of a type"
  and "boxes per chain" count it once for every chain.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from annotation.pipeline.mentions.mention import ENTITY_TYPES
from annotation.pipeline.release.folder import ReleasedImage

# Words before a chunk's head that describe nothing: without a tagger, all others are adjectives.
_NO_ADJECTIVES = """
    a an the this that these those his her its their my your our whose some any all both each every
    either neither another other others no several many few most more much such what which
    one two three four five six seven eight nine ten eleven twelve dozen dozens hundred couple
    first second third lot lots pair group of and or in on at with
"""
_IGNORED = frozenset(_NO_ADJECTIVES.split())
_WORD = re.compile(r"[^\W\d_](?:[\w'-]*\w)?")
# Supplement, charts C and D: how far the most frequent words carry.
TOP_WORDS = (10, 100, 1000)


class TypeStatistics(msgspec.Struct, frozen=True):
    """The counts of one entity type; `boxes` counts a box once for every chain of the type."""

    type: str
    images: int = 0
    chains: int = 0
    mentions: int = 0
    boxes: int = 0
    distinct_boxes: int = 0
    own_mentions: int = 0
    chains_with_one_box: int = 0
    chains_with_several_boxes: int = 0
    unboxed: int = 0

    @property
    def chains_without_box(self) -> int:
        return self.chains - self.chains_with_one_box - self.chains_with_several_boxes

    @property
    def annotations(self) -> int:
        """Boxes, and marks that a chain has none."""
        return self.boxes + self.unboxed


class TopWords(msgspec.Struct, frozen=True):
    """The `words` most frequent words: how often they occur, and how often with a box."""

    words: int
    occurrences: int
    boxed_occurrences: int


class WordCoverage(msgspec.Struct, frozen=True):
    """Distinct words and their occurrences in mentions; boxed: the mention's chain has a box."""

    words: int
    occurrences: int
    boxed_words: int
    boxed_occurrences: int
    top: tuple[TopWords, ...]


class DatasetStatistics(msgspec.Struct, frozen=True):
    """All counts of a release; shares and means are left to the reader of them."""

    images: int
    captions: int
    unrelated_captions: int
    mentions: int
    mentions_of_several_types: int
    mention_words: int
    notvisual_phrases: int
    chains: int
    chains_without_mention: int
    chains_without_object: int
    chains_of_several_types: int
    chains_with_several_mentions: int
    chains_with_one_box: int
    chains_with_several_boxes: int
    scene_only: int
    nobox_only: int
    scene_and_nobox: int
    neither_flag: int
    boxes: int
    boxes_of_several_chains: int
    types: tuple[TypeStatistics, ...]
    nouns: WordCoverage
    adjectives: WordCoverage

    @property
    def chains_without_box(self) -> int:
        return self.chains - self.chains_with_one_box - self.chains_with_several_boxes


def dataset_statistics(
    images: Iterable[ReleasedImage], *, unrelated: Mapping[str, tuple[int, ...]] | None = None
) -> DatasetStatistics:
    """Count a release in one pass; no image is kept."""
    counter = _Counter(unrelated or {})
    for image in images:
        counter.add(image)
    return counter.result()


def adjectives(tokens: tuple[str, ...]) -> list[str]:
    """Return a chunk's describing words, case-folded: those before its last, without determiners,
    numbers and signs.

    >>> adjectives(("Two", "young", ",", "White", "males"))
    ['young', 'white']
    """
    words = (token.casefold() for token in tokens[:-1])
    return [word for word in words if word not in _IGNORED and _WORD.fullmatch(word)]


class _Words:
    def __init__(self) -> None:
        self.all: Counter[str] = Counter()
        self.boxed: Counter[str] = Counter()

    def coverage(self) -> WordCoverage:
        # Ties by the word itself, so that one release always gives one report.
        ranked = sorted(self.all, key=lambda word: (-self.all[word], word))
        return WordCoverage(
            words=len(self.all),
            occurrences=self.all.total(),
            boxed_words=len(self.boxed),
            boxed_occurrences=self.boxed.total(),
            top=tuple(
                TopWords(
                    words=min(top, len(ranked)),
                    occurrences=sum(self.all[word] for word in ranked[:top]),
                    boxed_occurrences=sum(self.boxed[word] for word in ranked[:top]),
                )
                for top in TOP_WORDS
            ),
        )


class _Counter:
    def __init__(self, unrelated: Mapping[str, tuple[int, ...]]) -> None:
        self._unrelated = unrelated
        self._counts: Counter[str] = Counter()
        self._types: dict[str, Counter[str]] = {name: Counter() for name in ENTITY_TYPES}
        self._nouns = _Words()
        self._adjectives = _Words()

    def add(self, image: ReleasedImage) -> None:
        counts = self._counts
        counts["images"] += 1
        counts["captions"] += len(image.sentences)
        counts["unrelated_captions"] += len(self._unrelated.get(image.image, ()))
        boxes_of = Counter(chain for box in image.boxes for chain in box.chains)
        mentions_of, types_of = self._add_mentions(image, boxes_of)
        unboxed = {chain.chain for chain in image.unboxed}
        objects = boxes_of.keys() | unboxed
        for chain in objects | mentions_of.keys():
            mentions, boxes = mentions_of[chain], boxes_of[chain]
            types = types_of.get(chain, set())
            counts["chains"] += 1
            counts["chains_without_mention"] += mentions == 0
            counts["chains_without_object"] += chain not in objects
            counts["chains_with_several_mentions"] += mentions > 1
            counts["chains_of_several_types"] += len(types) > 1
            counts["chains_with_one_box"] += boxes == 1
            counts["chains_with_several_boxes"] += boxes > 1
            for name in types:
                of_type = self._types[name]
                of_type["chains"] += 1
                of_type["mentions"] += mentions
                of_type["boxes"] += boxes
                of_type["chains_with_one_box"] += boxes == 1
                of_type["chains_with_several_boxes"] += boxes > 1
                of_type["unboxed"] += chain in unboxed
        for name in {name for types in types_of.values() for name in types}:
            self._types[name]["images"] += 1
        self._add_objects(image, types_of)

    def _add_mentions(
        self, image: ReleasedImage, boxes_of: Mapping[int, int]
    ) -> tuple[Counter[int], dict[int, set[str]]]:
        counts = self._counts
        mentions_of: Counter[int] = Counter()
        types_of: dict[int, set[str]] = {}
        for sentence in image.sentences:
            for phrase in sentence.phrases:
                if phrase.chain == 0:
                    counts["notvisual_phrases"] += 1
                    continue
                tokens = sentence.tokens[phrase.start : phrase.end]
                counts["mentions"] += 1
                counts["mention_words"] += len(tokens)
                counts["mentions_of_several_types"] += len(phrase.types) > 1
                mentions_of[phrase.chain] += 1
                types_of.setdefault(phrase.chain, set()).update(phrase.types)
                for name in phrase.types:
                    self._types[name]["own_mentions"] += 1
                described = adjectives(tokens)
                head = tokens[-1].casefold()
                self._nouns.all[head] += 1
                self._adjectives.all.update(described)
                if phrase.chain in boxes_of:
                    self._nouns.boxed[head] += 1
                    self._adjectives.boxed.update(described)
        return mentions_of, types_of

    def _add_objects(self, image: ReleasedImage, types_of: Mapping[int, set[str]]) -> None:
        counts = self._counts
        counts["boxes"] += len(image.boxes)
        for box in image.boxes:
            counts["boxes_of_several_chains"] += len(box.chains) > 1
            for name in {name for chain in box.chains for name in types_of.get(chain, ())}:
                self._types[name]["distinct_boxes"] += 1
        for unboxed in image.unboxed:
            if unboxed.scene:
                counts["scene_and_nobox" if unboxed.nobndbox else "scene_only"] += 1
            else:
                counts["nobox_only" if unboxed.nobndbox else "neither_flag"] += 1

    def result(self) -> DatasetStatistics:
        computed = {"types", "nouns", "adjectives"}
        names = [name for name in DatasetStatistics.__struct_fields__ if name not in computed]
        return DatasetStatistics(
            **{name: self._counts[name] for name in names},
            types=tuple(
                TypeStatistics(type=name, **counts) for name, counts in self._types.items()
            ),
            nouns=self._nouns.coverage(),
            adjectives=self._adjectives.coverage(),
        )
