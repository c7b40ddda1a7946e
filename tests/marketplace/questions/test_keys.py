"""Answer keys: the documented example, and what does not fit."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.questions import grade, parse_answer_key, parse_test
from tests.marketplace.questions.question_documents import (
    FREE_TEXT,
    choice,
    form,
    key,
    key_question,
    question,
    refused,
)

BOTH = "<MaxSelectionCount>3</MaxSelectionCount>"
TEST = parse_test(
    form(question(choice("ABC", before=BOTH), name="Q1"), question(choice("CD"), name="Q2"))
)
QUESTIONS = key_question(
    "Q1", ("AB", 15), ("A", 10), ("B", 10), default="<DefaultScore>5</DefaultScore>"
) + key_question("Q2", ("D", 10))


def percentage(maximum: object) -> str:
    return (
        f"<PercentageMapping><MaximumSummedScore>{maximum}</MaximumSummedScore></PercentageMapping>"
    )


def scale(multiplier: object) -> str:
    return (
        f"<ScaleMapping><SummedScoreMultiplier>{multiplier}</SummedScoreMultiplier></ScaleMapping>"
    )


def ranges(*parts: tuple[int, int, int]) -> str:
    written = "".join(
        f"<SummedScoreRange><InclusiveLowerBound>{low}</InclusiveLowerBound><InclusiveUpperBound>"
        f"{high}</InclusiveUpperBound><QualificationValue>{value}</QualificationValue>"
        "</SummedScoreRange>"
        for low, high, value in parts
    )
    return (
        f"<RangeMapping>{written}<OutOfRangeQualificationValue>0</OutOfRangeQualificationValue>"
        "</RangeMapping>"
    )


def value(mapping: str, **answers: str) -> int:
    """Grade answers given as letters."""
    return grade(
        parse_answer_key(key(QUESTIONS, mapping), TEST),
        {name: tuple(letters) for name, letters in answers.items()},
    )


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        ("", 10),
        (percentage(25), 40),
        (scale(3), 30),
        (ranges((5, 7, 5), (8, 10, 10)), 10),
    ],
)
def test_the_documented_example(mapping: str, expected: int) -> None:
    assert value(mapping, Q1="A", Q2="C") == expected


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ({"Q1": "AB", "Q2": "D"}, 25),
        ({"Q1": "BA", "Q2": "D"}, 25),
        ({"Q1": "ABC"}, 5),
        ({"Q1": "C"}, 5),
        ({"Q2": "D"}, 15),
        ({}, 5),
        ({"Q1": "A", "Elsewhere": "D"}, 10),
    ],
)
def test_exactly_the_selections_of_an_option_earn_its_score(
    answers: dict[str, str], expected: int
) -> None:
    assert value("", **answers) == expected


@pytest.mark.parametrize(
    ("mapping", "expected"),
    [
        (percentage(200), 13),  # 12.5
        (percentage(3), 833),
        (scale("0.5"), 13),  # 12.5
        (scale(".1"), 3),  # 2.5
        (scale("-1."), -25),
        (scale("1e-1"), 3),
        (ranges((0, 24, 1), (26, 30, 2)), 0),
        (ranges((26, 30, 2), (25, 25, 7)), 7),
        (scale("9e99"), 2**31 - 1),
    ],
)
def test_mappings_of_a_sum_of_25(mapping: str, expected: int) -> None:
    assert value(mapping, Q1="AB", Q2="D") == expected


def test_scores_may_be_negative() -> None:
    read = parse_answer_key(key(key_question("Q2", ("C", -7))), TEST)
    assert grade(read, {"Q2": ("C",)}) == -7
    assert grade(read, {"Q2": ("D",)}) == 0


@given(st.integers(-(10**6), 10**6), st.integers(1, 10**6))
def test_a_percentage_is_the_nearest_whole_number(score: int, maximum: int) -> None:
    read = parse_answer_key(key(key_question("Q2", ("C", score)), percentage(maximum)), TEST)
    found = grade(read, {"Q2": ("C",)})
    assert -maximum <= 2 * (100 * score - found * maximum) < maximum


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (key(""), ["'AnswerKey' is not complete", ":Question"]),
        (key(key_question("Q1")), ["'Question' is not complete", ":AnswerOption"]),
        (key(key_question("Q1", ("", 1))), ["'AnswerScore'", ":SelectionIdentifier"]),
        (key(QUESTIONS.replace("15", "1.5")), ["'AnswerScore'", "an integer"]),
        (key(QUESTIONS.replace("15", "99999999999")), ["'AnswerScore'", "at most"]),
        (key(QUESTIONS, "<Other/>"), [":PercentageMapping", ":ScaleMapping", ":RangeMapping"]),
        (key(QUESTIONS, percentage(1) + scale(1)), ["No child element"]),
        (key(QUESTIONS, percentage(1)).replace("</AnswerKey", "<More/></AnswerKey"), ["'More'"]),
        (key(QUESTIONS, percentage(0)), ["MaximumSummedScore", "at least 1"]),
        (key(QUESTIONS, scale("NaN")), ["SummedScoreMultiplier", "decimal"]),
        (key(QUESTIONS, ranges()), ["OutOfRangeQualificationValue", ":SummedScoreRange"]),
        (key(QUESTIONS, ranges((5, 4, 1))), ["InclusiveUpperBound", "no less than 5"]),
        (key(QUESTIONS, ranges((5, 8, 1), (1, 5, 1))), ["do not overlap"]),
        (key(key_question("Q3", ("A", 1))), ["'Q3'", "a question of the test"]),
        (key(QUESTIONS + QUESTIONS), ["'Q1'", "once"]),
        (key(key_question("Q2", ("A", 1))), ["'A'", "a selection of the question 'Q2'"]),
        (form(question()), ["cvc-elt.1", "AnswerKey"]),
    ],
)
def test_what_is_refused(text: str, words: list[str]) -> None:
    with refused("XMLParseError", *words):
        parse_answer_key(text, TEST)


@pytest.mark.parametrize("answer", [FREE_TEXT, choice("AB", other="<OtherSelection/>")])
def test_free_text_cannot_be_graded(answer: str) -> None:
    test = parse_test(form(question(answer, name="Q1"), question(choice("CD"), name="Q2")))
    with refused("XMLParseError", "'Q1' takes free text"):
        parse_answer_key(key(key_question("Q2", ("C", 1))), test)
