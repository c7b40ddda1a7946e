"""Train the mention finder on any release, and measure it."""

from collections.abc import Callable, Iterable
from pathlib import Path

import msgspec

from annotation.pipeline.mentions.chunker import MODEL_FILE, ChunkerTrainer
from annotation.pipeline.mentions.entity_types import (
    COLOURS_FILE,
    ENTITY_TYPES,
    LEFT_OUT_FILE,
    NOT_VISUAL,
    type_file,
    write_entries,
)
from annotation.pipeline.mentions.mention import MENTION_DATA, MentionFinder
from annotation.pipeline.mentions.type_training import TypeCounts, Types
from annotation.pipeline.release.folder import Sentence
from common.files.whole import make_folder, whole_path, write_bytes

# Always left out, even if a release has no phrase with them. ("Mine" is more often a pit.)
PERSONAL_PRONOUNS = (
    *("i", "me", "my", "myself", "we", "us", "our", "ours", "ourselves"),
    *("you", "your", "yours", "yourself", "yourselves"),
    *("he", "him", "his", "himself", "she", "her", "hers", "herself", "it", "its", "itself"),
    *("they", "them", "their", "theirs", "themselves"),
)

_CAPTIONS_PER_REPORT = 10_000


class MentionScore(msgspec.Struct, frozen=True):
    """Spans found against the gold spans, and types given to the gold spans."""

    gold: int
    found: int
    right: int
    types_right: int
    visual_gold: int
    visual_types_right: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.gold + self.found) if self.gold + self.found else 0.0

    @property
    def type_share(self) -> float:
        """Share of gold spans with exactly the gold types, counting `notvisual` as a type."""
        return self.types_right / self.gold if self.gold else 0.0

    @property
    def visual_type_share(self) -> float:
        """The same, without the gold spans that are `notvisual`."""
        return self.visual_types_right / self.visual_gold if self.visual_gold else 0.0


def train(
    sentences: Iterable[Sentence],
    out: Path,
    *,
    report: Callable[[str], None] = lambda line: None,
) -> MentionFinder:
    """Learn the chunker and the dictionaries, write them to the folder `out`, and load it.

    The same sentences in the same order give the same files. ValueError if no sentence has a
    phrase.
    """
    trainer = ChunkerTrainer()
    counts = TypeCounts()
    captions = phrases = 0
    for sentence in sentences:
        trainer.add(sentence.tokens, [(phrase.start, phrase.end) for phrase in sentence.phrases])
        for phrase in sentence.phrases:
            counts.add(sentence.tokens[phrase.start : phrase.end], phrase.types)
            phrases += 1
        captions += 1
        if captions % _CAPTIONS_PER_REPORT == 0:
            report(f"{captions:,} captions read")
    if not phrases:
        raise ValueError("there is nothing to learn from: no caption has a bracketed phrase")

    report(f"{captions:,} captions with {phrases:,} mentions read; training the chunker")
    make_folder(out)
    # Use another name until it is complete: a finder may be reading the old folder.
    with whole_path(out / MODEL_FILE) as draft:
        trainer.train(draft)
    _write_dictionaries(out, counts.entries(left_out=PERSONAL_PRONOUNS))
    return MentionFinder.load(out)


def _write_dictionaries(out: Path, entries: dict[str, Types]) -> None:
    for entity_type in ENTITY_TYPES:
        about = [
            f"Chunks of type {entity_type}: head words, and longer endings where the head",
            "word alone would be wrong. A line in two of these files gives both types.",
        ]
        listed = [entry for entry, types in entries.items() if entity_type in types]
        write_entries(out / type_file(entity_type), about, listed)
    left_out = [entry for entry, types in entries.items() if types == (NOT_VISUAL,)]
    write_entries(
        out / LEFT_OUT_FILE,
        ["Chunks that are left out: personal pronouns and frequent terms that show nothing."],
        left_out,
    )
    # Colours cannot be learnt from types: every folder starts with ours.
    if out.resolve() != MENTION_DATA.resolve():
        write_bytes(out / COLOURS_FILE, [(MENTION_DATA / COLOURS_FILE).read_bytes()])


def score(finder: MentionFinder, sentences: Iterable[Sentence]) -> MentionScore:
    """Compare the finder's results with the phrases of a release, including `notvisual` ones."""
    gold = found = right = types_right = visual_gold = visual_types_right = 0
    for sentence in sentences:
        gold_spans = {(phrase.start, phrase.end) for phrase in sentence.phrases}
        found_spans = {(chunk.start, chunk.end) for chunk in finder.find(sentence.tokens)}
        gold += len(gold_spans)
        found += len(found_spans)
        right += len(gold_spans & found_spans)
        for phrase in sentence.phrases:
            words = sentence.tokens[phrase.start : phrase.end]
            is_right = finder.types(words) == phrase.types
            is_visual = phrase.types != (NOT_VISUAL,)
            types_right += is_right
            visual_gold += is_visual
            visual_types_right += is_right and is_visual
    return MentionScore(
        gold=gold,
        found=found,
        right=right,
        types_right=types_right,
        visual_gold=visual_gold,
        visual_types_right=visual_types_right,
    )
