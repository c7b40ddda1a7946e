"""Guessing an image's chains and boxes if it has no answer key.

It serves only to estimate how much there will be to ask. The words decide what they can; a draw
from the seed decides the rest, at the rates of the public dataset.
"""

import math
from collections.abc import Sequence
from random import Random

import msgspec

from annotation.pipeline.captions import Caption
from annotation.pipeline.geometry import Rect
from annotation.pipeline.mentions.mention import (
    ANIMALS,
    BODYPARTS,
    CLOTHING,
    INSTRUMENTS,
    OTHER,
    PEOPLE,
    SCENE,
    VEHICLES,
    Mention,
    head_word,
    longest,
)
from annotation.pipeline.protocol.facts import AcceptedImport, ImportedBox, ImportedChain

# If a chain already has a mention's head noun, the mention belongs to it this often (1,000 val
# images) ...
SAME_HEAD = 0.93
# ... and one with a new head still belongs to an existing chain of its type this often.
OTHER_HEAD: dict[str, float] = {
    PEOPLE: 0.72,
    CLOTHING: 0.52,
    BODYPARTS: 0.14,
    ANIMALS: 0.84,
    VEHICLES: 0.58,
    INSTRUMENTS: 0.54,
    SCENE: 0.45,
    OTHER: 0.32,
}


class BoxShare(msgspec.Struct, frozen=True):
    """How many chains of a type have no box, and the mean number of all chains."""

    none: float
    mean: float


# The means are the paper's; the shares without a box are those of the 1,000 val images.
BOXES: dict[str, BoxShare] = {
    PEOPLE: BoxShare(0.02, 1.95),
    CLOTHING: BoxShare(0.01, 1.44),
    BODYPARTS: BoxShare(0.03, 1.42),
    ANIMALS: BoxShare(0.04, 1.44),
    VEHICLES: BoxShare(0.14, 1.21),
    INSTRUMENTS: BoxShare(0.02, 1.61),
    SCENE: BoxShare(0.49, 0.62),
    OTHER: BoxShare(0.34, 1.04),
}
# More are so rare that they change no estimate.
MOST_BOXES = 12

# The size of most photos of the public dataset, for those whose size is not known.
USUAL_WIDTH, USUAL_HEIGHT = 500, 375
# Smaller ones have no room for boxes that can be told apart.
LEAST_SIDE = 40


def guess_annotation(
    captions: Sequence[Caption],
    mentions: Sequence[Mention],
    *,
    width: int,
    height: int,
    seed: str,
) -> AcceptedImport:
    """Return chains and boxes that these captions may have; the same seed gives the same guess."""
    random = Random(f"guess/{seed}")
    chains: list[list[Mention]] = []
    visual = [mention for mention in mentions if mention.is_visual]
    for mention in sorted(visual, key=lambda mention: (mention.caption, mention.start)):
        chain = _chain_for(mention, chains, captions, random)
        if chain is None:
            chains.append([mention])
        else:
            chain.append(mention)
    found: list[ImportedChain] = []
    boxes: list[ImportedBox] = []
    for number, chain in enumerate(chains, start=1):
        kind = longest(chain, captions).types[0]
        rects = _rects(_box_count(kind, random), width, height, random)
        boxes += [ImportedBox(chains=(number,), rect=rect) for rect in rects]
        found.append(
            ImportedChain(
                mentions=tuple(sorted(mention.number for mention in chain)),
                scene=not rects and kind == SCENE,
                nobndbox=not rects and kind != SCENE,
            )
        )
    return AcceptedImport(chains=tuple(found), boxes=tuple(boxes))


def guess_size(width: int, height: int) -> tuple[int, int]:
    """Return the size to guess boxes in; that of most photos if it is unknown or tiny."""
    if min(width, height) < LEAST_SIDE:
        return USUAL_WIDTH, USUAL_HEIGHT
    return width, height


def _chain_for(
    mention: Mention, chains: list[list[Mention]], captions: Sequence[Caption], random: Random
) -> list[Mention] | None:
    """Return the chain that the mention belongs to; None: it starts its own."""
    possible = [
        chain
        for chain in chains
        if all(other.caption != mention.caption for other in chain)
        and any(set(other.types) & set(mention.types) for other in chain)
    ]
    head = head_word(mention, captions)
    for chain in possible:
        if any(head_word(other, captions) == head for other in chain):
            return chain if random.random() < SAME_HEAD else None
    if possible and random.random() < OTHER_HEAD.get(mention.types[0], OTHER_HEAD[OTHER]):
        return random.choice(possible)
    return None


def _box_count(kind: str, random: Random) -> int:
    """Draw how many boxes a chain has: none, or one and perhaps some more."""
    share = BOXES.get(kind, BOXES[OTHER])
    if random.random() < share.none:
        return 0
    # Add boxes as long as the draw says so: a geometric number with the wanted mean.
    more = 1 - (1 - share.none) / share.mean
    count = 1
    while count < MOST_BOXES and random.random() < more:
        count += 1
    return count


def _rects(count: int, width: int, height: int, random: Random) -> list[Rect]:
    """Return that many rectangles side by side, so that none is taken for another."""
    side = math.ceil(math.sqrt(count))
    cells = random.sample(range(side * side), count)
    rects = []
    for cell in cells:
        row, column = divmod(cell, side)
        left, top = width * column // side, height * row // side
        right, bottom = width * (column + 1) // side, height * (row + 1) // side
        # Leave a tenth free on all sides: neighbours' edges are drawn with some error.
        x, y = (right - left) // 10, (bottom - top) // 10
        rects.append(Rect(left + 1 + x, top + 1 + y, right - x, bottom - y))
    return rects
