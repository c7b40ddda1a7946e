"""Mentions: the token spans of a caption that may name something visible, and their types."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from annotation.pipeline.captions import Caption
from annotation.pipeline.mentions.chunker import MODEL_FILE, Chunker
from annotation.pipeline.mentions.entity_types import (
    ANIMALS,
    BODYPARTS,
    CLOTHING,
    COLOURS_FILE,
    ENTITY_TYPES,
    INSTRUMENTS,
    LEFT_OUT_FILE,
    NOT_VISUAL,
    OTHER,
    PEOPLE,
    SCENE,
    VEHICLES,
    TypeDictionary,
    read_dictionary,
    type_file,
)

__all__ = [
    "ANIMALS",
    "BODYPARTS",
    "CLOTHING",
    "ENTITY_TYPES",
    "INSTRUMENTS",
    "MENTION_DATA",
    "NOT_VISUAL",
    "OTHER",
    "PEOPLE",
    "SCENE",
    "VEHICLES",
    "Chunk",
    "Mention",
    "MentionFinder",
    "find_mentions",
    "head_word",
    "longest",
    "mention_text",
    "mention_tokens",
    "to_brackets",
]

# The model and the dictionaries that come with the software.
MENTION_DATA = Path(__file__).parent / "data"


class Mention(msgspec.Struct, frozen=True):
    """Tokens `start` up to, but not including, `end` of a caption (0-based positions).

    `number` counts from 1 within the image and never changes, even if the span does.
    """

    number: int
    caption: int
    start: int
    end: int
    types: tuple[str, ...]

    @property
    def is_visual(self) -> bool:
        return self.types != (NOT_VISUAL,)


def mention_tokens(mention: Mention, captions: Sequence[Caption]) -> tuple[str, ...]:
    """Return the mention's words. `captions` are the image's, in order of their numbers."""
    return captions[mention.caption - 1].tokens[mention.start : mention.end]


def mention_text(mention: Mention, captions: Sequence[Caption]) -> str:
    return " ".join(mention_tokens(mention, captions))


def head_word(mention: Mention, captions: Sequence[Caption]) -> str:
    """Return the chunk's last word, case-folded: the head noun of an English noun phrase."""
    return mention_tokens(mention, captions)[-1].casefold()


def longest(mentions: Sequence[Mention], captions: Sequence[Caption]) -> Mention:
    """Return the most specific mention: most characters, then earliest."""
    return min(
        mentions,
        key=lambda m: (-len(mention_text(m, captions)), m.caption, m.start),
    )


class Chunk(msgspec.Struct, frozen=True):
    """A span of one caption, tokens `start` up to but not including `end`, and its types."""

    start: int
    end: int
    types: tuple[str, ...]

    @property
    def is_visual(self) -> bool:
        return self.types != (NOT_VISUAL,)


class MentionFinder:
    """Finds the chunks of a caption and their types. Load it once: it may be shared."""

    def __init__(self, chunker: Chunker, dictionary: TypeDictionary) -> None:
        self._chunker = chunker
        self._dictionary = dictionary

    @classmethod
    def load(cls, folder: Path = MENTION_DATA) -> "MentionFinder":
        """Load a folder that training has written; a ValueError says what is wrong with it."""
        texts = (LEFT_OUT_FILE, COLOURS_FILE, *map(type_file, ENTITY_TYPES))
        missing = [name for name in (MODEL_FILE, *texts) if not (folder / name).is_file()]
        if missing:
            raise ValueError(
                f"{folder} is not a folder of mention data: it lacks {', '.join(missing)}"
            )
        return cls(Chunker(folder / MODEL_FILE), read_dictionary(folder))

    def find(self, tokens: Sequence[str]) -> tuple[Chunk, ...]:
        """Return the chunks in order, without overlap; phrases to leave out are `notvisual`."""
        return tuple(
            Chunk(start=start, end=end, types=self.types(tokens[start:end]))
            for start, end in self._chunker.spans(tokens)
        )

    def types(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the types of a chunk with these words."""
        return self._dictionary.types(words)


def find_mentions(captions: Iterable[Caption], finder: MentionFinder) -> tuple[Mention, ...]:
    """Return the mentions of an image's captions, numbered from 1 by caption, then token."""
    found = [
        (caption.number, chunk)
        for caption in sorted(captions, key=lambda caption: caption.number)
        for chunk in finder.find(caption.tokens)
    ]
    return tuple(
        Mention(number=number, caption=caption, start=chunk.start, end=chunk.end, types=chunk.types)
        for number, (caption, chunk) in enumerate(found, start=1)
    )


def to_brackets(tokens: Sequence[str], chunks: Iterable[Chunk], first_number: int = 1) -> str:
    """Write a caption in the public form; visual chunks count up from `first_number`.

    >>> to_brackets(("A", "man", "waits"), [Chunk(0, 2, ("people",))])
    '[/EN#1/people A man] waits'
    """
    parts: list[str] = []
    number = first_number
    written = 0
    for chunk in chunks:
        parts += tokens[written : chunk.start]
        words = " ".join(tokens[chunk.start : chunk.end])
        chain = number if chunk.is_visual else 0
        parts.append(f"[/EN#{chain}/{'/'.join(chunk.types)} {words}]")
        number += chunk.is_visual
        written = chunk.end
    return " ".join([*parts, *tokens[written:]])
