"""The contents of a question document, after it has been read and checked."""

from typing import Literal

import msgspec


class ExternalQuestion(msgspec.Struct, frozen=True, tag=True):
    """A requester's page, shown in a frame. Height 0: as high as the window."""

    url: str
    frame_height: int


class HTMLQuestion(msgspec.Struct, frozen=True, tag=True):
    """A page given as HTML, shown in a frame. Without a form the worker cannot submit it."""

    html: str
    frame_height: int
    has_form: bool


class Title(msgspec.Struct, frozen=True, tag=True):
    text: str


class Text(msgspec.Struct, frozen=True, tag=True):
    """Plain text, to be shown as it is."""

    text: str


class List(msgspec.Struct, frozen=True, tag=True):
    items: tuple[str, ...]


class Formatted(msgspec.Struct, frozen=True, tag=True):
    """Formatted content as HTML that was checked and rewritten: safe to show as it is."""

    html: str


class Binary(msgspec.Struct, frozen=True, tag=True):
    """A picture, sound or film. Embedded ones have a size and may have parameters."""

    kind: Literal["image", "audio", "video"]
    subtype: str
    url: str
    alt: str
    embedded: bool = False
    width: str = ""
    height: str = ""
    parameters: tuple[tuple[str, str], ...] = ()


Content = Title | Text | List | Binary | Formatted
Label = Text | Binary | Formatted


class Pattern(msgspec.Struct, frozen=True):
    """A JavaScript regular expression that must be found in the answer."""

    regex: str
    error_text: str = "Invalid input supplied."
    ignore_case: bool = False


class FreeText(msgspec.Struct, frozen=True, tag=True):
    """A text field. With a bound, a number must be whole; without, decimals are allowed too."""

    numeric: bool = False
    min_value: int | None = None
    max_value: int | None = None
    min_length: int | None = None
    max_length: int | None = None
    patterns: tuple[Pattern, ...] = ()
    default_text: str = ""
    lines: int = 1


class Selection(msgspec.Struct, frozen=True):
    identifier: str
    label: Label


class Selections(msgspec.Struct, frozen=True, tag=True):
    """A choice. `other` is a field below it for an answer that is not listed."""

    choices: tuple[Selection, ...]
    min_count: int = 1
    max_count: int = 1
    style: str = ""
    other: FreeText | None = None


class Question(msgspec.Struct, frozen=True, tag=True):
    """One question.

    `field` is the name of its input on the page, `other_field` that of `other`. Fields are
    numbered, because requesters' identifiers could clash with the names of other inputs.
    """

    identifier: str
    number: int
    content: tuple[Content, ...]
    answer: FreeText | Selections
    display_name: str = ""
    is_required: bool = False

    @property
    def field(self) -> str:
        return f"answer-{self.number}"

    @property
    def other_field(self) -> str:
        return f"answer-{self.number}-other"

    @property
    def must_answer(self) -> bool:
        """Whether the page should mark the question as required."""
        if isinstance(self.answer, FreeText):
            return self.is_required or bool(self.answer.min_length)
        return self.is_required and self.answer.min_count > 0


class Overview(msgspec.Struct, frozen=True, tag=True):
    content: tuple[Content, ...]


class QuestionForm(msgspec.Struct, frozen=True, tag=True):
    """Overviews and questions, in the order in which they are shown."""

    parts: tuple[Overview | Question, ...]

    @property
    def questions(self) -> tuple[Question, ...]:
        return tuple(part for part in self.parts if isinstance(part, Question))
