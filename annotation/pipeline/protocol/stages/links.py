"""Stage 1, Coreference Links: mentions take turns; each is compared with the chains so far.

There is one question per chain that could hold the mention, so an image costs O(|M||C|) questions
instead of O(|M|²).
"""

from msgspec.structs import replace

from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.questions import YES, Question, Stage
from annotation.pipeline.protocol.state import (
    BoxStatus,
    Chain,
    ImageState,
    Link,
    Phase,
    Vote,
    chain_of,
    chain_types,
    find_mention,
    mentions_of,
    new_chain,
    representative,
    unplaced,
    with_box,
    with_chain,
    without_chain,
)


def candidates(state: ImageState, mention: Mention) -> list[Chain]:
    """Return the chains that could hold the mention: a shared type, no member of its caption."""
    return [
        chain
        for chain in state.chains
        if _shares_type(state, mention, chain) and not _has_caption(state, chain, mention.caption)
    ]


def open_links(state: ImageState) -> list[Link]:
    """Return the pairs that wait for an answer, in order of their turns."""
    waiting = {m.number for m in unplaced(state)}
    return [
        link
        for link in state.links
        if link.vote is None and link.mention in waiting and can_be_linked(state, link)
    ]


def can_be_linked(state: ImageState, link: Link) -> bool:
    """Tell whether the mention could still belong to its target's chain.

    Since the pair was asked, a reviewer may have moved the target out of its chain, or removed the
    shared type from either mention.
    """
    mention, chain = find_mention(state, link.mention), chain_of(state, link.target)
    return mention is not None and chain is not None and _shares_type(state, mention, chain)


def link_question(link: Link) -> Question:
    return Question(stage=Stage.LINKS, subject=(link.mention, link.target), round=link.round)


def record_link(state: ImageState, question: Question, vote: Vote | None) -> ImageState:
    """Record the answer to a pair; None takes it back."""
    mention, target = question.subject
    links = tuple(
        replace(link, vote=vote)
        if (link.mention, link.target, link.round) == (mention, target, question.round)
        else link
        for link in state.links
    )
    return replace(state, links=links)


def advance_turns(state: ImageState) -> ImageState:
    """Close every turn that is fully answered and open every turn that is due."""
    moved = True
    while moved:
        moved = False
        waiting = unplaced(state)
        for position, mention in enumerate(waiting):
            # Mentions of unrelated types take their turns in parallel; the others wait for earlier
            # ones.
            if any(set(elder.types).intersection(mention.types) for elder in waiting[:position]):
                continue
            after = _take_turn(state, mention)
            if after is not state:
                state, moved = after, True
                break
    return state


def join_chains(state: ImageState, chains: list[Chain], mentions: tuple[int, ...]) -> ImageState:
    """Merge several chains and further mentions into one; the first chain keeps its number.

    If one of them is in review, the result is too. A box that waits for Quality is dropped: it was
    drawn for a chain of fewer mentions.
    """
    first = chains[0]
    gone = {c.number for c in chains[1:]}
    members = {n for chain in chains for n in chain.mentions}.union(mentions)
    boxes = [
        replace(
            box,
            chains=tuple(dict.fromkeys(first.number if n in gone else n for n in box.chains)),
            status=BoxStatus.REMOVED if box.status is BoxStatus.PROPOSED else box.status,
        )
        for box in state.boxes
        if first.number in box.chains or gone.intersection(box.chains)
    ]
    joined = replace(first, mentions=tuple(sorted(members)))
    for chain in chains:
        if chain.phase is Phase.REVIEW:
            joined = replace(joined, phase=chain.phase, review=chain.review)
            break
    return with_chain(with_box(without_chain(state, *gone), *boxes), joined)


def _take_turn(state: ImageState, mention: Mention) -> ImageState:
    """Ask the remaining questions about the mention, or end its turn."""
    asked = [
        link
        for link in state.links
        if link.mention == mention.number and can_be_linked(state, link)
    ]
    if any(link.vote is None for link in asked):
        return state
    covered = {link.target for link in asked}
    # The pairs are fixed once, even if mentions of other types change these chains meanwhile. Only
    # a reviewer can add a chain while a turn is open.
    links = tuple(
        Link(
            mention=mention.number,
            target=representative(state, chain.mentions).number,
            round=state.link_round,
        )
        for chain in candidates(state, mention)
        if not covered.intersection(chain.mentions)
    )
    if links:
        return replace(state, links=tuple(sorted(state.links + links, key=_pair)))
    return _place(state, mention, asked)


def _place(state: ImageState, mention: Mention, asked: list[Link]) -> ImageState:
    """End the mention's turn: "yes" adds it to a chain, only "no" starts a new one."""
    chosen: dict[int, Chain] = {}
    for link in asked:
        chain = chain_of(state, link.target)
        if chain is None or link.vote is None or link.vote.answer != YES:
            continue
        if not _has_caption(state, chain, mention.caption):
            chosen[chain.number] = chain
    if not chosen:
        return new_chain(state, [mention.number])[0]
    chains = sorted(chosen.values(), key=lambda c: c.mentions[:1])
    captions = [m.caption for c in chains for m in mentions_of(state, c.mentions)]
    if len(set(captions)) < len(captions):
        # Transitivity would put two mentions of one caption into a chain: merging repairs the rest.
        chains = chains[:1]
    state = join_chains(state, chains, (mention.number,))
    joined = chain_of(state, mention.number)
    assert joined is not None  # it was just put there
    if joined.phase is Phase.REVIEW:
        return state
    return with_chain(state, replace(joined, phase=Phase.LINKING))


def unlink(state: ImageState, mentions: tuple[int, ...]) -> ImageState:
    """Forget the questions asked about these mentions, so that they take a new turn."""
    kept = tuple(link for link in state.links if link.mention not in mentions)
    return replace(state, links=kept, link_round=state.link_round + 1)


def _pair(link: Link) -> tuple[int, int, int]:
    return link.mention, link.target, link.round


def _shares_type(state: ImageState, mention: Mention, chain: Chain) -> bool:
    return not chain_types(state, chain).isdisjoint(mention.types)


def _has_caption(state: ImageState, chain: Chain, caption: int) -> bool:
    return any(
        mention.caption == caption
        for mention in (find_mention(state, number) for number in chain.mentions)
        if mention is not None
    )
