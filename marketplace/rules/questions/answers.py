"""QuestionFormAnswers: a worker's submission, as the XML that requesters get."""

import re
from collections.abc import Iterable
from xml.sax.saxutils import escape

from marketplace.rules.questions.schema import (
    QUESTION_FORM_ANSWERS,
    Sequence,
    check_root,
    identifier,
    integer,
    string,
)
from marketplace.rules.questions.tree import Element, parse_xml

# The frame's own parameters, which pages send back with the answers.
RESERVED = frozenset({"assignmentId", "hitId", "workerId", "turkSubmitTo"})
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def answers_xml(fields: Iterable[tuple[str, str]]) -> str:
    """Return the fields of a submitted page as free text answers, in their order.

    A field sent more than once becomes one answer, its values joined with "|".
    """
    joined: dict[str, list[str]] = {}
    for name, value in fields:
        name = xml_text(name).strip()
        if name and name not in RESERVED:
            joined.setdefault(name, []).append(xml_text(value))
    return document(
        [answer(name, [("FreeText", "|".join(values))]) for name, values in joined.items()]
    )


def read_answers(xml: str) -> list[tuple[str, tuple[str, ...]]]:
    """Return each question's identifier and its answer: selections first, then other text.

    An uploaded file is given by its key.
    """
    root = parse_xml(xml)
    check_root(root, "QuestionFormAnswers", [QUESTION_FORM_ANSWERS])
    children = Sequence(root)
    answers = [_read_answer(child) for child in children.many("Answer")]
    children.end()
    return answers


def xml_text(text: str) -> str:
    """Drop the characters that XML does not allow."""
    return _NOT_XML.sub("", text)


def document(answers: Iterable[str]) -> str:
    lines = "".join(f"{entry}\n" for entry in answers)
    return (
        '<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n'
        f'<QuestionFormAnswers xmlns="{QUESTION_FORM_ANSWERS}">\n{lines}</QuestionFormAnswers>'
    )


def answer(name: str, values: Iterable[tuple[str, str]]) -> str:
    """Return one Answer: the question, then elements with their text, which XML must allow."""
    return "\n".join(
        [
            "<Answer>",
            _element("QuestionIdentifier", name),
            *(_element(element, value) for element, value in values),
            "</Answer>",
        ]
    )


def _element(name: str, text: str) -> str:
    if not text:
        return f"<{name}/>"
    # An XML reader would turn a bare carriage return into a line feed.
    return f"<{name}>{escape(text, {chr(13): '&#13;'})}</{name}>"


def _read_answer(element: Element) -> tuple[str, tuple[str, ...]]:
    children = Sequence(element)
    name = identifier(children.one("QuestionIdentifier"))
    if (free := children.optional("FreeText")) is not None:
        values = [string(free)]
    elif (size := children.optional("UploadedFileSizeInBytes")) is not None:
        integer(size, at_least=1)
        values = [string(children.one("UploadedFileKey"))]
    else:
        values = [identifier(child) for child in children.many("SelectionIdentifier")]
        if (other := children.optional("OtherSelectionText")) is not None:
            values.append(string(other))
    children.end()
    return name, tuple(values)
