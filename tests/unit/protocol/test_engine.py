"""Facts in their order, questions and their names."""

import pytest
from msgspec.structs import replace

from annotation.pipeline.engine import apply, counts, fold, open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import (
    Body,
    BoxAdd,
    Doubt,
    Fact,
    FactRefusedError,
    Judgment,
    Undo,
    body_kind,
    decode_body,
    encode_body,
)
from annotation.pipeline.protocol.questions import Question, Stage, question_from_key
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.state import decode_state, encode_state
from tests.unit.protocol.images import (
    RECT,
    REVIEWER,
    Session,
    boxed_man,
    finished_man,
    image,
    one_ball,
    one_man,
)


def test_facts_come_in_the_order_of_their_numbers() -> None:
    session = one_ball()
    body = session.judgment("requirement/1/1", "box")
    for number in (0, 2):
        with pytest.raises(FactRefusedError, match=f"fact {number} cannot follow fact 0"):
            apply(session.state, Fact(number, Settings(), body))


@pytest.mark.parametrize("stage", Stage)
def test_an_answer_must_be_one_of_its_stage(stage: Stage) -> None:
    session = one_ball()
    question = Question(stage, (1, 1) if stage is Stage.LINKS else (1,))
    with pytest.raises(FactRefusedError) as refusal:
        session.apply(Judgment(1, question, "perhaps"))
    assert str(refusal.value) == (
        f"'perhaps' is not an answer to {question.key}; use {', '.join(spec_of(stage).answers)}"
    )


@pytest.mark.parametrize(
    ("judgment", "why"),
    [
        (Judgment(1, Question(Stage.DRAWING, (1,)), "box"), "'box' .* needs a rectangle"),
        (Judgment(1, Question(Stage.DRAWING, (1,)), "none", RECT), "'none' .* takes no rectangle"),
        (Judgment(1, Question(Stage.REQUIREMENT, (1,)), "box", RECT), "takes no rectangle"),
        (
            Judgment(1, Question(Stage.DRAWING, (1,)), "box", Rect(1, 1, 101, 9)),
            "lies outside the 100×80 image",
        ),
        (
            Judgment(1, Question(Stage.DRAWING, (1,)), "none", cut_wrongly=(2,)),
            "there is no mention 2 in this image",
        ),
        *(
            (
                Judgment(1, Question(Stage.DRAWING, (1,)), "none", unrelated=(caption,)),
                f"there is no caption {caption} in this image",
            )
            for caption in (0, 2)
        ),
    ],
)
def test_an_answer_that_does_not_fit_its_image_is_refused(judgment: Judgment, why: str) -> None:
    session = one_man()
    before = session.state
    with pytest.raises(FactRefusedError, match=why):
        session.apply(judgment)
    assert session.state == before


@pytest.mark.parametrize(
    "key", ["coverage/7/2", "links/12-5/1", "links/12-5/1?41", "quality/3/1", "drawing/1/10"]
)
def test_a_question_is_read_back_from_its_key(key: str) -> None:
    assert question_from_key(key).key == key


@pytest.mark.parametrize(
    "key", ["", "coverage", "coverage/7", "colour/7/2", "links/a/1", "a/b/c/d"]
)
def test_what_is_no_key_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match="is not a question; one reads like 'coverage/7/2'"):
        question_from_key(key)


@pytest.mark.parametrize(
    "question",
    [
        Question(Stage.COVERAGE, (99,)),
        Question(Stage.LINKS, (1,)),
        Question(Stage.QUALITY, ()),
        Question(Stage.REQUIREMENT, (1,), round=2),
        Question(Stage.REQUIREMENT, (1,), doubted=5),
    ],
)
def test_an_answer_to_a_question_that_was_never_asked_is_not_counted(question: Question) -> None:
    session = one_ball()
    judgment = Judgment(1, question, spec_of(question.stage).answers[0])
    assert not counts(session.state, judgment)
    before = session.state
    session.apply(judgment)
    assert session.state == replace(before, facts=1)


def test_an_image_without_visual_mentions_is_finished_at_once() -> None:
    for state in (image("Nothing ."), image("In [notvisual front] ."), image()):
        assert state.is_finished
        assert open_questions(state) == []


def test_old_facts_fold_under_the_settings_they_were_made_under() -> None:
    session = boxed_man(Settings(version=1, coverage_votes=1))
    session.say("coverage/1/2", "yes")
    assert session.state.is_finished
    session.settings = Settings(version=2, coverage_votes=3)
    session.say_late("coverage/1/2", "no")
    assert session.state.is_finished
    assert fold(session.start, session.facts) == session.state


def test_the_fold_of_the_facts_is_the_state() -> None:
    session = finished_man()
    session.undo(session.apply(BoxAdd(REVIEWER, 1, RECT)))
    assert fold(session.start, session.facts) == session.state


def test_a_state_is_stored_and_read_back() -> None:
    session = finished_man()
    session.apply(BoxAdd(REVIEWER, 1, RECT))
    session.doubt(3)
    assert decode_state(encode_state(session.state)) == session.state


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (Judgment(1, question_from_key("drawing/1/1"), "box", RECT, (1,), (2,)), "judgment"),
        (Doubt(4, "revoked"), "doubt"),
        (BoxAdd(9, 1, RECT), "box_add"),
        (Undo(9, 3), "undo"),
    ],
)
def test_a_fact_is_stored_and_read_back(body: Body, kind: str) -> None:
    assert decode_body(encode_body(body)) == body
    assert body_kind(body) == kind


def test_one_box_stage_is_open_per_chain_at_a_time() -> None:
    session = Session("[people A man] on [scene a road] .")
    assert session.open == ["drawing/1/1", "requirement/2/1"]
    session.say("drawing/1/1", "box")
    assert session.open == ["quality/1/1", "requirement/2/1"]
    session.say("quality/1/1", "good")
    assert session.open == ["coverage/1/2", "requirement/2/1"]
