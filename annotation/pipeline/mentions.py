"""Mentions: the token spans of a caption that may name something visible, and their types."""

from collections.abc import Sequence

import msgspec

from annotation.pipeline.captions import Caption

PEOPLE = "people"
CLOTHING = "clothing"
BODYPARTS = "bodyparts"
ANIMALS = "animals"
VEHICLES = "vehicles"
INSTRUMENTS = "instruments"
SCENE = "scene"
OTHER = "other"
ENTITY_TYPES = (PEOPLE, CLOTHING, BODYPARTS, ANIMALS, VEHICLES, INSTRUMENTS, SCENE, OTHER)
# Not an entity type of its own: it marks a phrase that is left out of the protocol.
NOT_VISUAL = "notvisual"


class Mention(msgspec.Struct, frozen=True):
    """Tokens `start` up to but without `end` of caption `caption` (0-based token positions).

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
