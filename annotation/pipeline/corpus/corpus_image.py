"""One image of a corpus: captions and mentions, and perhaps chains and boxes."""

import msgspec

from annotation.pipeline.captions import Caption
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.facts import AcceptedImport, ImportedBox, ImportedChain
from annotation.pipeline.release.folder import ReleasedImage, Sentence


class CorpusImage(msgspec.Struct, frozen=True):
    """One image of a corpus, whatever format it came in.

    `name` is unique in the corpus and becomes the stem of the release's files. `mentions` are the
    corpus's own chunks, or None if it has none. A size of 0 × 0 means unknown.
    """

    name: str
    filename: str
    captions: tuple[Caption, ...]
    mentions: tuple[Mention, ...] | None = None
    annotation: AcceptedImport | None = None
    split: str = ""
    width: int = 0
    height: int = 0
    depth: int = 3


class Problem(msgspec.Struct, frozen=True):
    """Why something in a corpus cannot be imported; `place` is a line or another position."""

    file: str
    place: str
    why: str

    def __str__(self) -> str:
        return (
            f"{self.file}, {self.place}: {self.why}" if self.place else f"{self.file}: {self.why}"
        )


class Problems:
    """Collects problems: counts all, keeps only the first.

    A file with a wrong delimiter has one on every line, and the first few are enough.
    """

    MOST_KEPT = 50

    def __init__(self) -> None:
        self.kept: list[Problem] = []
        self.count = 0

    def add(self, problem: Problem) -> None:
        self.count += 1
        if len(self.kept) < self.MOST_KEPT:
            self.kept.append(problem)


class MentionedChain(msgspec.Struct, frozen=True):
    """A mention and the chain id that the corpus gives it."""

    mention: Mention
    chain: int


def captions_of(sentences: tuple[Sentence, ...]) -> tuple[Caption, ...]:
    return tuple(
        Caption(number=number, tokens=sentence.tokens)
        for number, sentence in enumerate(sentences, start=1)
    )


def mentions_of_sentences(sentences: tuple[Sentence, ...]) -> tuple[Mention, ...]:
    """Return the corpus's own mention spans, numbered in order of caption and token."""
    return tuple(found.mention for found in _mentioned(sentences))


def annotation_of(image: ReleasedImage, unrelated: tuple[int, ...] = ()) -> AcceptedImport:
    """Return a released image's chains and boxes: an answer key, or an accepted import."""
    members: dict[int, list[int]] = {}
    for found in _mentioned(image.sentences):
        if found.mention.is_visual:
            members.setdefault(found.chain, []).append(found.mention.number)
    flags = {chain.chain: chain for chain in image.unboxed}
    boxed = {chain for box in image.boxes for chain in box.chains}
    # Chains without a box keep the order of their objects; all others come first.
    order = [
        *(chain for chain in members if chain not in flags),
        *(chain for chain in sorted(boxed) if chain not in members and chain not in flags),
        *flags,
    ]
    position = {chain: number for number, chain in enumerate(order, start=1)}
    return AcceptedImport(
        chains=tuple(
            ImportedChain(
                mentions=tuple(members.get(chain, ())),
                scene=chain in flags and flags[chain].scene,
                nobndbox=chain in flags and flags[chain].nobndbox,
                public_id=chain,
                indents=flags[chain].indents if chain in flags else None,
            )
            for chain in order
        ),
        boxes=tuple(
            ImportedBox(
                chains=tuple(position[chain] for chain in box.chains),
                rect=box.rect,
                indents=box.indents,
            )
            for box in image.boxes
        ),
        unrelated=unrelated,
    )


def _mentioned(sentences: tuple[Sentence, ...]) -> list[MentionedChain]:
    found: list[MentionedChain] = []
    for number, sentence in enumerate(sentences, start=1):
        for phrase in sentence.phrases:
            mention = Mention(
                number=len(found) + 1,
                caption=number,
                start=phrase.start,
                end=phrase.end,
                types=phrase.types,
            )
            found.append(MentionedChain(mention=mention, chain=phrase.chain))
    return found
