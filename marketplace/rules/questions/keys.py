"""AnswerKey: the scores of a qualification test's answers, and the resulting value."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import pairwise
from math import floor

import msgspec

from marketplace.rules.questions.schema import (
    ANSWER_KEY,
    Sequence,
    bad_value,
    check_root,
    check_size,
    decimal,
    identifier,
    integer,
)
from marketplace.rules.questions.shapes import QuestionForm, Selections
from marketplace.rules.questions.tree import Element, parse_xml, xml_error

# The widest range of a qualification value; it also keeps every sum within database integers.
LARGEST = 2**31 - 1


class Option(msgspec.Struct, frozen=True):
    """Exactly these selections earn the score."""

    selections: frozenset[str]
    score: int


class KeyQuestion(msgspec.Struct, frozen=True):
    identifier: str
    options: tuple[Option, ...]
    default_score: int = 0


class Percentage(msgspec.Struct, frozen=True, tag=True):
    maximum: int


class Scale(msgspec.Struct, frozen=True, tag=True):
    """The multiplier as written, so that no digit is lost."""

    multiplier: str


class ScoreRange(msgspec.Struct, frozen=True):
    lower: int
    upper: int
    value: int


class Ranges(msgspec.Struct, frozen=True, tag=True):
    ranges: tuple[ScoreRange, ...]
    otherwise: int


class AnswerKey(msgspec.Struct, frozen=True):
    questions: tuple[KeyQuestion, ...]
    mapping: Percentage | Scale | Ranges | None = None


def parse_answer_key(xml: str, test: QuestionForm) -> AnswerKey:
    """Read the key of a test; refuse one that does not fit it."""
    check_size("AnswerKey", xml)
    root = parse_xml(xml)
    check_root(root, "AnswerKey", [ANSWER_KEY])
    children = Sequence(root)
    questions = tuple(_question(child) for child in children.many("Question", at_least=1))
    mapping = children.optional("QualificationValueMapping")
    children.end()
    key = AnswerKey(questions=questions, mapping=_mapping(mapping) if mapping else None)
    _check_fit(key, test)
    return key


def grade(key: AnswerKey, answers: Mapping[str, tuple[str, ...]]) -> int:
    """Return the qualification value for the selections made, by question.

    MTurk does not document how scales round halves; they go up, as percentages do.
    """
    total = sum(
        _score(question, answers.get(question.identifier, ())) for question in key.questions
    )
    mapping = key.mapping
    if mapping is None:
        value = total
    elif isinstance(mapping, Percentage):
        value = _nearest(Fraction(100 * total, mapping.maximum))
    elif isinstance(mapping, Scale):
        value = _nearest(total * Fraction(mapping.multiplier))
    else:
        value = next(
            (part.value for part in mapping.ranges if part.lower <= total <= part.upper),
            mapping.otherwise,
        )
    return max(-LARGEST, min(LARGEST, value))


def _score(question: KeyQuestion, chosen: Iterable[str]) -> int:
    selections = frozenset(chosen)
    for option in question.options:
        if option.selections == selections:
            return option.score
    return question.default_score


def _nearest(value: Fraction) -> int:
    return floor(value + Fraction(1, 2))


def _number(element: Element) -> int:
    return integer(element, at_least=-LARGEST, at_most=LARGEST)


def _question(element: Element) -> KeyQuestion:
    children = Sequence(element)
    name = identifier(children.one("QuestionIdentifier"))
    options = tuple(_option(child) for child in children.many("AnswerOption", at_least=1))
    default = children.optional("DefaultScore")
    children.end()
    return KeyQuestion(
        identifier=name, options=options, default_score=_number(default) if default else 0
    )


def _option(element: Element) -> Option:
    children = Sequence(element)
    selections = [identifier(child) for child in children.many("SelectionIdentifier", at_least=1)]
    score = _number(children.one("AnswerScore"))
    children.end()
    return Option(selections=frozenset(selections), score=score)


def _mapping(element: Element) -> Percentage | Scale | Ranges:
    children = Sequence(element)
    chosen = children.one("PercentageMapping", "ScaleMapping", "RangeMapping")
    children.end()
    parts = Sequence(chosen)
    mapping: Percentage | Scale | Ranges
    if chosen.name == "PercentageMapping":
        mapping = Percentage(
            maximum=integer(parts.one("MaximumSummedScore"), at_least=1, at_most=LARGEST)
        )
    elif chosen.name == "ScaleMapping":
        mapping = Scale(multiplier=decimal(parts.one("SummedScoreMultiplier")))
    else:
        ranges = tuple(_range(child) for child in parts.many("SummedScoreRange", at_least=1))
        _check_apart(ranges)
        mapping = Ranges(
            ranges=ranges, otherwise=_number(parts.one("OutOfRangeQualificationValue"))
        )
    parts.end()
    return mapping


def _range(element: Element) -> ScoreRange:
    children = Sequence(element)
    lower = _number(children.one("InclusiveLowerBound"))
    upper = _number(children.one("InclusiveUpperBound"))
    value = _number(children.one("QualificationValue"))
    children.end()
    if lower > upper:
        raise bad_value("InclusiveUpperBound", str(upper), f"no less than {lower}")
    return ScoreRange(lower=lower, upper=upper, value=value)


def _check_apart(ranges: tuple[ScoreRange, ...]) -> None:
    ordered = sorted(ranges, key=lambda part: part.lower)
    for before, after in pairwise(ordered):
        if after.lower <= before.upper:
            raise bad_value("InclusiveLowerBound", str(after.lower), "ranges that do not overlap")


def _check_fit(key: AnswerKey, test: QuestionForm) -> None:
    """Refuse a key for a test it cannot grade: one with free text, or with other questions."""
    choices: dict[str, set[str]] = {}
    for asked in test.questions:
        if not isinstance(asked.answer, Selections) or asked.answer.other is not None:
            raise xml_error(
                f"The test's question '{asked.identifier}' takes free text; a test with an answer "
                "key can have neither FreeTextAnswer nor OtherSelection."
            )
        choices[asked.identifier] = {choice.identifier for choice in asked.answer.choices}
    seen: set[str] = set()
    for question in key.questions:
        if question.identifier not in choices or question.identifier in seen:
            raise bad_value(
                "QuestionIdentifier",
                question.identifier,
                "an identifier of a question of the test, once",
            )
        seen.add(question.identifier)
        for option in question.options:
            for name in sorted(option.selections - choices[question.identifier]):
                raise bad_value(
                    "SelectionIdentifier",
                    name,
                    f"an identifier of a selection of the question '{question.identifier}'",
                )
