"""A QuestionForm as our own page: its parts, with the worker's input so far."""

from collections.abc import Iterator
from typing import Any

import msgspec
from django.http import QueryDict

from marketplace.rules.questions import Problem, QuestionForm
from marketplace.rules.questions.shapes import FreeText, Question, Selections, Text


def fields_of(given: QueryDict) -> list[tuple[str, str]]:
    """Return a submitted form's fields in their order."""
    return [(name, value) for name, values in given.lists() for value in values]


class ChoiceLine(msgspec.Struct, frozen=True):
    """One selectable answer."""

    value: str
    label: Any
    id: str
    is_chosen: bool


class Part(msgspec.Struct, frozen=True):
    """An overview, or a question with its field, for the template to lay out."""

    kind: str  # overview, text, choice
    content: tuple[Any, ...]
    question: Question | None = None
    widget: str = ""  # line, lines; radio, checkbox, select, select-many
    value: str = ""
    rows: int = 1
    choices: list[ChoiceLine] = []
    other_value: str = ""
    problem: str = ""
    other_problem: str = ""


class FormPage:
    """The parts of a form. `fields` None: not submitted yet, so defaults are shown."""

    def __init__(
        self,
        form: QuestionForm,
        fields: list[tuple[str, str]] | None,
        problems: list[Problem],
    ) -> None:
        self.form = form
        self.problems = problems
        self.is_bound = fields is not None
        self.given: dict[str, list[str]] = {}
        for name, value in fields or []:
            self.given.setdefault(name, []).append(value)
        self.messages = {problem.field: problem.message for problem in problems}

    def parts(self) -> Iterator[Part]:
        """Yield the parts to show, in the form's order."""
        for part in self.form.parts:
            if isinstance(part, Question):
                yield self._question(part)
            else:
                yield Part(kind="overview", content=part.content)

    def _question(self, question: Question) -> Part:
        problem = self.messages.get(question.field, "")
        if isinstance(question.answer, FreeText):
            text = question.answer
            return Part(
                kind="text",
                content=question.content,
                question=question,
                widget="lines" if text.lines > 1 else "line",
                value=self._value(question.field, text.default_text),
                rows=min(text.lines, 40),
                problem=problem,
            )
        choice = question.answer
        chosen = self.given.get(question.field, [])
        other = choice.other
        return Part(
            kind="choice",
            content=question.content,
            question=question,
            widget=_widget(choice),
            choices=[
                ChoiceLine(
                    value=one.identifier,
                    label=one.label,
                    id=f"{question.field}-{place}",
                    is_chosen=one.identifier in chosen,
                )
                for place, one in enumerate(choice.choices)
            ],
            other_value=self._value(question.other_field, other.default_text if other else ""),
            problem=problem,
            other_problem=self.messages.get(question.other_field, ""),
        )

    def _value(self, field: str, default: str) -> str:
        if not self.is_bound:
            return default
        return next(iter(self.given.get(field, [])), "")


def _widget(choice: Selections) -> str:
    # A drop-down shows plain text only.
    if all(isinstance(one.label, Text) for one in choice.choices):
        if choice.style in ("dropdown", "combobox") and choice.max_count == 1:
            return "select"
        if choice.style in ("list", "multichooser"):
            return "select-many" if choice.max_count > 1 else "select"
    return "radio" if choice.max_count == 1 else "checkbox"
