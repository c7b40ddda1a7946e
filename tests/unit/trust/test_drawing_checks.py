"""Whether drawings were right, by what the crowd said later."""

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.state import Box, BoxStatus, Phase
from annotation.pipeline.trust.drawing_checks import (
    Drawing,
    DrawingCheck,
    boxes_drawn,
    drawing_checks,
)
from tests.unit.protocol.images import RECT, Session, boxed_man, one_ball, one_man


def checks(session: Session, *drawings: Drawing, judged: int | None = None) -> list[DrawingCheck]:
    numbers = {session.state.facts if judged is None else judged}
    return list(drawing_checks(session.state, drawings, numbers))


def test_a_box_is_right_if_quality_accepts_it() -> None:
    for answer, right in (("good", True), ("bad", False)):
        session = one_man()
        session.say("drawing/1/1", "box", worker=1)
        drawing = Drawing(number=session.state.facts, worker=1, chain=1, rect=RECT)
        session.say("quality/1/1", answer, worker=2)
        assert checks(session, drawing) == [DrawingCheck(drawing, right)]
        assert checks(session, drawing, judged=99) == [], "somebody else's word"


def test_none_needed_is_right_if_the_chain_ends_without_a_box() -> None:
    session = one_ball()
    session.say("requirement/1/1", "box", worker=1)
    session.say("drawing/1/1", "none", worker=2)
    drawing = Drawing(number=session.state.facts, worker=2, chain=1)
    session.say("requirement/1/1", "nobox")
    assert checks(session, drawing) == [DrawingCheck(drawing, True)]


def test_none_needed_is_wrong_if_a_box_is_accepted_after_it() -> None:
    session = boxed_man()
    # The box was drawn by judgment 1 and accepted by judgment 2.
    early = Drawing(number=1, worker=7, chain=1)
    session.say("coverage/1/2", "yes", "yes")
    late = Drawing(number=session.state.facts, worker=8, chain=1)
    assert checks(session, early, late) == [DrawingCheck(early, False), DrawingCheck(late, True)]


def test_none_needed_is_not_known_before_the_chain_is_settled_nor_by_other_chains() -> None:
    session = Session("[people A man] on [other a stool] .")
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "good")
    session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "none")
    drawing = Drawing(number=session.state.facts, worker=8, chain=1)
    session.say("coverage/1/2", "yes")
    assert checks(session, drawing) == [DrawingCheck(drawing, True)]
    session.say("requirement/2/1", "nobox")
    assert checks(session, drawing) == [], "that vote was about the other chain"

    session = boxed_man()
    session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "none")
    drawing = Drawing(number=session.state.facts, worker=8, chain=1)
    assert session.chain(1).phase is not Phase.COMPLETE
    assert checks(session, drawing) == [], "nothing is settled yet"


def test_of_boxes_alike_the_first_is_the_first() -> None:
    whole = Rect(1, 1, 60, 40)
    boxes = [
        Box(number=n, chains=(n,), rect=whole, status=BoxStatus.PROPOSED, drawer=5) for n in (1, 2)
    ]
    boxes.append(Box(number=3, chains=(1,), rect=whole, status=BoxStatus.PROPOSED))
    drawings = [Drawing(number=n, worker=5, chain=n - 3, rect=whole) for n in (5, 4)]
    assert {box: drawing.number for box, drawing in boxes_drawn(boxes, drawings).items()} == {
        1: 4,
        2: 5,
    }
