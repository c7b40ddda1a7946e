"""Workers' answers: as XML, and checked against the form."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.rules.questions import (
    Problem,
    QuestionForm,
    answers_xml,
    check_form_answers,
    form_answers_xml,
    form_selections,
    parse_test,
    read_answers,
)
from marketplace.rules.questions.answers import RESERVED, xml_text
from marketplace.rules.questions.schema import QUESTION_FORM_ANSWERS
from tests.marketplace.questions.question_documents import choice, form, question, refused

HEAD = '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
ROOT = f'<QuestionFormAnswers xmlns="{QUESTION_FORM_ANSWERS}">'


def test_the_shape_of_the_answers() -> None:
    fields = [
        ("assignmentId", "3A"),
        ("z", '1 < 2 & "3"\x00\ud800'),
        ("a", ""),
        ("hitId", "3H"),
        ("workerId", "A1"),
        ("turkSubmitTo", "https://x"),
    ]
    assert answers_xml(fields) == (
        f"{HEAD}{ROOT}\n"
        "<Answer>\n<QuestionIdentifier>z</QuestionIdentifier>\n"
        '<FreeText>1 &lt; 2 &amp; "3"</FreeText>\n</Answer>\n'
        "<Answer>\n<QuestionIdentifier>a</QuestionIdentifier>\n<FreeText/>\n</Answer>\n"
        "</QuestionFormAnswers>"
    )


def test_a_repeated_field_is_one_answer_where_it_first_came() -> None:
    fields = [("box", "a"), ("text", "x"), ("box", "b"), ("box", "")]
    assert read_answers(answers_xml(fields)) == [("box", ("a|b|",)), ("text", ("x",))]


@given(st.dictionaries(st.text(), st.text(), max_size=5))
def test_answers_come_back_as_they_were_sent(fields: dict[str, str]) -> None:
    expected: dict[str, list[str]] = {}
    for name, value in fields.items():
        name = xml_text(name).strip()
        if name and name not in RESERVED:
            expected.setdefault(name, []).append(xml_text(value))
    found = read_answers(answers_xml(fields.items()))
    assert found == [(name, ("|".join(values),)) for name, values in expected.items()]


def test_text_that_xml_can_hold_is_not_touched() -> None:
    text = "tab\t line\r\n lone\r é 😀 \ufffd ]]> <x> &amp;"
    assert read_answers(answers_xml([("q", text)])) == [("q", (text,))]


def test_reading_answers_of_every_kind() -> None:
    text = (
        f"{ROOT}<Answer><QuestionIdentifier>s</QuestionIdentifier><SelectionIdentifier>a"
        "</SelectionIdentifier><SelectionIdentifier>b</SelectionIdentifier><OtherSelectionText>c"
        "</OtherSelectionText></Answer><Answer><QuestionIdentifier>none</QuestionIdentifier>"
        "</Answer><Answer><QuestionIdentifier>f</QuestionIdentifier><UploadedFileSizeInBytes>5"
        "</UploadedFileSizeInBytes><UploadedFileKey>k</UploadedFileKey></Answer>"
        "</QuestionFormAnswers>"
    )
    assert read_answers(text) == [("s", ("a", "b", "c")), ("none", ()), ("f", ("k",))]
    with refused("XMLParseError", ":QuestionIdentifier"):
        read_answers(f"{ROOT}<Answer><FreeText/></Answer></QuestionFormAnswers>")


COUNTS = "<MinSelectionCount>2</MinSelectionCount><MaxSelectionCount>3</MaxSelectionCount>"
OTHER = '<OtherSelection><Constraints><Length maxLength="5"/></Constraints></OtherSelection>'
FORM = parse_test(
    form(
        question(name="assignmentId"),
        question(choice("ab"), name="one", required=True),
        question(choice("abcd", before=COUNTS, other=OTHER), name="some"),
    )
)


def test_the_answers_to_a_form() -> None:
    fields = [
        ("csrfmiddlewaretoken", "x"),
        ("answer-3-other", "e & f"),
        ("answer-3", "c"),
        ("answer-3", "a"),
        ("answer-3", "a"),
        ("answer-2", "b"),
        ("answer-1", "text"),
    ]
    assert check_form_answers(FORM, fields) == []
    text = form_answers_xml(FORM, fields)
    assert text.startswith(f"{HEAD}{ROOT}\n<Answer>\n<QuestionIdentifier>assignmentId<")
    assert "<SelectionIdentifier>b</SelectionIdentifier>" in text
    assert "<OtherSelectionText>e &amp; f</OtherSelectionText>" in text
    assert read_answers(text) == [
        ("assignmentId", ("text",)),
        ("one", ("b",)),
        ("some", ("a", "c", "e & f")),
    ]
    assert form_selections(FORM, fields) == {"one": ("b",), "some": ("a", "c")}


def test_what_was_not_answered() -> None:
    text = form_answers_xml(FORM, [("answer-2", "a"), ("answer-1", "")])
    assert read_answers(text) == [("one", ("a",)), ("some", ())]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ([], ("one", "answer-2", "This question needs an answer.")),
        ([("answer-2", "\x00")], ("one", "answer-2", "This question needs an answer.")),
        ([("answer-2", "z")], ("one", "answer-2", "Choose from the answers listed.")),
        (
            [("answer-2", "a"), ("answer-2", "b")],
            ("one", "answer-2", "Choose no more than 1."),
        ),
        (
            [("answer-2", "a"), ("answer-3", "b")],
            ("some", "answer-3", "Choose at least 2."),
        ),
        (
            [("answer-2", "a"), *(("answer-3", name) for name in "abcd")],
            ("some", "answer-3", "Choose no more than 3."),
        ),
        (
            [("answer-2", "a"), *(("answer-3", name) for name in "abc"), ("answer-3-other", "d")],
            ("some", "answer-3", "Choose no more than 3."),
        ),
        (
            [("answer-2", "a"), ("answer-3", "b"), ("answer-3-other", "too long")],
            ("some", "answer-3-other", "Write no more than 5 characters."),
        ),
    ],
)
def test_problems_with_a_choice(
    fields: list[tuple[str, str]], problem: tuple[str, str, str]
) -> None:
    assert check_form_answers(FORM, fields) == [Problem(*problem)]


def text_form(constraints: str, *, required: bool = False) -> QuestionForm:
    answer = f"<FreeTextAnswer><Constraints>{constraints}</Constraints></FreeTextAnswer>"
    return parse_test(form(question(answer, required=required)))


BOUNDS = '<IsNumeric minValue="-5" maxValue="10"/>'
NOT_BLANK = '<Length minLength="2"/><AnswerFormatRegex regex="\\S" errorText="Not blank."/>'
OPTIONAL = '<AnswerFormatRegex regex="(^$|\\S{2,})" errorText="Two at least."/>'


@pytest.mark.parametrize(
    ("constraints", "text", "message"),
    [
        ("", "", None),
        ("", "x" * 100_001, "Write no more than 100,000 characters."),
        ("<IsNumeric/>", "", None),
        ("<IsNumeric/>", "-3.25", None),
        ("<IsNumeric/>", " .5 ", None),
        ("<IsNumeric/>", "three", "Write a number."),
        ("<IsNumeric/>", "٣", "Write a number."),
        ("<IsNumeric/>", "nan", "Write a number."),
        ("<IsNumeric/>", "1e5", "Write a number."),
        (BOUNDS, "10", None),
        (BOUNDS, "-5", None),
        (BOUNDS, "11", "Write a number of at most 10."),
        (BOUNDS, "-6", "Write a number of at least -5."),
        (BOUNDS, "1.5", "Write a whole number."),
        (BOUNDS, "9" * 5000, "Write a whole number."),
        ('<Length maxLength="3"/>', "a\r\nb", None),
        ('<Length maxLength="3"/>', "abcd", "Write no more than 3 characters."),
        ('<Length minLength="2"/>', "", "This question needs an answer."),
        ('<Length minLength="0"/>', "", None),
        (NOT_BLANK, "a", "Write at least 2 characters."),
        (NOT_BLANK, "   ", "Not blank."),
        (NOT_BLANK, "ab", None),
        (OPTIONAL, "", None),
        (OPTIONAL, "a", "Two at least."),
        (OPTIONAL, "ab", None),
        ('<AnswerFormatRegex regex="regex" flags="i"/>', "RegExes", None),
        ('<AnswerFormatRegex regex="regex"/>', "RegExes", "Invalid input supplied."),
        ('<AnswerFormatRegex regex="^(a+)+$"/>', "a" * 10_000 + "b", "Invalid input supplied."),
        # Nothing the server can tell: the browser's check has to do.
        ('<AnswerFormatRegex regex="(unbalanced"/>', "x", None),
    ],
)
def test_free_text_is_held_against_its_constraints(
    constraints: str, text: str, message: str | None
) -> None:
    problems = check_form_answers(text_form(constraints), [("answer-1", text)])
    assert [problem.message for problem in problems] == ([message] if message else [])


def test_a_required_text() -> None:
    asked = text_form("", required=True)
    assert [problem.field for problem in check_form_answers(asked, [])] == ["answer-1"]
    assert check_form_answers(asked, [("answer-1", "x")]) == []


def test_none_chosen_is_an_answer_where_none_is_enough() -> None:
    before = "<MinSelectionCount>0</MinSelectionCount>"
    asked = parse_test(form(question(choice("ab", before=before), required=True)))
    assert check_form_answers(asked, []) == []


FIELDS = st.sampled_from(["answer-1", "answer-2", "answer-3", "answer-3-other", "other"])


@given(st.lists(st.tuples(FIELDS, st.text() | st.sampled_from("abcd"))))
def test_whatever_is_sent_is_judged_and_written(fields: list[tuple[str, str]]) -> None:
    problems = check_form_answers(FORM, fields)
    written = dict(read_answers(form_answers_xml(FORM, fields)))
    assert set(written) <= {asked.identifier for asked in FORM.questions}
    if not problems:
        assert len(written["one"]) == 1
        assert len(written["some"]) in (0, 2, 3)
