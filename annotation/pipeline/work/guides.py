"""Guides: what workers read about a stage, and the examples and tests that teach it."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

import msgspec

from annotation.pipeline.captions import Caption, tokenise
from annotation.pipeline.geometry import Rect, iou, rect_problem
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import MOST_QUESTIONS
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.display import Mark, Shown
from common.files.toml_files import TomlError, convert_table, read_toml

# The texts for campaigns that have none of their own.
SHIPPED = Path(__file__).parents[2] / "guides"
PHRASE = "{phrase}"


class GuideError(ValueError):
    """A guide cannot be used; the message has one line per problem: where and what it is."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class LessonCaption(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A caption of the photo by its number, and the phrases to mark in it."""

    number: int
    phrases: tuple[str, ...] = ()


class Lesson(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A question whose answer is known, and the reason for the answer."""

    image: str
    captions: tuple[LessonCaption, ...]
    answer: str
    why: str
    boxes: tuple[Rect, ...] = ()
    candidate: Rect | None = None
    # If the answer is to draw a box: any of these would be right.
    expected: tuple[Rect, ...] = ()


class StageGuide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stage's guide. `question` may name the phrase: `{phrase}`."""

    title: str
    question: str
    guidelines: tuple[str, ...]
    examples: tuple[Lesson, ...] = ()
    test: tuple[Lesson, ...] = ()

    def lessons(self) -> Iterator[tuple[str, Lesson]]:
        """Yield every example and test question with its place in words, as `example 2`."""
        for number, lesson in enumerate(self.examples, start=1):
            yield f"example {number}", lesson
        for number, lesson in enumerate(self.test, start=1):
            yield f"test question {number}", lesson


class ConsentGuide(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the study is, who runs it, what is recorded, and how to withdraw."""

    title: str
    paragraphs: tuple[str, ...]


class _Written(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A stage's guide as it is written; the default fills in missing parts."""

    title: str | None = None
    question: str | None = None
    guidelines: tuple[str, ...] | None = None
    examples: tuple[dict[str, object], ...] = ()
    test: tuple[dict[str, object], ...] = ()


def guide_file(topic: str) -> str:
    """Return the name of a topic's file; messages about problems use it too."""
    return f"{topic}.toml"


def read_stage_guide(source: str, stage: Stage, default: StageGuide | None = None) -> StageGuide:
    """Read a guide; `default` fills in missing parts. GuideError lists every problem.

    `lesson_shown` checks whether the images, captions and phrases exist.
    """
    file = guide_file(stage.value)
    try:
        written = convert_table(read_toml(source), _Written)
    except TomlError as error:
        raise GuideError(f"{file}: {error}") from None
    problems = [f"{file}: {problem}" for problem in _text_problems(written, default)]
    examples = _read_lessons(written.examples, stage, f"{file}: example", problems)
    test = _read_lessons(written.test, stage, f"{file}: test question", problems)
    if problems:
        raise GuideError(*problems)
    base = default or StageGuide(title="", question="", guidelines=())
    return StageGuide(
        title=base.title if written.title is None else written.title,
        question=base.question if written.question is None else written.question,
        guidelines=base.guidelines if written.guidelines is None else written.guidelines,
        examples=examples,
        test=test,
    )


@lru_cache(maxsize=64)
def campaign_guide(source: str, stage: Stage) -> StageGuide:
    """Read a campaign's own guide; the shipped one fills in missing parts.

    Cached: every worker page needs it, and a long guide takes a tenth of a second to read.
    """
    return read_stage_guide(source, stage, shipped_guide(stage))


def read_consent(source: str) -> ConsentGuide:
    """Read a consent text; GuideError lists its problems."""
    file = guide_file("consent")
    try:
        consent = convert_table(read_toml(source), ConsentGuide)
    except TomlError as error:
        raise GuideError(f"{file}: {error}") from None
    problems = [*_blank("title", [consent.title]), *_blank("paragraphs", consent.paragraphs)]
    if problems:
        raise GuideError(*(f"{file}: {problem}" for problem in problems))
    return consent


@cache
def shipped_source(topic: str) -> str:
    """Return the text of a topic for campaigns that have none of their own."""
    return (SHIPPED / guide_file(topic)).read_text(encoding="utf-8")


@cache
def shipped_guide(stage: Stage) -> StageGuide:
    return read_stage_guide(shipped_source(stage.value), stage)


@cache
def shipped_consent() -> ConsentGuide:
    return read_consent(shipped_source("consent"))


def lesson_shown(
    lesson: Lesson, stage: Stage, captions: Mapping[int, Caption], width: int, height: int
) -> Shown:
    """Return what a lesson shows of its image; GuideError if the image does not match it."""
    problems = []
    marks: list[Mark] = []
    for listed in lesson.captions:
        if listed.number not in captions:
            known = ", ".join(str(number) for number in sorted(captions))
            problems.append(
                f"image {lesson.image!r} has no caption {listed.number}; its captions are {known}"
            )
            continue
        tokens = captions[listed.number].tokens
        for phrase in listed.phrases:
            start = find_phrase(
                tokenise(phrase), tokens, [m for m in marks if m.caption == listed.number]
            )
            if start is None:
                problems.append(
                    f"caption {listed.number} of {lesson.image!r} does not contain {phrase!r}, or "
                    f"only in words that are already marked; it reads {' '.join(tokens)!r}"
                )
                continue
            end = start + len(tokenise(phrase))
            marks.append(Mark(0, listed.number, start, end, colour=len(marks) + 1))
    for rect in (*lesson.boxes, *filter(None, [lesson.candidate]), *lesson.expected):
        problem = rect_problem(rect, width, height)
        if problem:
            problems.append(f"image {lesson.image!r}: {problem}")
    if problems:
        raise GuideError(*problems)
    spec = spec_of(stage)
    listed_numbers = tuple(listed.number for listed in lesson.captions)
    return Shown(
        captions=tuple(sorted(captions)) if spec.shows_all_captions else listed_numbers,
        marks=tuple(marks),
        boxes=lesson.boxes,
        candidate=lesson.candidate,
    )


def is_right(
    lesson: Lesson, stage: Stage, answer: str, rect: Rect | None, iou_needed: float
) -> bool:
    """Tell whether an answer is right; a box is right if it overlaps an expected one enough.

    >>> lesson = Lesson("cat", (), "box", "", expected=(Rect(1, 1, 10, 10),))
    >>> is_right(lesson, Stage.DRAWING, "box", Rect(1, 1, 10, 9), 0.7)
    True
    """
    if answer != lesson.answer:
        return False
    if not spec_of(stage).draws(answer):
        return True
    return rect is not None and any(iou(rect, good) >= iou_needed for good in lesson.expected)


def find_phrase(phrase: Sequence[str], tokens: Sequence[str], taken: Sequence[Mark]) -> int | None:
    """Return where the phrase first occurs in unmarked words; match its case first, then any."""
    for fold in (str, str.casefold):
        wanted = [fold(token) for token in phrase]
        found = [fold(token) for token in tokens]
        for start in range(len(found) - len(wanted) + 1):
            end = start + len(wanted)
            free = all(end <= mark.start or start >= mark.end for mark in taken)
            if free and found[start:end] == wanted:
                return start
    return None


def _text_problems(written: _Written, default: StageGuide | None) -> Iterator[str]:
    for name in ("title", "question", "guidelines"):
        value = getattr(written, name)
        if value is not None:
            yield from _blank(name, [value] if isinstance(value, str) else value)
        elif default is None:
            yield f"`{name}` is missing"
    rest = (written.question or "").replace(PHRASE, "")
    if "{" in rest or "}" in rest:
        yield f"`question` may use braces only in {PHRASE}, which stands for the phrase"
    for name in ("examples", "test"):
        if len(getattr(written, name)) > MOST_QUESTIONS:
            yield f"`{name}` has more than {MOST_QUESTIONS} entries"


def _blank(name: str, texts: Sequence[str]) -> Iterator[str]:
    if not texts:
        yield f"`{name}` is empty"
    elif not all(text.strip() for text in texts):
        yield f"`{name}` is blank" if len(texts) == 1 else f"`{name}` has a blank line"


def _read_lessons(
    tables: Sequence[dict[str, object]], stage: Stage, place: str, problems: list[str]
) -> tuple[Lesson, ...]:
    """Return the lessons that can be read; add the problems of the others to `problems`."""
    lessons = []
    for number, table in enumerate(tables, start=1):
        try:
            lesson = convert_table(table, Lesson)
        except TomlError as error:
            problems.append(f"{place} {number}: {error}")
            continue
        problems += (f"{place} {number}: {what}" for what in _lesson_problems(lesson, stage))
        lessons.append(lesson)
    return tuple(lessons)


def _lesson_problems(lesson: Lesson, stage: Stage) -> Iterator[str]:
    yield from _blank("why", [lesson.why])
    if lesson.answer not in spec_of(stage).answers:
        known = ", ".join(spec_of(stage).answers)
        yield f"{lesson.answer!r} is not an answer of this stage; use one of: {known}"
    yield from _phrase_problems(lesson, stage)
    spec = spec_of(stage)
    if lesson.boxes and not spec.shows_boxes:
        yield "this stage shows no boxes: leave `boxes` out"
    if (lesson.candidate is not None) != spec.shows_candidate:
        yield (
            "`candidate` is missing: give the blue box"
            if spec.shows_candidate
            else ("only Box Quality has a blue box: leave `candidate` out")
        )
    draws = spec.draws(lesson.answer)
    if bool(lesson.expected) != draws:
        yield (
            "`expected` is missing: list the boxes that would be right"
            if draws
            else ("`expected` is only for Box Drawing where the answer is 'box': leave it out")
        )


def _phrase_problems(lesson: Lesson, stage: Stage) -> Iterator[str]:
    numbers = [caption.number for caption in lesson.captions]
    counts = [len(caption.phrases) for caption in lesson.captions]
    twice = sorted({number for number in numbers if numbers.count(number) > 1})
    for number in twice:
        yield f"caption {number} is listed twice"
    spec = spec_of(stage)
    if spec.has_more_phrases:
        if sum(counts) < spec.phrases:
            yield f"this stage needs at least two phrases; found {_shape(counts)}"
    elif counts != [1] * spec.phrases:
        one = spec.phrases == 1
        wanted = "one caption with one phrase" if one else "two captions with one phrase each"
        yield f"this stage needs {wanted}; found {_shape(counts)}"
    for caption in lesson.captions:
        if not all(tokenise(phrase) for phrase in caption.phrases):
            yield f"a phrase of caption {caption.number} is blank"


def _shape(counts: Sequence[int]) -> str:
    captions, phrases = len(counts), sum(counts)
    return (
        f"{captions} {'caption' if captions == 1 else 'captions'} and "
        f"{phrases} {'phrase' if phrases == 1 else 'phrases'}"
    )
