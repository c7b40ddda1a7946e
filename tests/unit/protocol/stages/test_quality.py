"""Stage 5, Box Quality."""

from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.state import BoxStatus, Phase
from tests.unit.protocol.images import boxed_man, one_man


def test_good_is_accepted_and_goes_on_to_coverage() -> None:
    session = boxed_man()
    assert [box.status for box in session.state.boxes] == [BoxStatus.ACCEPTED]
    assert session.open == ["coverage/1/2"]


def test_bad_is_discarded_and_goes_back_to_drawing() -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "bad")
    assert [box.status for box in session.state.boxes] == [BoxStatus.DISCARDED]
    assert session.open == ["drawing/1/2"]


def test_three_bad_boxes_in_a_row_go_to_review() -> None:
    session = one_man()
    for n in (1, 2, 3):
        assert session.chain(1).phase is Phase.DRAWING
        session.say(f"drawing/1/{n}", "box")
        session.say(f"quality/{n}/1", "bad")
    assert session.chain(1).phase is Phase.REVIEW
    assert session.chain(1).review == "bad boxes in a row"
    assert session.state.in_review
    assert session.open == []


def test_a_good_box_ends_the_row() -> None:
    session = one_man()
    for n, answer in enumerate(("bad", "bad", "good", "bad", "bad"), start=1):
        session.say(f"drawing/1/{n}", "box")
        session.say(f"quality/{n}/1", answer)
        if answer == "good":
            session.say("coverage/1/2", "no")
    assert session.chain(1).phase is Phase.DRAWING


def test_the_limit_is_a_setting() -> None:
    session = one_man(Settings(bad_boxes_limit=1))
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "bad")
    assert session.chain(1).phase is Phase.REVIEW
