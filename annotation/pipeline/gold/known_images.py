"""The chains and boxes of an image that are known for sure, from which gold questions are made."""

from collections.abc import Collection

import msgspec
from msgspec.structs import replace

from annotation.pipeline.captions import Caption
from annotation.pipeline.corpus.corpus_image import CorpusImage
from annotation.pipeline.geometry import Rect
from annotation.pipeline.gold.gold_question import GoldSource
from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.accepted_import import accept_import
from annotation.pipeline.protocol.facts import AcceptedImport
from annotation.pipeline.protocol.questions import BOX, GOOD, NO, NOBOX, SCENE, TRUE, YES
from annotation.pipeline.protocol.state import (
    NOBODY,
    SETTLED,
    Chain,
    ImageState,
    Phase,
    accepted_boxes,
    mentions_of,
)
from annotation.pipeline.review.doubts import held_chains


class KnownChain(msgspec.Struct, frozen=True):
    """A chain's mentions, and its boxes or the reason why it has none."""

    mentions: tuple[Mention, ...]
    rects: tuple[Rect, ...] = ()
    scene: bool = False
    nobndbox: bool = False
    # The workers whose judgments this chain rests on.
    workers: tuple[int, ...] = ()

    @property
    def types(self) -> frozenset[str]:
        return frozenset(t for mention in self.mentions for t in mention.types)


class KnownImage(msgspec.Struct, frozen=True):
    """An image and its sure chains."""

    name: str
    width: int
    height: int
    captions: tuple[Caption, ...]
    chains: tuple[KnownChain, ...]
    source: GoldSource


def known_image(
    name: str, state: ImageState, chains: Collection[int], source: GoldSource
) -> KnownImage:
    """Return what is known of an image: the chains with these numbers.

    It leaves out captions about another image and phrases that are cut wrongly.
    """
    odd = {flags.caption for flags in state.flags if flags.unrelated or flags.votes}
    cut = {report.mention for report in state.cut_reports}
    found = []
    for chain in state.chains:
        members = tuple(
            m
            for m in mentions_of(state, chain.mentions)
            if m.caption not in odd and m.number not in cut
        )
        if chain.number not in chains or not members:
            continue
        found.append(
            KnownChain(
                mentions=tuple(sorted(members, key=lambda m: (m.caption, m.start))),
                rects=tuple(box.rect for box in accepted_boxes(state, chain.number)),
                scene=chain.scene,
                nobndbox=chain.nobndbox,
                workers=_workers(state, chain) if source is GoldSource.UNANIMOUS else (),
            )
        )
    return KnownImage(
        name=name,
        width=state.width,
        height=state.height,
        captions=state.captions,
        chains=tuple(found),
        source=source,
    )


def known_annotation(name: str, state: ImageState, annotation: AcceptedImport) -> KnownImage:
    """Return what is known of an image whose whole annotation came from elsewhere.

    From `state` it uses only the image's size, captions and mentions.
    """
    bare = ImageState(
        width=state.width, height=state.height, captions=state.captions, mentions=state.mentions
    )
    accepted = accept_import(bare, annotation)
    return known_image(name, accepted, imported_chains(accepted), GoldSource.IMPORTED)


class OtherImageError(ValueError):
    """An annotation is about an image that looks different; the message says where."""


def known_release(state: ImageState, image: CorpusImage) -> KnownImage:
    """Return what a release knows of one of our images, in the release's phrases.

    It keeps only phrases that we have too, with our numbers: others look different to workers.
    """
    assert image.annotation is not None  # it was read with everything that a release knows
    assert image.mentions is not None
    _same_image(state, image)
    bare = ImageState(
        width=image.width, height=image.height, captions=state.captions, mentions=image.mentions
    )
    accepted = accept_import(bare, image.annotation)
    known = known_image(image.name, accepted, imported_chains(accepted), GoldSource.FILE)
    ours = {(m.caption, m.start, m.end): m.number for m in state.mentions}
    chains = (
        replace(
            chain,
            mentions=tuple(
                replace(m, number=ours[m.caption, m.start, m.end])
                for m in chain.mentions
                if (m.caption, m.start, m.end) in ours
            ),
        )
        for chain in known.chains
    )
    return replace(known, chains=tuple(chain for chain in chains if chain.mentions))


def _same_image(state: ImageState, image: CorpusImage) -> None:
    ours = {caption.number: caption.text for caption in state.captions}
    theirs = {caption.number: caption.text for caption in image.captions}
    for number in sorted(ours.keys() | theirs.keys()):
        if ours.get(number) != theirs.get(number):
            raise OtherImageError(f"its caption {number} differs from the campaign's")
    if (state.width, state.height) != (image.width, image.height):
        raise OtherImageError(
            f"it is {image.width}×{image.height} here but {state.width}×{state.height} in the "
            "campaign"
        )


def imported_chains(state: ImageState) -> set[int]:
    """Return the chains of an accepted import about which no question was asked since."""
    held = held_chains(state)
    return {
        chain.number
        for chain in state.chains
        if chain.imported
        and chain.phase in SETTLED
        and chain.number not in held
        and not _votes(chain)
    }


def reviewed_chains(state: ImageState) -> set[int]:
    """Return the chains that a reviewer settled and that have not changed since."""
    latest = {chain.number: chain for record in state.decisions for chain in record.after.chains}
    held = held_chains(state)
    return {
        chain.number
        for chain in state.chains
        if chain.phase in SETTLED and chain.number not in held and latest.get(chain.number) == chain
    }


def unanimous_chains(state: ImageState) -> set[int]:
    """Return the settled chains on which all workers asked agree, at least two at each step.

    Mentions: one worker found each link and another confirmed the chain. Boxes: one worker drew
    each box, another called it good, and at least two more voted the chain complete. No box: at
    least two equal votes. Doubted votes are not in any tally, and a decision that waits for a
    second opinion is not settled.
    """
    held = held_chains(state)
    return {
        chain.number
        for chain in state.chains
        if not chain.imported
        and chain.phase in SETTLED
        and chain.number not in held
        and _mentions_agreed(state, chain)
        and (_boxes_agreed(state, chain) or _no_box_agreed(chain))
    }


def _mentions_agreed(state: ImageState, chain: Chain) -> bool:
    if len(chain.mentions) == 1:
        return True
    if not chain.verification or any(vote.answer != TRUE for vote in chain.verification):
        return False
    judges = {vote.worker for vote in chain.verification}
    members = set(chain.mentions)
    for link in state.links:
        if link.vote is None or not {link.mention, link.target} <= members:
            continue
        if link.vote.answer != YES or judges <= {link.vote.worker}:
            return False
    return True


def _boxes_agreed(state: ImageState, chain: Chain) -> bool:
    boxes = accepted_boxes(state, chain.number)
    return (
        chain.phase is Phase.COMPLETE
        and bool(boxes)
        and all(box.quality is not None and box.quality.answer == GOOD for box in boxes)
        and all(vote.answer == BOX for vote in chain.requirement)
        and len(chain.coverage) >= 2
        and all(vote.answer != NO for vote in chain.coverage)
    )


def _no_box_agreed(chain: Chain) -> bool:
    answers = {vote.answer for vote in chain.requirement}
    return (
        chain.phase is Phase.NONVISUAL
        and len(chain.requirement) >= 2
        and answers in ({SCENE}, {NOBOX})
    )


def _votes(chain: Chain) -> bool:
    return bool(chain.verification or chain.requirement or chain.coverage)


def _workers(state: ImageState, chain: Chain) -> tuple[int, ...]:
    votes = [*chain.verification, *chain.requirement, *chain.coverage]
    members = set(chain.mentions)
    for link in state.links:
        if link.vote is not None and members & {link.mention, link.target}:
            votes.append(link.vote)
    workers = {vote.worker for vote in votes}
    for box in state.boxes:
        if chain.number in box.chains:
            workers |= {box.drawer} | ({box.quality.worker} if box.quality else set())
    return tuple(sorted(workers - {NOBODY}))
