"""How much an image still needs: what nearly finished images are known by."""

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.engine import open_questions
from annotation.pipeline.protocol.facts import AcceptedImport
from annotation.pipeline.protocol.progress import work_left
from annotation.pipeline.protocol.state import ImageState
from tests.unit.gold.gold_images import gold_images, guess_to_the_end
from tests.unit.protocol.images import Session, boxed_man, finished_man, one_ball, one_man


def test_each_stage_leaves_less_to_do() -> None:
    begun, drawn = one_man(), one_man()
    drawn.say("drawing/1/1", "box")
    states = [begun.state, drawn.state, boxed_man().state, finished_man().state]
    assert [work_left(state) for state in states] == [4, 3, 2, 0]


def test_what_is_not_linked_yet_has_everything_before_it() -> None:
    linking = Session("[people A man] .", "[people A guy] .")
    assert work_left(linking.state) == 6 + 6, "a chain, and a mention that waits for its links"
    linking.say("links/2-1/1", "yes")
    assert linking.open == ["verification/1/1"]
    assert work_left(linking.state) == 6
    assert work_left(one_ball().state) == 5, "it begins in Requirement"


def test_a_second_opinion_is_one_judgment_more() -> None:
    session = boxed_man()
    before = work_left(session.state)
    session.doubt(2)
    assert work_left(session.state) == before + 1


@settings(max_examples=30, deadline=None)
@given(gold_images(), st.integers(0, 999), st.integers(0, 40))
def test_something_is_left_as_long_as_something_is_asked(
    drawn: tuple[ImageState, AcceptedImport], seed: int, answers: int
) -> None:
    state = guess_to_the_end(drawn[0], seed, answers)
    if open_questions(state):
        assert work_left(state) > 0
    if state.is_finished:
        assert work_left(state) == 0
