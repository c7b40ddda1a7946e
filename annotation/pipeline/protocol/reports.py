"""What workers report besides their answers: phrases cut wrongly, captions of another image."""

from msgspec.structs import replace

from annotation.pipeline.protocol.cycles import CUT_WRONGLY, to_review
from annotation.pipeline.protocol.facts import Fact, Judgment
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import (
    BEFORE_BOXES,
    CaptionFlags,
    CutReport,
    ImageState,
    Vote,
    chain_of,
)

REPORT = "report"


def record_reports(state: ImageState, judgment: Judgment, fact: Fact) -> ImageState:
    """Record the worker's reports; they count even if the answer comes too late."""
    vote = Vote(fact=fact.number, worker=judgment.worker, answer=REPORT)
    for number in sorted(set(judgment.cut_wrongly)):
        state = _report_cut(state, number, vote)
    for number in judgment.unrelated:
        state = _flag_caption(state, number, vote, fact.settings)
    return state


def flags_of(state: ImageState, caption: int) -> CaptionFlags:
    return next((f for f in state.flags if f.caption == caption), CaptionFlags(caption=caption))


def with_flags(state: ImageState, flags: CaptionFlags) -> ImageState:
    kept = {f.caption: f for f in state.flags} | {flags.caption: flags}
    return replace(state, flags=tuple(kept[n] for n in sorted(kept)))


def withdraw_reports(state: ImageState, fact: int, settings: Settings) -> ImageState:
    """Forget what a doubted judgment reported; a reviewer's decision on a caption stands."""
    reports = tuple(r for r in state.cut_reports if r.vote.fact != fact)
    state = replace(state, cut_reports=reports)
    for flags in state.flags:
        votes = tuple(vote for vote in flags.votes if vote.fact != fact)
        if votes != flags.votes:
            unrelated = flags.unrelated and (
                flags.reviewed or len(votes) >= settings.unrelated_flags
            )
            state = with_flags(state, replace(flags, votes=votes, unrelated=unrelated))
    return state


def _report_cut(state: ImageState, mention: int, vote: Vote) -> ImageState:
    state = replace(state, cut_reports=(*state.cut_reports, CutReport(mention=mention, vote=vote)))
    chain = chain_of(state, mention)
    if chain is None or chain.phase in BEFORE_BOXES:
        # It goes on for now: begin_boxes looks at the reports.
        return state
    return to_review(state, chain, CUT_WRONGLY)


def _flag_caption(state: ImageState, caption: int, vote: Vote, settings: Settings) -> ImageState:
    flags = flags_of(state, caption)
    if flags.reviewed or any(v.worker == vote.worker for v in flags.votes):
        return state
    votes = (*flags.votes, vote)
    unrelated = len(votes) >= settings.unrelated_flags
    return with_flags(state, replace(flags, votes=votes, unrelated=unrelated))
