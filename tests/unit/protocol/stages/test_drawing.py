"""Stage 4, Box Drawing."""

import pytest

from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import FactRefusedError, Judgment
from annotation.pipeline.protocol.questions import question_from_key
from annotation.pipeline.protocol.state import BoxStatus, Phase
from tests.unit.protocol.images import HEIGHT, RECT, WIDTH, boxed_man, one_man


def test_a_box_goes_to_quality() -> None:
    session = one_man()
    session.say("drawing/1/1", "box", worker=7)
    (box,) = session.state.boxes
    assert (box.rect, box.status, box.drawer) == (RECT, BoxStatus.PROPOSED, 7)
    assert session.open == ["quality/1/1"]


def test_none_needed_without_accepted_box_is_a_vote_against_a_box() -> None:
    session = one_man()
    session.say("drawing/1/1", "none")
    assert [vote.answer for vote in session.chain(1).requirement] == ["box", "none"]
    assert session.open == ["requirement/1/1"]


def test_a_discarded_box_is_not_an_accepted_one() -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    session.say("quality/1/1", "bad")
    session.say("drawing/1/2", "none")
    assert session.open == ["requirement/1/1"]


def test_none_needed_with_accepted_boxes_is_a_vote_for_completeness() -> None:
    session = boxed_man()
    session.say("coverage/1/2", "no", worker=3)
    session.say("drawing/1/2", "none", worker=4)
    assert session.open == ["coverage/1/2"]
    assert len(session.chain(1).coverage) == 2
    session.say("coverage/1/2", "yes")
    assert session.chain(1).phase is Phase.COMPLETE, "two against one"


def test_every_drawing_is_a_question_of_its_own() -> None:
    session = one_man()
    session.say("drawing/1/1", "box", worker=1)
    session.say("quality/1/1", "bad")
    session.say("drawing/1/2", "box", worker=1)
    session.say_late("drawing/1/1", "box", worker=2)
    assert [box.number for box in session.state.boxes] == [1, 2]
    assert session.open == ["quality/2/1"]


@pytest.mark.parametrize(
    ("rect", "why"),
    [
        (None, "the answer 'box' to drawing/1/1 needs a rectangle"),
        (Rect(1, 1, WIDTH + 1, HEIGHT), f"box 1,1–101,80 lies outside the {WIDTH}×{HEIGHT} image"),
        (Rect(0, 1, 5, 5), f"box 0,1–5,5 lies outside the {WIDTH}×{HEIGHT} image"),
        (Rect(5, 1, 4, 5), "box 5,1–4,5 ends before it starts"),
    ],
)
def test_a_box_must_be_a_box_of_the_image(rect: Rect | None, why: str) -> None:
    session = one_man()
    with pytest.raises(FactRefusedError) as refusal:
        session.apply(Judgment(1, question_from_key("drawing/1/1"), "box", rect))
    assert str(refusal.value) == why


@pytest.mark.parametrize(
    "rect", [Rect(1, 1, WIDTH, HEIGHT), Rect(1, 1, 1, 1), Rect(WIDTH, HEIGHT, WIDTH, HEIGHT)]
)
def test_a_box_may_touch_the_edges_and_be_one_pixel(rect: Rect) -> None:
    session = one_man()
    session.say("drawing/1/1", "box", rect=rect)
    assert session.open == ["quality/1/1"]


def test_none_needed_takes_no_rectangle() -> None:
    session = one_man()
    with pytest.raises(FactRefusedError, match="takes no rectangle"):
        session.apply(Judgment(1, question_from_key("drawing/1/1"), "none", RECT))
