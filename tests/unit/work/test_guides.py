"""Guides: reading, refusals and their messages, what a lesson shows, which answers are right."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.pipeline.captions import Caption, tokenise
from annotation.pipeline.geometry import Rect, iou
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.guides import (
    GuideError,
    Lesson,
    LessonCaption,
    is_right,
    lesson_shown,
    read_consent,
    read_stage_guide,
    shipped_consent,
    shipped_guide,
)

LINKS = """
[[examples]]
image = "cat"
captions = [{ number = 1, phrases = ["a cat"] }, { number = 2, phrases = ["the pet"] }]
answer = "yes"
why = "There is only one."
"""
QUALITY = """
[[test]]
image = "cat"
captions = [{ number = 1, phrases = ["a cat"] }]
boxes = [[1, 1, 5, 5]]
candidate = [2, 3, 40, 30]
answer = "bad"
why = "It cuts the tail off."
"""
DRAWING = """
[[test]]
image = "cat"
captions = [{ number = 1, phrases = ["a cat"] }]
answer = "box"
expected = [[2, 3, 40, 30]]
why = "There is one cat."
"""
CAPTIONS = {
    1: Caption(number=1, tokens=("A", "cat", "sees", "a", "cat", ".")),
    2: Caption(number=2, tokens=("A", "man", "'s", "cat", "sleeps", ".")),
    4: Caption(number=4, tokens=("Nothing", "here", ".")),
}


def problems(source: str, stage: Stage) -> list[str]:
    with pytest.raises(GuideError) as refused:
        read_stage_guide(source, stage, shipped_guide(stage))
    assert str(refused.value) == "\n".join(refused.value.problems)
    return list(refused.value.problems)


def lesson(captions: Mapping[int, tuple[str, ...]], **fields: object) -> Lesson:
    listed = tuple(LessonCaption(number=n, phrases=phrases) for n, phrases in captions.items())
    values: dict[str, object] = {"image": "cat", "answer": "yes", "why": "It is."}
    return Lesson(captions=listed, **(values | fields))  # type: ignore[arg-type]  # values of several types


def marked(shown_lesson: Lesson, stage: Stage) -> list[tuple[int, int, int, int]]:
    shown = lesson_shown(shown_lesson, stage, CAPTIONS, 50, 40)
    return [(mark.caption, mark.start, mark.end, mark.colour) for mark in shown.marks]


@pytest.mark.parametrize("stage", Stage)
def test_the_shipped_guides_are_short_and_have_no_lessons(stage: Stage) -> None:
    guide = shipped_guide(stage)
    assert guide.title
    assert guide.question
    assert 3 <= len(guide.guidelines) <= 5
    assert guide.examples == guide.test == ()


def test_the_shipped_consent_text_tells_of_every_duty() -> None:
    text = " ".join(shipped_consent().paragraphs).lower()
    for duty in (
        "study",
        "research group",
        "your answers",
        "how long",
        "how you drew",
        "worker id",
        "comment",
        "pseudonym",
        "withdraw",
        "return the task",
    ):
        assert duty in text


def test_lessons_alone_are_a_guide() -> None:
    guide = read_stage_guide(LINKS, Stage.LINKS, shipped_guide(Stage.LINKS))
    assert guide.title == shipped_guide(Stage.LINKS).title
    assert guide.question == shipped_guide(Stage.LINKS).question
    assert guide.guidelines == shipped_guide(Stage.LINKS).guidelines
    assert guide.examples == (
        Lesson(
            image="cat",
            captions=(LessonCaption(1, ("a cat",)), LessonCaption(2, ("the pet",))),
            answer="yes",
            why="There is only one.",
        ),
    )
    assert guide.test == ()


def test_what_is_written_replaces_the_default() -> None:
    own = 'title = "Own"\nquestion = "Is {phrase}?"\nguidelines = ["Think **twice**."]\n'
    guide = read_stage_guide(own, Stage.LINKS, shipped_guide(Stage.LINKS))
    assert (guide.title, guide.question) == ("Own", "Is {phrase}?")
    assert guide.guidelines == ("Think **twice**.",)
    assert read_stage_guide(own, Stage.LINKS) == guide


def test_boxes_are_read() -> None:
    (found,) = read_stage_guide(QUALITY, Stage.QUALITY, shipped_guide(Stage.QUALITY)).test
    assert found.candidate == Rect(2, 3, 40, 30)
    assert found.boxes == (Rect(1, 1, 5, 5),)
    (found,) = read_stage_guide(DRAWING, Stage.DRAWING, shipped_guide(Stage.DRAWING)).test
    assert found.expected == (Rect(2, 3, 40, 30),)


def test_without_a_default_nothing_may_be_left_out() -> None:
    with pytest.raises(GuideError) as refused:
        read_stage_guide(LINKS, Stage.LINKS)
    assert refused.value.problems == (
        "links.toml: `title` is missing",
        "links.toml: `question` is missing",
        "links.toml: `guidelines` is missing",
    )


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ('title = "a\n"', "not TOML: Illegal character '\\n' (at line 1, column 11)"),
        ("\n\ntitle = yes", "not TOML: Invalid value (at line 3, column 9)"),
        ("x = " + "9" * 5000, "not TOML: a number in it is too long"),
        ("x = " + "[" * 100_000, "line 1: lists and tables are nested more than 16 deep"),
        ("#" * (256 * 1024 + 1), "it is larger than 256 KB"),
        (
            'titel = "x"',
            "there is no field `titel`; there are: `title`, `question`, `guidelines`, "
            "`examples`, `test`",
        ),
        ("title = 5", "`title` must be text, not a whole number"),
        ("title = 2020-01-01", "`title` must be text, not a date"),
        ('guidelines = "x"', "`guidelines` must be a list, not text"),
        (
            'guidelines = ["x", true]',
            "`guidelines`, entry 2 must be text, not true or false",
        ),
        ("guidelines = []", "`guidelines` is empty"),
        ('guidelines = ["x", ""]', "`guidelines` has a blank line"),
        ('title = " "', "`title` is blank"),
        (
            'question = "Is {it}?"',
            "`question` may use braces only in {phrase}, which stands for the phrase",
        ),
        ("examples = 3", "`examples` must be a list, not a whole number"),
        ("test = [3]", "`test`, entry 1 must be a table, not a whole number"),
    ],
)
def test_a_text_that_is_wrong(source: str, said: str) -> None:
    assert problems(source, Stage.LINKS) == [f"links.toml: {said}"]


@pytest.mark.parametrize(
    ("written", "instead", "said"),
    [
        ('why = "There is only one."', "", "`why` is missing"),
        ("There is only one.", "", "`why` is blank"),
        (
            '"yes"',
            '"true"',
            "'true' is not an answer of this stage; use one of: yes, no",
        ),
        (
            "why",
            "because",
            "there is no field `because`; there are: `image`, `captions`, `answer`, `why`, "
            "`boxes`, `candidate`, `expected`",
        ),
        (
            "number = 2,",
            "",
            "`captions`, entry 2: `number` is missing",
        ),
        (
            "number = 2,",
            "number = 2, phrase = 1,",
            "`captions`, entry 2: there is no field `phrase`; there are: `number`, `phrases`",
        ),
        ("number = 2,", "number = 1,", "caption 1 is listed twice"),
        (
            '["the pet"]',
            "[]",
            "this stage needs two captions with one phrase each; found 2 captions and 1 phrase",
        ),
        (
            '["the pet"]',
            '["the pet", "cat"]',
            "this stage needs two captions with one phrase each; found 2 captions and 3 phrases",
        ),
        ('["the pet"]', '[" "]', "a phrase of caption 2 is blank"),
        ("why", "boxes = [[1, 1, 2, 2]]\nwhy", "this stage shows no boxes: leave `boxes` out"),
        (
            "why",
            "candidate = [1, 1, 2, 2]\nwhy",
            "only Box Quality has a blue box: leave `candidate` out",
        ),
        (
            "why",
            "expected = [[1, 1, 2, 2]]\nwhy",
            "`expected` is only for Box Drawing where the answer is 'box': leave it out",
        ),
        (
            "why",
            "boxes = [[1, 1, 2, 2, 3]]\nwhy",
            "`boxes`, entry 1 must be a list of 4, not of 5",
        ),
        (
            "why",
            "boxes = [[1, 1, 2]]\nwhy",
            "`boxes`, entry 1 must be a list of 4, not of 3",
        ),
        (
            "why",
            "boxes = [[1, 1, 2, 2.5]]\nwhy",
            "`boxes`, entry 1, entry 4 must be a whole number, not a number",
        ),
    ],
)
def test_a_lesson_that_is_wrong(written: str, instead: str, said: str) -> None:
    assert written in LINKS
    bad = LINKS.replace(written, instead)
    assert problems(LINKS + bad, Stage.LINKS) == [f"links.toml: example 2: {said}"]


def test_every_problem_is_told_at_once() -> None:
    bad = LINKS.replace('"yes"', '"maybe"')
    source = 'title = ""\n' + bad + LINKS + bad.replace("examples", "test").replace("why", "how")
    assert [line.split(": ")[:2] for line in problems(source, Stage.LINKS)] == [
        ["links.toml", "`title` is blank"],
        ["links.toml", "example 1"],
        ["links.toml", "test question 1"],
    ]


def test_more_lessons_than_a_sitting_holds() -> None:
    said = problems(LINKS * 101, Stage.LINKS)
    assert said == ["links.toml: `examples` has more than 100 entries"]


@pytest.mark.parametrize(
    ("stage", "source", "said"),
    [
        (
            Stage.VERIFICATION,
            LINKS.replace('["the pet"]', "[]").replace('"yes"', '"true"'),
            "example 1: this stage needs at least two phrases; found 2 captions and 1 phrase",
        ),
        (
            Stage.COVERAGE,
            LINKS,
            "example 1: this stage needs one caption with one phrase; "
            "found 2 captions and 2 phrases",
        ),
        (
            Stage.QUALITY,
            QUALITY.replace("candidate = [2, 3, 40, 30]", ""),
            "test question 1: `candidate` is missing: give the blue box",
        ),
        (
            Stage.DRAWING,
            DRAWING.replace("expected = [[2, 3, 40, 30]]", ""),
            "test question 1: `expected` is missing: list the boxes that would be right",
        ),
        (
            Stage.DRAWING,
            DRAWING.replace('"box"', '"none"'),
            "test question 1: `expected` is only for Box Drawing where the answer is 'box': "
            "leave it out",
        ),
        (
            Stage.REQUIREMENT,
            QUALITY.replace("candidate = [2, 3, 40, 30]", "").replace('"bad"', '"box"'),
            "test question 1: this stage shows no boxes: leave `boxes` out",
        ),
    ],
)
def test_what_a_stage_asks_for(stage: Stage, source: str, said: str) -> None:
    assert problems(source, stage) == [f"{stage.value}.toml: {said}"]


def test_a_consent_text() -> None:
    consent = read_consent('title = "Before"\nparagraphs = ["One.", "Two."]\n')
    assert (consent.title, consent.paragraphs) == ("Before", ("One.", "Two."))
    for source, said in {
        'title = "x"': "`paragraphs` is missing",
        'title = ""\nparagraphs = []': "`title` is blank\nconsent.toml: `paragraphs` is empty",
        'title = "x"\nparagraphs = ["x"]\nwhy = 1': "there is no field `why`; there are: `title`, "
        "`paragraphs`",
        "title": "not TOML: Expected '=' after a key in a key/value pair (at end of document)",
    }.items():
        with pytest.raises(GuideError) as refused:
            read_consent(source)
        assert str(refused.value) == f"consent.toml: {said}"


def test_a_lesson_marks_its_phrases_in_order() -> None:
    shown_lesson = lesson({2: ("A man's cat",), 1: ("a cat",)})
    assert marked(shown_lesson, Stage.LINKS) == [(2, 0, 4, 1), (1, 3, 5, 2)]
    shown = lesson_shown(shown_lesson, Stage.LINKS, CAPTIONS, 50, 40)
    assert shown.captions == (2, 1)
    assert {mark.mention for mark in shown.marks} == {0}


def test_case_matters_only_where_it_can() -> None:
    assert marked(lesson({1: ("A cat",)}), Stage.COVERAGE) == [(1, 0, 2, 1)]
    assert marked(lesson({1: ("a cat",)}), Stage.COVERAGE) == [(1, 3, 5, 1)]
    assert marked(lesson({1: ("CAT",)}), Stage.COVERAGE) == [(1, 1, 2, 1)]


def test_a_phrase_twice_marks_two_places() -> None:
    twice = lesson({1: ("cat", "cat")})
    assert marked(twice, Stage.VERIFICATION) == [(1, 1, 2, 1), (1, 4, 5, 2)]
    with pytest.raises(
        GuideError, match="does not contain 'cat', or only in words that are already"
    ):
        marked(lesson({1: ("cat", "cat", "cat")}), Stage.VERIFICATION)


def test_verification_shows_all_captions() -> None:
    shown = lesson_shown(lesson({2: ("cat",), 1: ("A cat",)}), Stage.VERIFICATION, CAPTIONS, 50, 40)
    assert shown.captions == (1, 2, 4)


def test_boxes_are_shown_and_the_expected_ones_are_not() -> None:
    asked = lesson({1: ("cat",)}, boxes=(Rect(1, 1, 5, 5),), candidate=Rect(2, 2, 6, 6))
    shown = lesson_shown(asked, Stage.QUALITY, CAPTIONS, 50, 40)
    assert (shown.boxes, shown.candidate) == ((Rect(1, 1, 5, 5),), Rect(2, 2, 6, 6))
    asked = lesson({1: ("cat",)}, answer="box", expected=(Rect(2, 2, 6, 6),))
    shown = lesson_shown(asked, Stage.DRAWING, CAPTIONS, 50, 40)
    assert (shown.boxes, shown.candidate) == ((), None)


def test_a_lesson_that_the_image_does_not_fit() -> None:
    asked = lesson(
        {1: ("a dog",), 3: ("a cat",)},
        boxes=(Rect(1, 1, 51, 40), Rect(1, 1, 50, 40)),
        candidate=Rect(0, 1, 5, 5),
        expected=(Rect(9, 9, 8, 8),),
    )
    with pytest.raises(GuideError) as refused:
        lesson_shown(asked, Stage.LINKS, CAPTIONS, 50, 40)
    assert refused.value.problems == (
        "caption 1 of 'cat' does not contain 'a dog', or only in words that are already marked; "
        "it reads 'A cat sees a cat .'",
        "image 'cat' has no caption 3; its captions are 1, 2, 4",
        "image 'cat': box 1,1–51,40 lies outside the 50×40 image",
        "image 'cat': box 0,1–5,5 lies outside the 50×40 image",
        "image 'cat': box 9,9–8,8 ends before it starts",
    )


words = st.lists(st.sampled_from(["a", "A", "cat", "Cat", "'s", "dog", "."]), min_size=1)


@given(words, st.data())
def test_words_of_a_caption_are_always_found(tokens: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(tokens) - 1))
    end = data.draw(st.integers(start + 1, len(tokens)))
    phrase = " ".join(tokens[start:end])
    captions = {1: Caption(number=1, tokens=tuple(tokens))}
    (mark,) = lesson_shown(lesson({1: (phrase,)}), Stage.COVERAGE, captions, 9, 9).marks
    assert tuple(tokens[mark.start : mark.end]) == tokenise(phrase)
    assert mark.start <= start


@pytest.mark.parametrize("stage", [stage for stage in Stage if stage is not Stage.DRAWING])
def test_the_lessons_answer_is_right_and_the_others_are_not(stage: Stage) -> None:
    for right in spec_of(stage).answers:
        for answer in spec_of(stage).answers:
            asked = lesson({1: ("cat",)}, answer=right)
            assert is_right(asked, stage, answer, None, 0.7) == (answer == right)


def test_a_drawn_box() -> None:
    asked = lesson({1: ("cat",)}, answer="box", expected=(Rect(1, 1, 10, 10), Rect(21, 1, 30, 10)))
    assert is_right(asked, Stage.DRAWING, "box", Rect(21, 1, 30, 7), 0.7)
    assert not is_right(asked, Stage.DRAWING, "box", Rect(21, 1, 30, 6), 0.7)
    assert not is_right(asked, Stage.DRAWING, "box", Rect(1, 1, 30, 10), 0.7)
    assert not is_right(asked, Stage.DRAWING, "box", None, 0.7)
    assert not is_right(asked, Stage.DRAWING, "none", None, 0.7)
    nothing = lesson({1: ("cat",)}, answer="none")
    assert is_right(nothing, Stage.DRAWING, "none", None, 0.7)
    assert not is_right(nothing, Stage.DRAWING, "box", Rect(1, 1, 10, 10), 0.7)


@st.composite
def rects(draw: st.DrawFn) -> Rect:
    x, y = draw(st.integers(1, 30)), draw(st.integers(1, 30))
    return Rect(x, y, x + draw(st.integers(0, 30)), y + draw(st.integers(0, 30)))


@given(rects(), st.lists(rects(), min_size=1, max_size=3), st.floats(0.01, 1))
def test_a_box_is_right_if_its_best_overlap_is_enough(
    drawn: Rect, expected: list[Rect], needed: float
) -> None:
    asked = lesson({1: ("cat",)}, answer="box", expected=tuple(expected))
    best = max(iou(drawn, rect) for rect in expected)
    assert is_right(asked, Stage.DRAWING, "box", drawn, needed) == (best >= needed)
