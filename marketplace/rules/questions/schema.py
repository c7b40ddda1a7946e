"""Reading an element by its schema: the expected children, their types, and the errors.

The details of the errors follow the validator that MTurk's messages came from.
"""

import re
from collections.abc import Collection

from marketplace.rules.errors import RequestError
from marketplace.rules.questions.tree import Element, xml_error

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/"
EXTERNAL_QUESTION = SCHEMAS + "2006-07-14/ExternalQuestion.xsd"
HTML_QUESTION = SCHEMAS + "2011-11-11/HTMLQuestion.xsd"
# The later one only removed applets and uploads, so both are read alike.
QUESTION_FORMS = (
    SCHEMAS + "2017-11-06/QuestionForm.xsd",
    SCHEMAS + "2005-10-01/QuestionForm.xsd",
)
ANSWER_KEY = SCHEMAS + "2005-10-01/AnswerKey.xsd"
QUESTION_FORM_ANSWERS = SCHEMAS + "2005-10-01/QuestionFormAnswers.xsd"

MAX_BYTES = 65_535
_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_DECIMAL = re.compile(r"[+-]?([0-9]{1,50}(\.[0-9]{0,50})?|\.[0-9]{1,50})([eE][+-]?[0-9]{1,2})?")
# Attributes that any document may carry on any element.
_INSTANCE = "http://www.w3.org/2001/XMLSchema-instance "
# How much of a bad value a message repeats.
_SHOWN = 100


def check_size(parameter: str, xml: str) -> None:
    """Refuse a document that is longer than MTurk took."""
    if len(xml.encode("utf-8", "replace")) > MAX_BYTES:
        raise RequestError(
            "InvalidParameterValue",
            f"The value is not valid for the parameter {parameter}. "
            f"It is longer than {MAX_BYTES} bytes.",
        )


class Sequence:
    """The child elements of an element, taken in the order that the schema lists."""

    def __init__(self, element: Element) -> None:
        check_attributes(element)
        if element.text.strip():
            raise xml_error(
                f"cvc-complex-type.2.3: Element '{element.name}' cannot have character [children]; "
                "it takes elements only."
            )
        self.element = element
        self.left = list(element.children)
        # Optional children that could have come here: the error lists them as expected too.
        self.passed: list[str] = []

    def optional(self, *names: str) -> Element | None:
        """Take the next child if it has one of the names."""
        if self.left and self._is_next(names):
            self.passed.clear()
            return self.left.pop(0)
        self.passed += [name for name in names if name not in self.passed]
        return None

    def one(self, *names: str) -> Element:
        """Take the next child, which must have one of the names."""
        child = self.optional(*names)
        if child is None:
            raise self.unexpected()
        return child

    def many(self, *names: str, at_least: int = 0) -> list[Element]:
        """Take all following children with one of the names."""
        taken = [self.one(*names) for _ in range(at_least)]
        while (child := self.optional(*names)) is not None:
            taken.append(child)
        return taken

    def end(self) -> None:
        """Refuse any children that are left."""
        if self.left:
            raise self.unexpected()

    def unexpected(self) -> RequestError:
        """The error for the next child, or for a missing one."""
        namespace = self.element.namespace
        names = ", ".join(f'"{namespace}":{name}' for name in self.passed)
        expected = f"One of '{{{names}}}' is expected."
        if not self.left:
            return xml_error(
                f"cvc-complex-type.2.4.b: The content of element '{self.element.name}' is not "
                f"complete. {expected}"
            )
        found = self.left[0].name
        if not self.passed:
            return xml_error(
                f"cvc-complex-type.2.4.d: Invalid content was found starting with element "
                f"'{found}'. No child element is expected at this point."
            )
        return xml_error(
            f"cvc-complex-type.2.4.a: Invalid content was found starting with element "
            f"'{found}'. {expected}"
        )

    def _is_next(self, names: tuple[str, ...]) -> bool:
        child = self.left[0]
        return child.namespace == self.element.namespace and child.name in names


def check_root(element: Element, name: str, namespaces: Collection[str]) -> None:
    """Refuse a document whose root has another name or is not in the schema's namespace."""
    if element.name != name or element.namespace not in namespaces:
        wanted = " or ".join(f'"{namespace}":{name}' for namespace in namespaces)
        raise xml_error(
            f"cvc-elt.1: Cannot find the declaration of element '{element.name}' in the namespace "
            f"'{element.namespace}'. {wanted} is expected."
        )


def check_attributes(element: Element, allowed: Collection[str] = ()) -> None:
    for name in element.attributes:
        if name not in allowed and not name.startswith(_INSTANCE):
            raise xml_error(
                f"cvc-complex-type.3.2.2: Attribute '{name}' is not allowed to appear in element "
                f"'{element.name}'."
            )


def check_empty(element: Element, attributes: Collection[str]) -> None:
    """Refuse any other attributes."""
    check_attributes(element, attributes)
    if element.content and (element.children or element.text.strip()):
        raise xml_error(f"cvc-complex-type.2.1: Element '{element.name}' must be empty.")


def string(element: Element) -> str:
    """Return the text of an element that contains only text."""
    check_attributes(element)
    if element.children:
        raise xml_error(
            f"cvc-type.3.1.2: Element '{element.name}' takes text only, but has the element "
            f"'{element.children[0].name}' in it."
        )
    return element.text


def words(element: Element) -> str:
    """Return the text without surrounding white space, which is only layout."""
    return string(element).strip()


def identifier(element: Element) -> str:
    """Return an identifier; it cannot be empty."""
    value = words(element)
    if not value:
        raise bad_value(element.name, value, "an identifier of at least one character")
    return value


def integer(element: Element, *, at_least: int | None = None, at_most: int | None = None) -> int:
    return to_integer(element.name, words(element), at_least=at_least, at_most=at_most)


def boolean(element: Element) -> bool:
    value = one_of(element, ("true", "false", "1", "0"))
    return value in ("true", "1")


def decimal(element: Element) -> str:
    """Return a decimal number as written."""
    value = words(element)
    if not _DECIMAL.fullmatch(value):
        raise bad_value(element.name, value, "a decimal number")
    return value


def one_of(element: Element, values: Collection[str]) -> str:
    value = words(element)
    if value not in values:
        raise bad_value(element.name, value, f"one of [{', '.join(values)}]")
    return value


def attribute_integer(element: Element, name: str, *, at_least: int | None = None) -> int | None:
    """Return a number given as an attribute, or None if it is missing."""
    value = element.attributes.get(name)
    if value is None:
        return None
    return to_integer(f"{element.name}/@{name}", value.strip(), at_least=at_least)


def to_integer(
    name: str, value: str, *, at_least: int | None = None, at_most: int | None = None
) -> int:
    if not _INTEGER.fullmatch(value):
        raise bad_value(name, value, "an integer")
    number = int(value)
    if at_least is not None and number < at_least:
        raise bad_value(name, value, f"an integer of at least {at_least}")
    if at_most is not None and number > at_most:
        raise bad_value(name, value, f"an integer of at most {at_most}")
    return number


def bad_value(name: str, value: str, expected: str) -> RequestError:
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "…"
    return xml_error(
        f"cvc-type.3.1.3: The value '{shown}' of element '{name}' is not valid. "
        f"Expected: {expected}."
    )
