"""Doubts: what happens to a judgment whose author was revoked.

In an open tally the vote is removed. A settled decision that rested on it is asked about again, as
a second opinion; if that disagrees, the chain goes to review.
"""

from typing import assert_never

from msgspec.structs import replace

from annotation.pipeline.protocol.cycles import SECOND_OPINION, to_review
from annotation.pipeline.protocol.questions import (
    BOX,
    FALSE,
    GOOD,
    NO,
    NOBOX,
    TRUE,
    YES,
    Question,
    Stage,
)
from annotation.pipeline.protocol.reports import withdraw_reports
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import Subject, spec_of
from annotation.pipeline.protocol.stages.coverage import (
    coverage_question,
    coverage_tally,
    settle_coverage,
)
from annotation.pipeline.protocol.stages.links import can_be_linked, link_question, record_link
from annotation.pipeline.protocol.stages.quality import quality_question
from annotation.pipeline.protocol.stages.requirement import (
    requirement_question,
    requirement_tally,
    settle_requirement,
    with_requirement_votes,
)
from annotation.pipeline.protocol.stages.verification import (
    Verdict,
    by_head,
    verdict,
    verification_question,
)
from annotation.pipeline.protocol.state import (
    BEFORE_BOXES,
    Barred,
    BoxStatus,
    BrokenChain,
    Chain,
    ImageState,
    Phase,
    SecondOpinion,
    Vote,
    accepted_boxes,
    chain_of,
    find_box,
    find_chain,
    with_box,
    with_chain,
)


def doubt(state: ImageState, judgment: int, settings: Settings) -> ImageState:
    """Remove the judgment's vote wherever it counts."""
    state = withdraw_reports(state, judgment, settings)
    for link in state.links:
        if link.vote is not None and link.vote.fact == judgment:
            question = link_question(link)
            if chain_of(state, link.mention) is None:
                state = _bar(record_link(state, question, None), question, link.vote)
            else:
                state = _ask_again(state, question, link.vote, link.vote.answer)
    for broken in state.broken:
        state = _doubt_broken(state, broken, judgment)
    for chain in state.chains:
        state = _doubt_verification(state, chain, judgment)
    for chain in state.chains:
        state = _doubt_requirement(state, chain, judgment, settings)
    for chain in state.chains:
        state = _doubt_coverage(state, chain, judgment, settings)
    for box in state.boxes:
        if box.quality is not None and box.quality.fact == judgment:
            state = _ask_again(state, quality_question(box), box.quality, box.quality.answer)
    return state


def held_chains(state: ImageState) -> set[int]:
    """Return the chains whose next question waits for a second opinion."""
    return {
        chain.number
        for opinion in state.second_opinions
        for chain in chains_concerned(state, opinion.question)
    }


def prune_second_opinions(state: ImageState) -> ImageState:
    """Drop second opinions on decisions that no longer stand: nothing rests on them any more."""
    kept = tuple(opinion for opinion in state.second_opinions if _stands(state, opinion))
    return replace(state, second_opinions=kept) if kept != state.second_opinions else state


def record_second_opinion(state: ImageState, question: Question, vote: Vote) -> ImageState:
    """Replace the doubted vote with the new one; disagreement goes to review."""
    opinion = next(o for o in state.second_opinions if o.question == question)
    state = replace(
        state, second_opinions=tuple(o for o in state.second_opinions if o is not opinion)
    )
    state = _with_vote(state, question, vote)
    if _agrees(question.stage, opinion.decided, vote.answer):
        return state
    for chain in chains_concerned(state, question):
        state = to_review(state, chain, SECOND_OPINION)
    return state


def _ask_again(state: ImageState, question: Question, vote: Vote, decided: str) -> ImageState:
    opinion = SecondOpinion(
        question=replace(question, doubted=vote.fact), decided=decided, worker=vote.worker
    )
    if opinion in state.second_opinions:
        return state
    opinions = sorted((*state.second_opinions, opinion), key=lambda o: o.question.doubted)
    return replace(state, second_opinions=tuple(opinions))


def _bar(state: ImageState, question: Question, vote: Vote) -> ImageState:
    return replace(state, barred=(*state.barred, Barred(question=question, worker=vote.worker)))


def _split_vote(votes: tuple[Vote, ...], fact: int) -> tuple[Vote | None, tuple[Vote, ...]]:
    doubted = next((vote for vote in votes if vote.fact == fact), None)
    return doubted, tuple(vote for vote in votes if vote.fact != fact)


def _doubt_broken(state: ImageState, broken: BrokenChain, judgment: int) -> ImageState:
    vote, rest = _split_vote(broken.votes, judgment)
    if vote is None:
        return state
    state = _with_broken(state, replace(broken, votes=rest))
    if verdict(rest, len(by_head(state, broken.mentions))) is not Verdict.ASK:
        return state
    question = Question(stage=Stage.VERIFICATION, subject=(broken.number,), round=broken.round)
    return _ask_again(state, question, vote, FALSE)


def _doubt_verification(state: ImageState, chain: Chain, judgment: int) -> ImageState:
    vote, rest = _split_vote(chain.verification, judgment)
    if vote is None:
        return state
    state = with_chain(state, replace(chain, verification=rest))
    state = _bar(state, verification_question(chain), vote)
    kept_by_it = vote.answer == TRUE and TRUE not in [v.answer for v in rest]
    if chain.phase in BEFORE_BOXES or not kept_by_it:
        return state
    return _ask_again(state, verification_question(chain), vote, TRUE)


def _doubt_requirement(
    state: ImageState, chain: Chain, judgment: int, settings: Settings
) -> ImageState:
    vote, rest = _split_vote(chain.requirement, judgment)
    if vote is None:
        return state
    chain = with_requirement_votes(chain, rest)
    state = _bar(with_chain(state, chain), requirement_question(chain), vote)
    if chain.phase is Phase.NONVISUAL:
        if vote.answer == BOX or requirement_tally(rest, settings) is Phase.NONVISUAL:
            return state
        return _ask_again(state, requirement_question(chain), vote, NOBOX)
    # An accepted box has settled the matter already; a proposed one is about to.
    undecided = chain.phase in (Phase.REQUIREMENT, Phase.DRAWING)
    if undecided and not accepted_boxes(state, chain.number):
        return settle_requirement(state, chain, settings)
    return state


def _doubt_coverage(
    state: ImageState, chain: Chain, judgment: int, settings: Settings
) -> ImageState:
    vote, rest = _split_vote(chain.coverage, judgment)
    if vote is None:
        return state
    chain = replace(chain, coverage=rest)
    state = _bar(with_chain(state, chain), coverage_question(chain), vote)
    if chain.phase is Phase.COMPLETE:
        if vote.answer == NO or coverage_tally(rest, settings) is Phase.COMPLETE:
            return state
        return _ask_again(state, coverage_question(chain), vote, YES)
    if chain.phase in (Phase.COVERAGE, Phase.DRAWING):
        return settle_coverage(state, chain, settings)
    return state


def _stands(state: ImageState, opinion: SecondOpinion) -> bool:
    question = opinion.question
    concerned = chains_concerned(state, question)
    if not concerned or any(chain.phase is Phase.REVIEW for chain in concerned):
        return False
    chain = find_chain(state, question.subject[0])
    match question.stage:
        case Stage.LINKS:
            return _link_stands(state, opinion)
        case Stage.VERIFICATION:
            if chain is None:
                # It was broken; a reviewer may have put its mentions together again.
                return len(concerned) > 1
            # A reviewer may have left it one mention: there is nothing to verify.
            return (
                len(chain.mentions) > 1
                and chain.verification_round == question.round
                and chain.phase not in BEFORE_BOXES
            )
        case Stage.REQUIREMENT:
            assert chain is not None  # a chain is concerned, and it is this one
            return chain.phase is Phase.NONVISUAL and chain.requirement_round == question.round
        case Stage.QUALITY:
            box = find_box(state, question.subject[0])
            wanted = BoxStatus.ACCEPTED if opinion.decided == GOOD else BoxStatus.DISCARDED
            return box is not None and box.status is wanted
        case Stage.DRAWING:
            return False  # a doubted "none needed" is asked again as Requirement or Coverage
        case Stage.COVERAGE:
            assert chain is not None  # a chain is concerned, and it is this one
            return chain.phase is Phase.COMPLETE and chain.coverage_round == question.round
        case _:
            assert_never(question.stage)


def _link_stands(state: ImageState, opinion: SecondOpinion) -> bool:
    question = opinion.question
    # Verification or a reviewer may have separated or joined the two since.
    together = chain_of(state, question.subject[0]) == chain_of(state, question.subject[1])
    asked = any(
        link_question(link) == replace(question, doubted=0) and can_be_linked(state, link)
        for link in state.links
    )
    return asked and together == (opinion.decided == YES)


def chains_concerned(state: ImageState, question: Question) -> list[Chain]:
    """Return the chains that an answer could change; none while a mention has no chain yet."""
    number = question.subject[0]
    subject = spec_of(question.stage).subject
    match subject:
        case Subject.MENTIONS:
            if any(chain_of(state, mention) is None for mention in question.subject):
                return []
            chain = chain_of(state, number)
            return [chain] if chain else []
        case Subject.BOX:
            box = find_box(state, number)
            return [c for c in state.chains if box is not None and c.number in box.chains]
        case Subject.CHAIN:
            chain = find_chain(state, number)
            if chain is not None:
                return [chain]
            parts = (broken.mentions for broken in state.broken if broken.number == number)
            members = {mention for mentions in parts for mention in mentions}
            return [c for c in state.chains if members.intersection(c.mentions)]
        case _:
            assert_never(subject)


def _with_vote(state: ImageState, question: Question, vote: Vote) -> ImageState:
    number = question.subject[0]
    subject = spec_of(question.stage).subject
    match subject:
        case Subject.MENTIONS:
            return record_link(state, question, vote)
        case Subject.BOX:
            box = find_box(state, number)
            return with_box(state, replace(box, quality=vote)) if box else state
        case Subject.CHAIN:
            chain = find_chain(state, number)
            if chain is not None:
                return with_chain(state, _chain_with_vote(chain, question.stage, vote))
            for broken in state.broken:
                if broken.number == number:
                    state = _with_broken(state, replace(broken, votes=(*broken.votes, vote)))
            return state
        case _:
            assert_never(subject)


def _chain_with_vote(chain: Chain, stage: Stage, vote: Vote) -> Chain:
    match stage:
        case Stage.VERIFICATION:
            return replace(chain, verification=(*chain.verification, vote))
        case Stage.REQUIREMENT:
            return with_requirement_votes(chain, (*chain.requirement, vote))
        case Stage.COVERAGE:
            return replace(chain, coverage=(*chain.coverage, vote))
        case Stage.LINKS | Stage.DRAWING | Stage.QUALITY:
            raise AssertionError(f"{stage.value} has no second opinions about a chain")
        case _:
            assert_never(stage)


def _with_broken(state: ImageState, broken: BrokenChain) -> ImageState:
    return replace(
        state, broken=tuple(broken if b.number == broken.number else b for b in state.broken)
    )


def _agrees(stage: Stage, decided: str, answer: str) -> bool:
    if stage is Stage.REQUIREMENT:
        return answer != BOX
    return answer == decided
