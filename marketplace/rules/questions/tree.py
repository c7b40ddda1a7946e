"""XML into a small tree, refusing everything that could make reading it dangerous.

The standard library's expat reads the XML. A document type is refused outright. That rules out all
entities: those that grow without bound and those that fetch files.
"""

from typing import Never
from xml.parsers import expat

import msgspec

from marketplace.rules.errors import RequestError

# No format here is deeper than a dozen levels; formatted content may nest a table or two.
MAX_DEPTH = 100
_SEPARATOR = " "


class Element(msgspec.Struct, frozen=True):
    """One element. Attributes in a namespace are named `namespace name`, others `name`."""

    namespace: str
    name: str
    attributes: dict[str, str]
    content: tuple["Element | str", ...]

    @property
    def children(self) -> tuple["Element", ...]:
        return tuple(part for part in self.content if isinstance(part, Element))

    @property
    def text(self) -> str:
        return "".join(part for part in self.content if isinstance(part, str))


def xml_error(details: str) -> RequestError:
    """The error for question or answer data that does not fit its schema."""
    return RequestError(
        "XMLParseError",
        "There was an error parsing the XML question or answer data in your request.  "
        "Please make sure the data is well-formed and validates against the appropriate schema. "
        f"Details: {details}",
    )


def parse_xml(text: str, *, plain: bool = False) -> Element:
    """Read a document; white space before it is allowed.

    With `plain`, comments and processing instructions are refused too.
    """
    return _Reader(plain=plain).read(text)


class _Open:
    """An element whose end tag has not been seen yet."""

    def __init__(self, name: str, attributes: dict[str, str]) -> None:
        self.namespace, _, self.name = name.rpartition(_SEPARATOR)
        self.attributes = attributes
        self.content: list[Element | str] = []
        self.text: list[str] = []

    def flush(self) -> None:
        if self.text:
            self.content.append("".join(self.text))
            self.text.clear()

    def close(self) -> Element:
        self.flush()
        return Element(
            namespace=self.namespace,
            name=self.name,
            attributes=self.attributes,
            content=tuple(self.content),
        )


class _Reader:
    def __init__(self, *, plain: bool) -> None:
        self.stack: list[_Open] = []
        self.root: Element | None = None
        # The text is already Unicode, so this overrides the encoding that the document declares.
        self.parser = expat.ParserCreate(encoding="utf-8", namespace_separator=_SEPARATOR)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype
        if plain:
            self.parser.CommentHandler = self.comment
            self.parser.ProcessingInstructionHandler = self.instruction

    def read(self, text: str) -> Element:
        try:
            self.parser.Parse(text.lstrip("\ufeff \t\r\n").encode("utf-8"), True)
        except UnicodeEncodeError as error:
            raise xml_error("The document has characters that XML does not allow.") from error
        except expat.ExpatError as error:
            raise self.fault(f"{expat.ErrorString(error.code)}.") from error
        if self.root is None:
            raise xml_error("The document has no element.")
        return self.root

    def fault(self, details: str) -> RequestError:
        line, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        return xml_error(f"Line {line}, column {column}: {details}")

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.stack) >= MAX_DEPTH:
            raise self.fault(f"Elements are nested more than {MAX_DEPTH} deep.")
        if self.stack:
            self.stack[-1].flush()
        self.stack.append(_Open(name, attributes))

    def end(self, name: str) -> None:
        element = self.stack.pop().close()
        if self.stack:
            self.stack[-1].content.append(element)
        else:
            self.root = element

    def characters(self, data: str) -> None:
        self.stack[-1].text.append(data)

    def doctype(self, name: str, system: str | None, public: str | None, subset: bool) -> Never:
        raise self.fault("A document type declaration (DOCTYPE) is not allowed.")

    def comment(self, data: str) -> Never:
        raise self.fault("Comments are not allowed.")

    def instruction(self, target: str, data: str) -> Never:
        raise self.fault("Processing instructions are not allowed.")
