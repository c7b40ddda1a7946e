"""How much an image still needs: what nearly finished images are known by."""

from hypothesis import given, settings
from hypothesis import strategies as st

from annotation.pipeline.engine import open_questions
from annotation.pipeline.facts import AcceptedImport
from annotation.pipeline.progress import work_left
from annotation.pipeline.state import ImageState
from tests.unit.gold_images import gold_images, guess_to_the_end
from tests.unit.images import boxed_man, finished_man, one_man


def test_each_stage_leaves_less_to_do() -> None:
    begun, drawn = one_man(), one_man()
    drawn.say("drawing/1/1", "box")
    states = [begun.state, drawn.state, boxed_man().state, finished_man().state]
    assert [work_left(state) for state in states] == [4, 3, 2, 0]


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
