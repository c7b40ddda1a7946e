"""Undoing a review decision: restore what it changed, unless something has changed it since."""

from collections.abc import Callable
from typing import TypeVar

from msgspec.structs import replace

from annotation.pipeline.mentions.mention import Mention
from annotation.pipeline.protocol.facts import FactRefusedError
from annotation.pipeline.protocol.state import (
    Box,
    BoxStatus,
    CaptionFlags,
    Chain,
    CutReport,
    DecisionRecord,
    ImageState,
    Link,
    Parts,
    SecondOpinion,
)

Part = TypeVar("Part")
Key = tuple[int, ...]


def record_decision(before: ImageState, after: ImageState, fact: int) -> ImageState:
    """Record in the state what a decision has changed."""
    record = DecisionRecord(
        fact=fact, before=_changed(before, after), after=_changed(after, before)
    )
    return replace(after, decisions=(*after.decisions, record))


def undo(state: ImageState, decision: int) -> ImageState:
    """Restore what the decision changed; refuse if something else has changed it since."""
    record = next((r for r in state.decisions if r.fact == decision), None)
    if record is None:
        raise FactRefusedError(f"fact {decision} is not a review decision, or is undone already")
    before, after = record.before, record.after
    state = replace(
        state,
        mentions=_put_back(state.mentions, before.mentions, after.mentions, _number, "mention"),
        links=_put_back(state.links, before.links, after.links, _pair, "link"),
        chains=_put_back(state.chains, before.chains, after.chains, _number, "chain"),
        boxes=_put_back(state.boxes, before.boxes, after.boxes, _number, "box"),
        flags=_put_back(state.flags, before.flags, after.flags, _caption, "caption"),
        cut_reports=_add_back(state.cut_reports, before.cut_reports, _report),
        second_opinions=_add_back(state.second_opinions, before.second_opinions, _opinion),
        decisions=tuple(r for r in state.decisions if r is not record),
    )
    _check_places(state)
    return state


def note_doubt(state: ImageState, judgment: int) -> ImageState:
    """Record the doubt with every decision that removed the judgment's vote.

    The vote does not count now, but undoing the decision brings it back as doubted.
    """
    records = tuple(
        replace(record, doubts=(*record.doubts, judgment))
        if judgment in _judgments(record.before) - _judgments(record.after)
        and judgment not in record.doubts
        else record
        for record in state.decisions
    )
    return replace(state, decisions=records) if records != state.decisions else state


def noted_doubts(state: ImageState, decision: int) -> tuple[int, ...]:
    """Return the judgments that were doubted after the decision had removed their votes."""
    return next((r.doubts for r in state.decisions if r.fact == decision), ())


def _judgments(parts: Parts) -> set[int]:
    """Return the judgments whose votes or reports count in these parts."""
    votes = [
        *(link.vote for link in parts.links),
        *(vote for c in parts.chains for vote in (*c.verification, *c.requirement, *c.coverage)),
        *(box.quality for box in parts.boxes if box.status is not BoxStatus.REMOVED),
        *(vote for flags in parts.flags for vote in flags.votes),
        *(report.vote for report in parts.cut_reports),
    ]
    return {vote.fact for vote in votes if vote is not None}


def _check_places(state: ImageState) -> None:
    """Refuse if a mention has since been placed in a chain by a turn that the decision opened."""
    placed = [number for chain in state.chains for number in chain.mentions]
    visual = {mention.number for mention in state.mentions if mention.is_visual}
    for number in placed:
        if number not in visual or placed.count(number) > 1:
            raise _changed_since(f"mention {number}")


def _changed(this: ImageState, other: ImageState) -> Parts:
    """Return the parts of one state that are different in the other or missing from it."""
    return Parts(
        mentions=_only_in(this.mentions, other.mentions),
        links=_only_in(this.links, other.links),
        chains=_only_in(this.chains, other.chains),
        boxes=_only_in(this.boxes, other.boxes),
        flags=_only_in(this.flags, other.flags),
        cut_reports=_only_in(this.cut_reports, other.cut_reports),
        second_opinions=_only_in(this.second_opinions, other.second_opinions),
    )


def _only_in(these: tuple[Part, ...], others: tuple[Part, ...]) -> tuple[Part, ...]:
    return tuple(part for part in these if part not in others)


def _put_back(
    current: tuple[Part, ...],
    before: tuple[Part, ...],
    after: tuple[Part, ...],
    key: Callable[[Part], Key],
    name: str,
) -> tuple[Part, ...]:
    now = {key(part): part for part in current}
    made = {key(part): part for part in after}
    for number in made.keys() | {key(part) for part in before}:
        if now.get(number) != made.get(number):
            which = "-".join(str(n) for n in number)
            raise _changed_since(f"{name} {which}")
    kept = [part for part in current if key(part) not in made]
    return tuple(sorted([*kept, *before], key=key))


def _changed_since(part: str) -> FactRefusedError:
    return FactRefusedError(
        f"the decision cannot be undone: {part} has changed since; "
        "if a later decision changed it, undo that one first"
    )


def _add_back(
    current: tuple[Part, ...], gone: tuple[Part, ...], key: Callable[[Part], Key]
) -> tuple[Part, ...]:
    """Restore the parts that a decision made pointless; keep those added since."""
    return tuple(sorted((*current, *_only_in(gone, current)), key=key))


def _number(part: Mention | Chain | Box) -> Key:
    return (part.number,)


def _pair(link: Link) -> Key:
    return link.mention, link.target, link.round


def _caption(flags: CaptionFlags) -> Key:
    return (flags.caption,)


def _report(report: CutReport) -> Key:
    return report.vote.fact, report.mention


def _opinion(opinion: SecondOpinion) -> Key:
    return (opinion.question.doubted,)
