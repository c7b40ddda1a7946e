"""QuestionForm: overviews and questions, their contents, and the possible answers."""

import re
from typing import Literal, cast

from marketplace.rules.questions.fields import free_text, selections
from marketplace.rules.questions.formatted import safe_html
from marketplace.rules.questions.schema import (
    Sequence,
    bad_value,
    boolean,
    identifier,
    one_of,
    string,
    words,
)
from marketplace.rules.questions.shapes import (
    Binary,
    Content,
    Formatted,
    Label,
    List,
    Overview,
    Question,
    QuestionForm,
    Selection,
    Selections,
    Text,
    Title,
)
from marketplace.rules.questions.tree import Element, xml_error

_CONTENTS = ("Title", "Text", "List", "Binary", "EmbeddedBinary", "FormattedContent")
_LABELS = ("Text", "Binary", "FormattedContent")
_KINDS = ("image", "audio", "video")
_DATA_URL = re.compile(r"https?://[^\s\\]+", re.IGNORECASE)


def read_form(root: Element) -> QuestionForm:
    """Read a form whose root has been checked."""
    children = Sequence(root)
    parts: list[Overview | Question] = []
    number = 0
    for child in children.many("Overview", "Question"):
        if child.name == "Overview":
            parts.append(Overview(content=_contents(child)))
        else:
            number += 1
            parts.append(_question(child, number))
    if not number:
        raise children.unexpected()
    children.end()
    form = QuestionForm(parts=tuple(parts))
    _check_unique("QuestionIdentifier", [question.identifier for question in form.questions])
    return form


def _question(element: Element, number: int) -> Question:
    children = Sequence(element)
    name = identifier(children.one("QuestionIdentifier"))
    display_name = children.optional("DisplayName")
    required = children.optional("IsRequired")
    content = _contents(children.one("QuestionContent"))
    specification = Sequence(children.one("AnswerSpecification"))
    children.end()
    answer = specification.one("FreeTextAnswer", "SelectionAnswer")
    specification.end()
    return Question(
        identifier=name,
        number=number,
        content=content,
        answer=free_text(answer) if answer.name == "FreeTextAnswer" else _choice(answer),
        display_name=words(display_name) if display_name else "",
        is_required=bool(required and boolean(required)),
    )


def _choice(element: Element) -> Selections:
    choice = selections(element, _selection)
    _check_unique("SelectionIdentifier", [selection.identifier for selection in choice.choices])
    return choice


def _selection(element: Element) -> Selection:
    children = Sequence(element)
    name = identifier(children.one("SelectionIdentifier"))
    label = children.one(*_LABELS)
    children.end()
    return Selection(identifier=name, label=_label(label))


def _contents(element: Element) -> tuple[Content, ...]:
    children = Sequence(element)
    contents = tuple(_content(child) for child in children.many(*_CONTENTS, at_least=1))
    children.end()
    return contents


def _content(element: Element) -> Content:
    if element.name == "Title":
        return Title(text=words(element))
    if element.name == "List":
        children = Sequence(element)
        items = tuple(words(item) for item in children.many("ListItem", at_least=1))
        children.end()
        return List(items=items)
    if element.name == "EmbeddedBinary":
        return _embedded_binary(element)
    return _label(element)


def _label(element: Element) -> Label:
    if element.name == "Text":
        return Text(text=words(element))
    if element.name == "Binary":
        children = Sequence(element)
        binary = _binary(children, children.one("MimeType"))
        children.end()
        return binary
    return Formatted(html=safe_html(string(element)))


def _binary(children: Sequence, mime_type: Element) -> Binary:
    types = Sequence(mime_type)
    kind = cast(Literal["image", "audio", "video"], one_of(types.one("Type"), _KINDS))
    subtype = types.optional("SubType")
    types.end()
    url = words(children.one("DataURL"))
    if not _DATA_URL.fullmatch(url):
        raise bad_value("DataURL", url, "an address that begins with http:// or https://")
    return Binary(
        kind=kind,
        subtype=words(subtype) if subtype else "",
        url=url,
        alt=words(children.one("AltText")),
    )


def _embedded_binary(element: Element) -> Binary:
    children = Sequence(element)
    plain = _binary(children, children.one("EmbeddedMimeType"))
    width, height = words(children.one("Width")), words(children.one("Height"))
    parameters = tuple(_parameter(child) for child in children.many("ApplicationParameter"))
    children.end()
    return Binary(
        kind=plain.kind,
        subtype=plain.subtype,
        url=plain.url,
        alt=plain.alt,
        embedded=True,
        width=width,
        height=height,
        parameters=parameters,
    )


def _parameter(element: Element) -> tuple[str, str]:
    children = Sequence(element)
    name, value = string(children.one("Name")), string(children.one("Value"))
    children.end()
    return name, value


def _check_unique(element: str, names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise xml_error(
                f"cvc-identity-constraint.4.1: Duplicate value '{name}' of element '{element}'."
            )
