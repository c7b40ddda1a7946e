"""Taking a review decision back."""

import pytest
from msgspec.structs import replace

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import (
    BoxAdd,
    BoxAdjust,
    BoxDelete,
    CaptionUnrelated,
    Decision,
    FactRefusedError,
    FixSpan,
    Join,
    NoBox,
    Retype,
    SendTo,
    Split,
    Target,
)
from annotation.pipeline.protocol.state import ImageState
from tests.unit.protocol.images import RECT, REVIEWER, Session, finished_man
from tests.unit.review.test_decisions import three_chains

OTHER_RECT = Rect(50, 50, 60, 60)


def without_counters(state: ImageState) -> ImageState:
    """Return the state without the numbers that only ever grow."""
    return replace(state, facts=0, next_chain=0, next_box=0, link_round=0)


@pytest.mark.parametrize(
    "decision",
    [
        FixSpan(REVIEWER, 3, 0, 1),
        Retype(REVIEWER, 3, ("animals",)),
        Retype(REVIEWER, 3, ("notvisual",)),
        Retype(REVIEWER, 4, ("notvisual",)),
        Split(REVIEWER, 1, (3,), (1,)),
        Split(REVIEWER, 1, (1,)),
        Join(REVIEWER, (1, 2)),
        Join(REVIEWER, (1, 2, 3)),
        BoxAdd(REVIEWER, 3, OTHER_RECT),
        BoxAdjust(REVIEWER, 1, OTHER_RECT),
        BoxDelete(REVIEWER, 1),
        NoBox(REVIEWER, 1, True, True),
        CaptionUnrelated(REVIEWER, 2, True),
        *(SendTo(REVIEWER, 1, target) for target in Target if target is not Target.REQUIREMENT),
        SendTo(REVIEWER, 3, Target.REQUIREMENT),
    ],
    ids=lambda decision: f"{type(decision).__name__} {getattr(decision, 'target', '')}",
)
def test_undo_restores_all_that_the_decision_changed(decision: Decision) -> None:
    session = three_chains()
    before = session.state
    number = session.apply(decision)
    assert without_counters(session.state) != without_counters(before)
    session.undo(number)
    assert without_counters(session.state) == without_counters(before)


def test_undo_brings_reports_back() -> None:
    session = Session("[people A man] here .", "[people A guy] .", "[people A boy] .")
    session.say("links/2-1/1", "no", cut_wrongly=(1,))
    before = session.state
    number = session.apply(FixSpan(REVIEWER, 1, 0, 3))
    session.undo(number)
    assert session.state.cut_reports == before.cut_reports


def test_undo_brings_second_opinions_back() -> None:
    session = finished_man()
    session.doubt(4)
    number = session.apply(SendTo(REVIEWER, 1, Target.REVIEW))
    assert session.open == []
    session.undo(number)
    assert session.open == ["coverage/1/2?4"], "the chain rests on one vote only"


def test_undo_leaves_what_has_happened_elsewhere() -> None:
    session = three_chains()
    number = session.apply(NoBox(REVIEWER, 1, True, False))
    session.say("requirement/3/1", "box")
    session.undo(number)
    assert "coverage/1/2" in session.open
    assert "drawing/3/1" in session.open


def test_undo_goes_in_any_order_if_the_decisions_do_not_touch() -> None:
    session = three_chains()
    before = session.state
    first = session.apply(BoxAdjust(REVIEWER, 1, OTHER_RECT))
    second = session.apply(NoBox(REVIEWER, 3, True, False))
    session.undo(first)
    session.undo(second)
    assert without_counters(session.state) == without_counters(before)


def test_undo_is_refused_when_the_chain_has_changed_since() -> None:
    session = three_chains()
    number = session.apply(SendTo(REVIEWER, 1, Target.COVERAGE))
    session.say("coverage/1/3", "yes")
    with pytest.raises(FactRefusedError, match="cannot be undone: chain 1 has changed since"):
        session.undo(number)


def test_undo_is_refused_when_a_later_decision_has_changed_the_same() -> None:
    session = finished_man()
    first = session.apply(BoxAdjust(REVIEWER, 1, OTHER_RECT))
    second = session.apply(BoxAdjust(REVIEWER, 1, Rect(1, 1, 5, 5)))
    with pytest.raises(FactRefusedError, match="cannot be undone: box 1 has changed since"):
        session.undo(first)
    session.undo(second)
    session.undo(first)
    assert session.state.boxes[0].rect == RECT


def test_undo_is_refused_when_a_pair_was_answered_since() -> None:
    session = three_chains()
    number = session.apply(SendTo(REVIEWER, 1, Target.LINKS))
    session.say(session.open[0], "no")
    with pytest.raises(FactRefusedError, match="cannot be undone: link 3-1-2 has changed since"):
        session.undo(number)


def test_undo_is_refused_when_the_mention_has_found_another_chain_since() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[people Someone] .")
    for _ in range(3):
        session.say(session.open[0], "no")
    session.apply(SendTo(REVIEWER, 2, Target.LINKS))
    number = session.apply(SendTo(REVIEWER, 3, Target.LINKS))  # waits for mention 2
    while any(key.startswith("links") for key in session.open):
        session.say(next(key for key in session.open if key.startswith("links")), "no")
    assert session.partition == [(1,), (2,), (3,)]
    with pytest.raises(FactRefusedError, match="cannot be undone: mention 3 has changed since"):
        session.undo(number)


def test_undo_is_refused_when_a_mention_that_would_vanish_has_a_chain_since() -> None:
    session = Session("[people A man] .", "[people A guy] .", "[notvisual Someone] .")
    number = session.apply(Retype(REVIEWER, 3, ("people",)))  # waits for mention 2
    session.say("links/2-1/1", "no")
    session.say("links/3-1/1", "no")
    session.say("links/3-2/1", "no")
    with pytest.raises(FactRefusedError, match="cannot be undone: mention 3 has changed since"):
        session.undo(number)


def test_only_a_decision_that_stands_can_be_undone() -> None:
    session = finished_man()
    number = session.apply(NoBox(REVIEWER, 1, True, False))
    undone = session.undo(number)
    for fact in (1, 99, number, undone):
        with pytest.raises(
            FactRefusedError, match=f"fact {fact} is not a review decision, or is undone already"
        ):
            session.undo(fact)


def test_numbers_are_not_reused_after_an_undo() -> None:
    session = finished_man()
    session.undo(session.apply(BoxAdd(REVIEWER, 1, OTHER_RECT)))
    session.apply(BoxAdd(REVIEWER, 1, OTHER_RECT))
    assert [box.number for box in session.state.boxes] == [1, 3]
