"""From a finished image's state to its entry in a release."""

from collections.abc import Iterator

from annotation.pipeline.protocol.merge import Merged, merge
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.release.folder import (
    Phrase,
    ReleasedBox,
    ReleasedImage,
    Sentence,
    UnboxedChain,
)

NOT_VISUAL_CHAIN = 0


def export_image(
    state: ImageState,
    settings: Settings,
    *,
    image: str,
    filename: str,
    depth: int,
    next_id: Iterator[int],
) -> ReleasedImage:
    """Merge a finished image and write its chains under release ids.

    An imported chain keeps the id it came with; the others take theirs from `next_id`.
    """
    merged = merge(state, settings)
    ids = {chain.number: chain.public_id or next(next_id) for chain in merged.chains}
    boxed = {number for box in merged.boxes for number in box.chains}
    return ReleasedImage(
        image=image,
        filename=filename,
        width=state.width,
        height=state.height,
        depth=depth,
        sentences=_sentences(state, merged, ids),
        boxes=tuple(
            ReleasedBox(
                chains=tuple(ids[number] for number in box.chains),
                rect=box.rect,
                indents=box.indents,
            )
            for box in merged.boxes
        ),
        unboxed=tuple(
            UnboxedChain(
                chain=ids[chain.number],
                scene=chain.scene,
                nobndbox=chain.nobndbox,
                indents=chain.indents,
            )
            for chain in merged.chains
            if chain.number not in boxed
        ),
    )


def _sentences(state: ImageState, merged: Merged, ids: dict[int, int]) -> tuple[Sentence, ...]:
    chain_of = {number: ids[chain.number] for chain in merged.chains for number in chain.mentions}
    return tuple(
        Sentence(
            tokens=caption.tokens,
            phrases=tuple(
                Phrase(
                    start=mention.start,
                    end=mention.end,
                    types=mention.types,
                    chain=chain_of.get(mention.number, NOT_VISUAL_CHAIN),
                )
                for mention in sorted(state.mentions, key=lambda m: m.start)
                if mention.caption == caption.number
            ),
        )
        for caption in state.captions
    )
