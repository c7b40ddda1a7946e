"""After the crowd: merge boxes that are really one, then chains that share all their boxes.

This happens at release time: the original boxes and chains remain. Accepted imports are never
merged.
"""

from itertools import combinations

import msgspec
from msgspec.structs import replace

from annotation.pipeline.geometry import Rect, iou
from annotation.pipeline.mentions.mention import OTHER
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import BoxStatus, ImageState, Phase, chain_types


class MergedBox(msgspec.Struct, frozen=True):
    """A merged box; `number` and `rect` are those of its earliest original box."""

    number: int
    rect: Rect
    chains: tuple[int, ...]
    imported: bool = False
    indents: tuple[str, ...] | None = None


class MergedChain(msgspec.Struct, frozen=True):
    number: int
    mentions: tuple[int, ...]
    scene: bool = False
    nobndbox: bool = False
    imported: bool = False
    public_id: int = 0
    indents: tuple[str, ...] | None = None


class Merged(msgspec.Struct, frozen=True):
    """An image's finished chains and boxes."""

    chains: tuple[MergedChain, ...]
    boxes: tuple[MergedBox, ...]


def merge(state: ImageState, settings: Settings) -> Merged:
    """Merge the accepted boxes of an image, then its chains."""
    types = {chain.number: chain_types(state, chain) for chain in state.chains}
    boxes = [
        MergedBox(
            number=box.number,
            rect=box.rect,
            chains=tuple(n for n in box.chains if n in types),
            imported=box.imported,
            indents=box.indents,
        )
        for box in state.boxes
        if box.status is BoxStatus.ACCEPTED
    ]
    chains = [
        MergedChain(
            number=chain.number,
            mentions=chain.mentions,
            scene=chain.phase is Phase.NONVISUAL and chain.scene,
            nobndbox=chain.phase is Phase.NONVISUAL and chain.nobndbox,
            imported=chain.imported,
            public_id=chain.public_id,
            indents=chain.indents,
        )
        for chain in state.chains
    ]
    return merge_chains(chains, merge_boxes(boxes, types, settings))


def merge_boxes(
    boxes: list[MergedBox], types: dict[int, frozenset[str]], settings: Settings
) -> list[MergedBox]:
    """Merge the pair that overlaps most, until no pair overlaps enough. `types` is by chain."""
    boxes = sorted(boxes, key=lambda box: box.number)
    while True:
        pairs = [
            (iou(a.rect, b.rect), -a.number, -b.number, a, b)
            for a, b in combinations(boxes, 2)
            if not (a.imported or b.imported)
        ]
        fitting = [
            pair for pair in pairs if pair[0] >= _threshold(pair[3], pair[4], types, settings)
        ]
        if not fitting:
            return boxes
        # Among equal pairs, take the one with the earliest boxes, so the order does not matter.
        *_, first, second = max(fitting, key=lambda pair: pair[:3])
        # The earlier rectangle survives; its further merges depend on all its chains.
        union = replace(first, chains=tuple(sorted({*first.chains, *second.chains})))
        boxes = [union if box is first else box for box in boxes if box is not second]


def merge_chains(chains: list[MergedChain], boxes: list[MergedBox]) -> Merged:
    """Merge all chains that point to exactly the same boxes; the earliest number stays."""
    boxes_of: dict[int, tuple[int, ...]] = {
        chain.number: tuple(box.number for box in boxes if chain.number in box.chains)
        for chain in chains
    }
    kept: dict[tuple[int, ...] | int, MergedChain] = {}
    now: dict[int, int] = {}
    for chain in sorted(chains, key=lambda c: c.number):
        own = boxes_of[chain.number]
        key = own if own and not chain.imported else chain.number
        first = kept.setdefault(key, chain)
        now[chain.number] = first.number
        if first is not chain:
            kept[key] = replace(first, mentions=tuple(sorted({*first.mentions, *chain.mentions})))
    renamed = [
        replace(box, chains=tuple(dict.fromkeys(now[number] for number in box.chains)))
        for box in boxes
    ]
    return Merged(chains=tuple(kept.values()), boxes=tuple(renamed))


def _threshold(
    a: MergedBox, b: MergedBox, types: dict[int, frozenset[str]], settings: Settings
) -> float:
    """Return the IoU from which two boxes are one; more than 1 if they must stay apart."""
    types_a = frozenset[str]().union(*(types[number] for number in a.chains))
    types_b = frozenset[str]().union(*(types[number] for number in b.chains))
    for one, other in settings.incompatible_types:
        if (one in types_a and other in types_b) or (other in types_a and one in types_b):
            return 2.0
    return settings.merge_iou_other if OTHER in types_a | types_b else settings.merge_iou
