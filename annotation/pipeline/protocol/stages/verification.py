"""Stage 2, Chain Verification: a false link does harm; merging repairs a missed one."""

from enum import Enum

from msgspec.structs import replace

from annotation.pipeline.mentions.mention import head_word
from annotation.pipeline.protocol.questions import FALSE, TRUE, Question, Stage
from annotation.pipeline.protocol.state import (
    BoxStatus,
    BrokenChain,
    Chain,
    ImageState,
    Phase,
    Vote,
    chain_types,
    mentions_of,
    new_chain,
    unplaced,
    with_box,
    with_chain,
    without_chain,
)


class Verdict(Enum):
    ASK = "ask"
    KEEP = "keep"
    BREAK_BY_HEAD = "break by head"
    BREAK_APART = "break apart"


def verdict(votes: tuple[Vote, ...], heads: int) -> Verdict:
    """Return the result of the votes on a chain with this many distinct head nouns.

    True keeps the chain. False breaks it by head noun. If there is only one head noun, a second
    worker is asked, and a second False leaves single mentions.
    """
    answers = [vote.answer for vote in votes]
    if TRUE in answers:
        return Verdict.KEEP
    if heads > 1 and FALSE in answers:
        return Verdict.BREAK_BY_HEAD
    if answers.count(FALSE) > 1:
        return Verdict.BREAK_APART
    return Verdict.ASK


def by_head(state: ImageState, mentions: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Group mentions by their head noun, in order of each group's first mention."""
    groups: dict[str, list[int]] = {}
    for mention in mentions_of(state, mentions):
        groups.setdefault(head_word(mention, state.captions), []).append(mention.number)
    return [tuple(group) for group in groups.values()]


def can_still_grow(state: ImageState, chain: Chain) -> bool:
    """Tell whether a mention that has not had its turn could join the chain."""
    types = chain_types(state, chain)
    return any(types.intersection(mention.types) for mention in unplaced(state))


def verification_question(chain: Chain) -> Question:
    return Question(
        stage=Stage.VERIFICATION, subject=(chain.number,), round=chain.verification_round
    )


def enter_verification(state: ImageState, chain: Chain) -> ImageState:
    return with_chain(
        state,
        replace(
            chain,
            phase=Phase.VERIFICATION,
            verification=(),
            verification_round=chain.verification_round + 1,
        ),
    )


def chain_verdict(state: ImageState, chain: Chain) -> Verdict:
    return verdict(chain.verification, len(by_head(state, chain.mentions)))


def break_chain(
    state: ImageState, chain: Chain, groups: list[tuple[int, ...]]
) -> tuple[ImageState, list[Chain]]:
    """Replace the broken chain with one chain per group; the broken chain's boxes go."""
    boxes = [
        replace(
            box,
            chains=tuple(n for n in box.chains if n != chain.number) or box.chains,
            status=box.status if len(box.chains) > 1 else BoxStatus.REMOVED,
        )
        for box in state.boxes
        if chain.number in box.chains
    ]
    broken = BrokenChain(
        number=chain.number,
        mentions=chain.mentions,
        votes=chain.verification,
        round=chain.verification_round,
    )
    state = replace(
        with_box(without_chain(state, chain.number), *boxes), broken=(*state.broken, broken)
    )
    parts: list[Chain] = []
    for group in groups:
        state, part = new_chain(state, group)
        parts.append(part)
    return state, parts
