"""What a question shows, and which answers are valid."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.engine import open_questions
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import FixSpan, Judgment
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.answers import (
    Answer,
    answer_problem,
    answers_digest,
    decode_answer,
    encode_answer,
    judgment_of,
    tidy,
)
from annotation.pipeline.work.display import (
    Mark,
    NothingToShowError,
    Shown,
    decode_shown,
    encode_shown,
    shown,
)
from tests.unit.protocol.images import (
    HEIGHT,
    RECT,
    REVIEWER,
    WIDTH,
    Session,
    boxed_man,
    finished_man,
    one_ball,
    one_man,
)

OTHER = Rect(50, 10, 90, 70)


def show(session: Session, key: str) -> Shown:
    return shown(session.state, question_from_key(key))


def three_men() -> Session:
    return Session(
        "[people A man] walks .",
        "It rains .",
        "[people An old man] stands by [people a boy] .",
        "There is [people the man] .",
    )


# What is shown


def test_links_shows_two_captions_the_new_mention_first() -> None:
    assert show(three_men(), "links/2-1/1") == Shown(
        captions=(3, 1), marks=(Mark(2, 3, 0, 3, 1), Mark(1, 1, 0, 2, 2))
    )


def test_verification_shows_all_captions_and_each_mention_in_its_colour() -> None:
    session = Session(
        "[people A man] walks .",
        "It rains .",
        "[people An old man] stands .",
        "There is [people the man] .",
    )
    session.say("links/2-1/1", "yes")
    session.say("links/3-2/1", "yes")
    assert show(session, "verification/1/1") == Shown(
        captions=(1, 2, 3, 4),
        marks=(Mark(1, 1, 0, 2, 1), Mark(2, 3, 0, 3, 2), Mark(3, 4, 2, 4, 3)),
    )


def test_a_chain_is_shown_as_its_longest_mention() -> None:
    session = Session("[people A man] walks .", "So [people a very old man] walks .")
    session.say("links/2-1/1", "yes")
    session.say("verification/1/1", "true")
    assert show(session, "drawing/1/1") == Shown(captions=(2,), marks=(Mark(2, 2, 1, 5, 1),))


def test_requirement_shows_no_boxes() -> None:
    assert show(one_ball(), "requirement/1/1") == Shown(captions=(1,), marks=(Mark(1, 1, 0, 3, 1),))


def test_drawing_and_coverage_show_accepted_boxes_only() -> None:
    session = boxed_man()
    assert show(session, "coverage/1/2").boxes == (RECT,)
    session.say("coverage/1/2", "no")
    assert show(session, "drawing/1/2").boxes == (RECT,)
    session.say("drawing/1/2", "box", rect=OTHER)
    session.say("quality/2/1", "bad")
    assert show(session, "drawing/1/3").boxes == (RECT,), "a discarded box is not shown"


def test_quality_shows_the_box_in_question_beside_the_others() -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    assert show(session, "quality/1/1") == Shown(
        captions=(1,), marks=(Mark(1, 1, 0, 2, 1),), candidate=RECT
    )
    session.say("quality/1/1", "good")
    session.say("coverage/1/2", "no")
    session.say("drawing/1/2", "box", rect=OTHER)
    second = show(session, "quality/2/1")
    assert (second.boxes, second.candidate) == ((RECT,), OTHER)


def test_a_span_that_was_fixed_is_shown_as_it_is_now() -> None:
    session = one_ball()
    session.apply(FixSpan(reviewer=REVIEWER, mention=1, start=1, end=3))
    (mark,) = show(session, session.open[0]).marks
    assert (mark.start, mark.end) == (1, 3)


# Second opinions


def test_a_second_opinion_on_a_link_shows_the_pair() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes")
    before = show(session, "links/2-1/1")
    session.doubt(1)
    assert show(session, "links/2-1/1?1") == before


def test_a_second_opinion_on_a_broken_chain_shows_the_chain_as_it_was() -> None:
    session = Session("[people A man] .", "[people A guy] .")
    session.say("links/2-1/1", "yes")
    before = show(session, "verification/1/1")
    doubted = session.say("verification/1/1", "false")
    assert session.partition == [(1,), (2,)]
    session.doubt(doubted)
    (key,) = [key for key in session.open if key.startswith("verification")]
    assert key == f"verification/1/1?{doubted}"
    assert show(session, key) == before


@pytest.mark.parametrize("verdict", ["good", "bad"])
def test_a_second_opinion_on_a_box_shows_it_in_blue_once(verdict: str) -> None:
    session = one_man()
    session.say("drawing/1/1", "box")
    doubted = session.say("quality/1/1", verdict)
    session.doubt(doubted)
    what = show(session, f"quality/1/1?{doubted}")
    assert (what.boxes, what.candidate) == ((), RECT)


def test_a_second_opinion_on_completeness_shows_the_boxes() -> None:
    session = finished_man()
    session.doubt(3)
    assert show(session, session.open[0]).boxes == (RECT,)


@pytest.mark.parametrize("key", ["links/9-1/1", "verification/9/1", "quality/9/1", "drawing/9/1"])
def test_what_is_not_there_cannot_be_shown(key: str) -> None:
    with pytest.raises(NothingToShowError, match=key):
        show(one_man(), key)


@given(st.lists(st.integers(0, 5), max_size=40), st.integers(0, 3))
def test_every_open_question_of_every_state_can_be_shown(choices: list[int], doubted: int) -> None:
    session = three_men()
    for step, choice in enumerate(choices):
        questions = open_questions(session.state)
        for question in questions:
            what = shown(session.state, question)
            _fits(session, question.stage, what)
        if not questions:
            break
        question = questions[choice % len(questions)]
        answers = spec_of(question.stage).answers
        fact = session.say(question.key, answers[(choice + step) % len(answers)])
        if choice == doubted:
            session.doubt(fact)


def _fits(session: Session, stage: Stage, what: Shown) -> None:
    tokens = {caption.number: caption.tokens for caption in session.state.captions}
    assert what.marks
    assert [mark.colour for mark in what.marks] == list(range(1, len(what.marks) + 1))
    for mark in what.marks:
        assert mark.caption in what.captions
        assert 0 <= mark.start < mark.end <= len(tokens[mark.caption])
    assert (len(what.marks) == 1) == (stage not in (Stage.LINKS, Stage.VERIFICATION))
    assert (what.candidate is not None) == (stage is Stage.QUALITY)
    assert decode_shown(encode_shown(what)) == what


# Answers

SHOWN = Shown(captions=(1, 3), marks=(Mark(7, 1, 0, 2, 1), Mark(8, 3, 0, 2, 2)))


def problem(stage: Stage, ways: tuple[str, ...] = ("drag", "extreme"), **fields: Any) -> str | None:
    return answer_problem(
        Answer(**fields), stage=stage, shown=SHOWN, width=WIDTH, height=HEIGHT, ways=ways
    )


@pytest.mark.parametrize("stage", Stage)
def test_every_answer_of_a_stage_is_one(stage: Stage) -> None:
    for word in spec_of(stage).answers:
        drawn: dict[str, Any] = (
            {"rect": RECT, "way": "drag"} if (stage, word) == (Stage.DRAWING, "box") else {}
        )
        assert problem(stage, answer=word, **drawn) is None
        assert problem(stage, answer=word, cut_wrongly=(8,), unrelated=(3,), **drawn) is None


@pytest.mark.parametrize(
    ("stage", "fields", "words"),
    [
        (Stage.LINKS, {"answer": "true"}, "'true' is not an answer here; use yes or no"),
        (Stage.REQUIREMENT, {"answer": ""}, "use box, scene or nobox"),
        (Stage.DRAWING, {"answer": "box"}, "the box is missing"),
        (Stage.DRAWING, {"answer": "none", "rect": RECT, "way": "drag"}, "'none' takes no box"),
        (Stage.REQUIREMENT, {"answer": "box", "rect": RECT}, "'box' takes no box"),
        (Stage.DRAWING, {"answer": "box", "rect": RECT}, "the way of drawing is missing"),
        (
            Stage.DRAWING,
            {"answer": "none", "way": "drag"},
            "a way of drawing was sent without a box",
        ),
        (Stage.DRAWING, {"answer": "box", "rect": RECT, "way": "pen"}, "use drag or extreme"),
        (
            Stage.DRAWING,
            {"answer": "box", "rect": Rect(0, 1, 5, 5), "way": "drag"},
            "outside the 100×80 image",
        ),
        (
            Stage.DRAWING,
            {"answer": "box", "rect": Rect(6, 1, 5, 5), "way": "drag"},
            "ends before it starts",
        ),
        (Stage.QUALITY, {"answer": "good", "reasons": ("not_tight",)}, "only a bad box"),
        (Stage.COVERAGE, {"answer": "no", "reasons": ("not_tight",)}, "only a bad box"),
        (Stage.QUALITY, {"answer": "bad", "reasons": ("ugly",)}, "'ugly' is not a reason"),
        (Stage.LINKS, {"answer": "yes", "cut_wrongly": (9,)}, "phrase 9 is not marked"),
        (Stage.LINKS, {"answer": "yes", "unrelated": (2,)}, "caption 2 is not shown"),
    ],
)
def test_what_makes_no_sense_is_said_in_words(
    stage: Stage, fields: dict[str, Any], words: str
) -> None:
    said = problem(stage, **fields)
    assert said is not None
    assert words in said


def test_only_the_ways_that_are_offered() -> None:
    box: dict[str, Any] = {"answer": "box", "rect": RECT, "way": "drag"}
    assert problem(Stage.DRAWING, ways=("drag",), **box) is None
    assert "use extreme" in str(problem(Stage.DRAWING, ways=("extreme",), **box))


def test_a_bad_box_may_have_reasons() -> None:
    reasons = ("not_tight", "several_things")
    assert problem(Stage.QUALITY, answer="bad", reasons=reasons) is None
    assert problem(Stage.QUALITY, answer="bad") is None


answers = st.builds(
    Answer,
    answer=st.sampled_from(["yes", "no"]),
    rect=st.none() | st.builds(Rect, *[st.integers(1, 50)] * 4),
    milliseconds=st.integers(0, 10_000),
    cut_wrongly=st.lists(st.integers(1, 9), max_size=4).map(tuple),
    comment=st.text(max_size=5),
)


@given(st.dictionaries(st.integers(1, 9), answers, max_size=4), st.randoms())
def test_the_digest_is_the_same_exactly_for_the_same_answers(
    given_answers: dict[int, Answer], random: Any
) -> None:
    shuffled = list(given_answers.items())
    random.shuffle(shuffled)
    assert answers_digest(dict(shuffled)) == answers_digest(given_answers)
    for number, answer in given_answers.items():
        other = Answer(answer="no" if answer.answer == "yes" else "yes")
        assert answers_digest(given_answers | {number: other}) != answers_digest(given_answers)
        assert decode_answer(encode_answer(tidy(answer))) == tidy(answer)


def test_a_judgment_has_all_but_the_comment() -> None:
    answer = Answer(
        answer="box",
        rect=RECT,
        way="extreme",
        milliseconds=12,
        cut_wrongly=(1,),
        unrelated=(2,),
        comment="mine",
    )
    question = question_from_key("drawing/1/1")
    assert judgment_of(answer, worker=5, question=question) == Judgment(
        worker=5,
        question=question,
        answer="box",
        rect=RECT,
        cut_wrongly=(1,),
        unrelated=(2,),
        milliseconds=12,
        way="extreme",
    )
