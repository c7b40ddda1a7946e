"""What holds in every state of an image that the facts can lead to.

Each check reads the state anew, by the words of the protocol, instead of asking the engine.
"""

from annotation.pipeline.engine import open_questions
from annotation.pipeline.protocol.questions import NOBOX, SCENE, Question, Stage
from annotation.pipeline.protocol.state import (
    BoxStatus,
    Chain,
    ImageState,
    Phase,
    chain_of,
    find_box,
    find_chain,
    find_mention,
)
from annotation.pipeline.work.display import shown


def check_flags(state: ImageState) -> None:
    """The flags of a non-visual chain say what its votes say; without votes, a reviewer's word."""
    for chain in state.chains:
        if chain.phase is Phase.NONVISUAL and chain.requirement:
            answers = [vote.answer for vote in chain.requirement]
            scenes, without = answers.count(SCENE), answers.count(NOBOX)
            assert chain.scene == (scenes >= without), chain
            assert chain.nobndbox == (without >= scenes), chain


def check_no_doubted_vote_counts(state: ImageState, doubted: set[int]) -> None:
    for chain in state.chains:
        for vote in (*chain.verification, *chain.requirement, *chain.coverage):
            assert vote.fact not in doubted, chain
    asked = {opinion.question.doubted for opinion in state.second_opinions}
    for link in state.links:
        if link.vote is not None and chain_of(state, link.mention) is None:
            assert link.vote.fact not in doubted | asked, link
    for flags in state.flags:
        assert not doubted.intersection(vote.fact for vote in flags.votes)
    for report in state.cut_reports:
        assert report.vote.fact not in doubted


def check_open_questions(state: ImageState) -> None:
    """Every open question shows what it asks about, and its answer has something to decide."""
    for question in open_questions(state):
        seen = shown(state, question)
        marked = [find_mention(state, mark.mention) for mark in seen.marks]
        assert all(mention is not None and mention.is_visual for mention in marked), question.key
        match question.stage:
            case Stage.LINKS:
                _check_link(state, question)
            case Stage.VERIFICATION:
                assert len(marked) >= 2, question.key
                _check_verification(state, question, [mark.mention for mark in seen.marks])
            case Stage.QUALITY:
                box = find_box(state, question.subject[0])
                assert box is not None
                assert box.status is not BoxStatus.REMOVED
                assert seen.candidate == box.rect
            case _:
                assert len(marked) == 1


def _check_link(state: ImageState, question: Question) -> None:
    mention, target = (find_mention(state, number) for number in question.subject)
    assert mention is not None
    assert target is not None
    chain = chain_of(state, target.number)
    assert chain is not None, question.key
    assert _types(state, chain).intersection(mention.types), question.key


def _check_verification(state: ImageState, question: Question, marked: list[int]) -> None:
    chain = find_chain(state, question.subject[0])
    if chain is not None:
        assert sorted(marked) == list(chain.mentions)
        return
    # A second opinion on a chain that was broken: its mentions are still apart.
    assert question.doubted
    places = [chain_of(state, number) for number in marked]
    assert all(place is not None for place in places)
    assert len({place.number for place in places if place is not None}) > 1, question.key


def _types(state: ImageState, chain: Chain) -> set[str]:
    members = (find_mention(state, number) for number in chain.mentions)
    return {kind for member in members if member is not None for kind in member.types}
