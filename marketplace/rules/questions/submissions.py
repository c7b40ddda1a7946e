"""A worker's input on a form: whether it is valid, and the answers as XML.

The inputs of a form are named by `Question.field` and `Question.other_field`; a selection's value
is its identifier. Fields with other names do not belong to the form and are ignored.
"""

import re
from collections.abc import Iterable, Mapping

import msgspec

from marketplace.rules.questions.answers import answer, document, xml_text
from marketplace.rules.questions.patterns import Budget, is_found
from marketplace.rules.questions.shapes import FreeText, Question, QuestionForm, Selections

# More than anybody types. Answers are stored whole in the database and sent to the requester.
MAX_ANSWER = 100_000
_WHOLE = re.compile(r"[+-]?[0-9]{1,100}")
_NUMBER = re.compile(r"[+-]?([0-9]{1,100}(\.[0-9]{0,100})?|\.[0-9]{1,100})")

Fields = Iterable[tuple[str, str]]


class Problem(msgspec.Struct, frozen=True):
    """A problem with an answer, in words for the worker, and its input."""

    question: str
    field: str
    message: str


def check_form_answers(form: QuestionForm, fields: Fields) -> list[Problem]:
    """Return the problems with the answers to a form; none if they can be submitted."""
    given = _by_name(fields)
    budget = Budget()
    problems: list[Problem] = []
    for question in form.questions:
        values = given.get(question.field, [])
        if isinstance(question.answer, FreeText):
            text = values[0] if values else ""
            message = _text_problem(question.answer, text, budget, required=question.must_answer)
        else:
            other = _other_text(question, question.answer, given)
            message = _choice_problem(question.answer, values, other, required=question.must_answer)
            if not message and other:
                assert question.answer.other is not None
                message = _text_problem(question.answer.other, other, budget, required=False)
                if message:
                    problems.append(Problem(question.identifier, question.other_field, message))
                    continue
        if message:
            problems.append(Problem(question.identifier, question.field, message))
    return problems


def form_answers_xml(form: QuestionForm, fields: Fields) -> str:
    """Return the answers to a form as XML, in the order of its questions.

    An empty text is left out; a choice without a selection is an empty answer.
    """
    given = _by_name(fields)
    answers: list[str] = []
    for question in form.questions:
        if isinstance(question.answer, FreeText):
            text = next(iter(given.get(question.field, [])), "")
            if text:
                answers.append(answer(question.identifier, [("FreeText", text)]))
            continue
        parts = [
            ("SelectionIdentifier", value) for value in _chosen(question, question.answer, given)
        ]
        if other := _other_text(question, question.answer, given):
            parts.append(("OtherSelectionText", other))
        answers.append(answer(question.identifier, parts))
    return document(answers)


def form_selections(form: QuestionForm, fields: Fields) -> dict[str, tuple[str, ...]]:
    """Return the selections made, by question, for a test's key to grade."""
    given = _by_name(fields)
    return {
        question.identifier: tuple(_chosen(question, question.answer, given))
        for question in form.questions
        if isinstance(question.answer, Selections)
    }


def _by_name(fields: Fields) -> dict[str, list[str]]:
    given: dict[str, list[str]] = {}
    for name, value in fields:
        value = xml_text(value)
        # A dropdown line that was not chosen, or an empty box.
        if value:
            given.setdefault(name, []).append(value)
    return given


def _chosen(question: Question, choice: Selections, given: Mapping[str, list[str]]) -> list[str]:
    """Return the valid selections made, each once, in the order of the form."""
    values = given.get(question.field, [])
    return [option.identifier for option in choice.choices if option.identifier in values]


def _other_text(question: Question, choice: Selections, given: Mapping[str, list[str]]) -> str:
    if choice.other is None:
        return ""
    return next(iter(given.get(question.other_field, [])), "")


def _choice_problem(choice: Selections, values: list[str], other: str, *, required: bool) -> str:
    known = {option.identifier for option in choice.choices}
    if not known.issuperset(values):
        return "Choose from the answers listed."
    number = len(set(values)) + bool(other)
    if not number:
        return "This question needs an answer." if required else ""
    if number < choice.min_count:
        return f"Choose at least {choice.min_count}."
    if number > choice.max_count:
        return f"Choose no more than {choice.max_count}."
    return ""


def _text_problem(field: FreeText, text: str, budget: Budget, *, required: bool) -> str:
    # Browsers send a line break as two characters; for the worker, and for scripts, it is one.
    text = text.replace("\r\n", "\n")
    if not text and required:
        return "This question needs an answer."
    if len(text) > MAX_ANSWER:
        return f"Write no more than {MAX_ANSWER:,} characters."
    if text:
        message = _number_problem(field, text.strip()) or _length_problem(field, text)
        if message:
            return message
    # The expression also applies to an empty answer; it must allow one explicitly.
    for pattern in field.patterns:
        found = is_found(pattern.regex, text, ignore_case=pattern.ignore_case, budget=budget)
        if found is False:
            return pattern.error_text
    return ""


def _number_problem(field: FreeText, text: str) -> str:
    if not field.numeric:
        return ""
    if field.min_value is None and field.max_value is None:
        return "" if _NUMBER.fullmatch(text) else "Write a number."
    if not _WHOLE.fullmatch(text):
        return "Write a whole number."
    number = int(text)
    if field.min_value is not None and number < field.min_value:
        return f"Write a number of at least {field.min_value}."
    if field.max_value is not None and number > field.max_value:
        return f"Write a number of at most {field.max_value}."
    return ""


def _length_problem(field: FreeText, text: str) -> str:
    if field.min_length is not None and len(text) < field.min_length:
        return f"Write at least {field.min_length} characters."
    if field.max_length is not None and len(text) > field.max_length:
        return f"Write no more than {field.max_length} characters."
    return ""
