"""Guides: what workers are told about a stage, and the examples and tests that teach it."""

import msgspec

from annotation.pipeline.geometry import Rect


class GuideError(ValueError):
    """A guide cannot be read; the message says where and why."""


class LessonCaption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A caption of the photo by its number, and the phrases to mark in it."""

    number: int
    phrases: tuple[str, ...] = ()


class Lesson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question whose answer is known, and why it is the answer."""

    image: str
    captions: tuple[LessonCaption, ...]
    answer: str
    why: str
    boxes: tuple[Rect, ...] = ()
    candidate: Rect | None = None
    # Boxes each of which would be right, where the answer is to draw one.
    expected: tuple[Rect, ...] = ()


class StageGuide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stage's guide. `question` may name the phrase: `{phrase}`."""

    title: str
    question: str
    guidelines: tuple[str, ...]
    examples: tuple[Lesson, ...] = ()
    test: tuple[Lesson, ...] = ()


class ConsentGuide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the study is, who runs it, what is recorded, and how to withdraw."""

    title: str
    paragraphs: tuple[str, ...]
