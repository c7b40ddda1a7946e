"""The two kinds of answer that a form's question can ask for: free text, and a choice."""

from collections.abc import Callable

from marketplace.rules.questions.schema import (
    Sequence,
    attribute_integer,
    bad_value,
    check_empty,
    integer,
    one_of,
    string,
)
from marketplace.rules.questions.shapes import FreeText, Pattern, Selection, Selections
from marketplace.rules.questions.tree import Element, xml_error

STYLES = ("radiobutton", "checkbox", "list", "dropdown", "combobox", "multichooser")
SINGLE_STYLES = ("radiobutton", "dropdown")


def free_text(element: Element) -> FreeText:
    """Read a FreeTextAnswer, or an OtherSelection, which has the same structure."""
    children = Sequence(element)
    constraints = children.optional("Constraints")
    default = children.optional("DefaultText")
    lines = children.optional("NumberOfLinesSuggestion")
    children.end()
    numeric, min_value, max_value, min_length, max_length = False, None, None, None, None
    patterns: tuple[Pattern, ...] = ()
    if constraints is not None:
        children = Sequence(constraints)
        is_numeric, length = children.optional("IsNumeric"), children.optional("Length")
        patterns = tuple(_pattern(child) for child in children.many("AnswerFormatRegex"))
        children.end()
        if is_numeric is not None:
            numeric = True
            check_empty(is_numeric, ("minValue", "maxValue"))
            min_value = attribute_integer(is_numeric, "minValue")
            max_value = attribute_integer(is_numeric, "maxValue")
            _check_bounds(is_numeric, "maxValue", min_value, max_value)
        if length is not None:
            check_empty(length, ("minLength", "maxLength"))
            min_length = attribute_integer(length, "minLength", at_least=0)
            max_length = attribute_integer(length, "maxLength", at_least=1)
            _check_bounds(length, "maxLength", min_length, max_length)
    return FreeText(
        numeric=numeric,
        min_value=min_value,
        max_value=max_value,
        min_length=min_length,
        max_length=max_length,
        patterns=patterns,
        default_text=string(default) if default else "",
        lines=integer(lines, at_least=1) if lines else 1,
    )


def selections(element: Element, read_selection: Callable[[Element], Selection]) -> Selections:
    """Read a SelectionAnswer; refuse counts that nobody can meet."""
    children = Sequence(element)
    least, most = children.optional("MinSelectionCount"), children.optional("MaxSelectionCount")
    suggestion = children.optional("StyleSuggestion")
    listed = Sequence(children.one("Selections"))
    children.end()
    choices = tuple(read_selection(child) for child in listed.many("Selection", at_least=1))
    other = listed.optional("OtherSelection")
    listed.end()
    min_count = integer(least, at_least=0) if least else 1
    max_count = integer(most, at_least=1) if most else 1
    style = one_of(suggestion, STYLES) if suggestion else ""
    if min_count > max_count:
        raise bad_value(
            "MinSelectionCount", str(min_count), f"no more than MaxSelectionCount, {max_count}"
        )
    number = len(choices) + (other is not None)
    if min_count > number:
        raise bad_value("MinSelectionCount", str(min_count), f"no more than {number} selections")
    if style in SINGLE_STYLES and max_count > 1:
        raise bad_value("StyleSuggestion", style, "a style that allows more than one selection")
    return Selections(
        choices=choices,
        min_count=min_count,
        max_count=max_count,
        style=style,
        other=free_text(other) if other else None,
    )


def _pattern(element: Element) -> Pattern:
    check_empty(element, ("regex", "errorText", "flags"))
    if "regex" not in element.attributes:
        raise xml_error(f"cvc-complex-type.4: Attribute 'regex' must appear on '{element.name}'.")
    flags = element.attributes.get("flags", "")
    if flags not in ("", "i"):
        raise bad_value("AnswerFormatRegex/@flags", flags, "one of [i]")
    regex = element.attributes["regex"]
    error_text = element.attributes.get("errorText")
    if error_text is None:
        return Pattern(regex=regex, ignore_case=bool(flags))
    return Pattern(regex=regex, error_text=error_text, ignore_case=bool(flags))


def _check_bounds(element: Element, name: str, least: int | None, most: int | None) -> None:
    if least is not None and most is not None and least > most:
        raise bad_value(f"{element.name}/@{name}", str(most), f"no less than {least}")
