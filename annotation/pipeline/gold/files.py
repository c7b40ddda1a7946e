"""Reading and writing the files of gold questions that people write.

Each line is one question, as JSON or as a row of a CSV file: see docs/trust.md.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from annotation.pipeline.captions import tokenise
from annotation.pipeline.corpus.corpus_image import Problem
from annotation.pipeline.corpus.importers.captions_csv import header_columns
from annotation.pipeline.corpus.importers.checks import CorpusError, mostly_good
from annotation.pipeline.corpus.importers.csv_rows import csv_rows
from annotation.pipeline.corpus.importers.rows import read_lines, unreadable
from annotation.pipeline.geometry import Rect
from annotation.pipeline.gold.gold_question import Gold, GoldSource, gold_problem
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.protocol.state import ImageState
from annotation.pipeline.work.display import Mark, Shown
from annotation.pipeline.work.guides import find_phrase
from common.files.plain_errors import plain_error

# A file is read completely before any question is stored: see `gold_import`.
LARGEST_FILE = 16 * 2**20
LONGEST_QUESTION = 2**16
COLUMNS = ("stage", "image", "answer", "phrases", "boxes", "candidate", "kind")
_REQUIRED = COLUMNS[:4]
# A phrase's words, or its tokens: the first, from 0, and the one after the last.
Phrase = str | tuple[int, int]


class GoldLineError(ValueError):
    """A line cannot be a gold question about its image; the message says why."""


class GoldCaption(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A caption by its number, and the phrases to mark in it."""

    number: int
    phrases: tuple[Phrase, ...] = ()


class WrittenGold(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A gold question as people write it; the fields are those of a guide's lessons."""

    stage: Stage
    image: str
    captions: tuple[GoldCaption, ...]
    answer: str
    boxes: tuple[Rect, ...] = ()
    candidate: Rect | None = None
    kind: str = ""


class GoldLine(msgspec.Struct, frozen=True):
    """A line that could be read."""

    file: str
    line: int
    written: WrittenGold

    def problem(self, why: str) -> Problem:
        return Problem(self.file, f"line {self.line}", why)


# Reading


def read_gold(path: Path) -> Iterator[GoldLine | Problem]:
    """Yield the questions of a file and, in between, its problems.

    CorpusError: the file cannot be read at all.
    """
    _check_file(path)
    empty = True
    rows = _csv_rows(path) if _is_csv(path) else _json_rows(path)
    for item in mostly_good(rows):
        empty = False
        yield item
    if empty:
        yield Problem(str(path), "", "the file contains no questions")


def _check_file(path: Path) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise unreadable(path, error) from error
    if size > LARGEST_FILE:
        raise CorpusError(
            f"{path}: the file is larger than {LARGEST_FILE // 2**20} MB; import it in parts"
        )


def _is_csv(path: Path) -> bool:
    for number, line in read_lines(path):
        if line.strip():
            if line.lstrip().startswith("["):
                raise CorpusError(
                    f"{path}, line {number}: this is a JSON list; write one question per line, "
                    "each as {…}"
                )
            return not line.lstrip().startswith("{")
    return False


def _json_rows(path: Path) -> Iterator[GoldLine | Problem]:
    for number, line in read_lines(path):
        if not line.strip():
            continue
        if len(line) > LONGEST_QUESTION:
            yield Problem(
                str(path),
                f"line {number}",
                f"the question has more than {LONGEST_QUESTION:,} characters",
            )
            continue
        try:
            yield GoldLine(str(path), number, msgspec.json.decode(line, type=WrittenGold))
        except msgspec.ValidationError as error:
            yield Problem(str(path), f"line {number}", plain_error(error, WrittenGold))
        except (msgspec.DecodeError, RecursionError):
            yield Problem(
                str(path),
                f"line {number}",
                "this is not valid JSON; write one question per line, each as {…}",
            )


def _csv_rows(path: Path) -> Iterator[GoldLine | Problem]:
    lines = read_lines(path)
    number, header = next((item for item in lines if item[1].strip()), (1, ""))
    delimiter, columns = header_columns(header)
    _check_columns(path, number, columns)
    for item in csv_rows(path, lines, delimiter):
        if isinstance(item, Problem):
            yield item
            continue
        first, fields = item
        try:
            yield GoldLine(str(path), first, _csv_gold(columns, fields))
        except GoldLineError as error:
            yield Problem(str(path), f"line {first}", str(error))


def _check_columns(path: Path, number: int, columns: list[str]) -> None:
    missing = [name for name in _REQUIRED if name not in columns]
    odd = [name for name in columns if name not in COLUMNS or columns.count(name) > 1]
    if missing or odd:
        what = (
            f"no column {' and no column '.join(missing)}"
            if missing
            else f"an unknown column {odd[0]!r}"
        )
        if odd and not missing and odd[0] in COLUMNS:
            what = f"the column {odd[0]} twice"
        raise CorpusError(
            f"{path}, line {number}: the header has {what}; the columns are {', '.join(COLUMNS)}, "
            "and the first four are required"
        )


def _csv_gold(columns: list[str], fields: list[str]) -> WrittenGold:
    if len(fields) != len(columns):
        raise GoldLineError(
            f"the row has {len(fields)} fields and the header has {len(columns)}; put quotes "
            "around a field with a comma or tab"
        )
    row = {name: field.strip() for name, field in zip(columns, fields, strict=True)}
    values: dict[str, object] = {
        "stage": row["stage"],
        "image": row["image"],
        "answer": row["answer"],
        "captions": _csv_captions(row["phrases"]),
        "boxes": [_csv_rect(part) for part in _parts(row.get("boxes", ""))],
        "kind": row.get("kind", ""),
    }
    if row.get("candidate"):
        values["candidate"] = _csv_rect(row["candidate"])
    try:
        return msgspec.convert(values, WrittenGold)
    except msgspec.ValidationError as error:
        raise GoldLineError(plain_error(error, WrittenGold)) from None


def _csv_captions(text: str) -> list[dict[str, object]]:
    """Read `1: a ball of yarn | 2: the ball`."""
    phrases: dict[int, list[str]] = {}
    for part in _parts(text):
        found = re.fullmatch(r"([0-9]{1,9})\s*:(.*)", part, re.DOTALL)
        if found is None:
            raise GoldLineError(
                f"`phrases`: {part!r} has no caption number; write it first, as in "
                "'1: a ball of yarn | 2: the ball'"
            )
        phrases.setdefault(int(found[1]), []).append(found[2].strip())
    return [{"number": number, "phrases": listed} for number, listed in phrases.items()]


def _csv_rect(text: str) -> list[int]:
    numbers = text.split()
    if len(numbers) != 4 or not all(re.fullmatch("[0-9]{1,9}", part) for part in numbers):
        raise GoldLineError(f"{text!r} is not a box; write one like '34 97 172 400'")
    return [int(part) for part in numbers]


def _parts(text: str) -> list[str]:
    return [part.strip() for part in text.split("|")] if text else []


# What a question shows of its image


def gold_of(written: WrittenGold, state: ImageState) -> Gold:
    """Return the gold question; GoldLineError if the image does not match it."""
    listed = tuple(caption.number for caption in written.captions)
    if len(set(listed)) < len(listed):
        raise GoldLineError("a caption is listed twice; list all its phrases together")
    everything = tuple(caption.number for caption in state.captions)
    gold = Gold(
        stage=written.stage,
        image=written.image,
        shown=Shown(
            captions=everything if spec_of(written.stage).shows_all_captions else listed,
            marks=_marks(written.captions, state),
            boxes=written.boxes,
            candidate=written.candidate,
        ),
        answer=written.answer,
        source=GoldSource.FILE,
        kind=written.kind,
    )
    problem = gold_problem(gold, state)
    if problem:
        raise GoldLineError(problem)
    return gold


def _marks(captions: Sequence[GoldCaption], state: ImageState) -> tuple[Mark, ...]:
    tokens = {caption.number: caption.tokens for caption in state.captions}
    mentions = {(m.caption, m.start, m.end): m.number for m in state.mentions}
    marks: list[Mark] = []
    for caption in captions:
        if caption.number not in tokens:
            known = ", ".join(str(number) for number in sorted(tokens))
            raise GoldLineError(
                f"the image has no caption {caption.number}; its captions are {known}"
            )
        for phrase in caption.phrases:
            taken = [mark for mark in marks if mark.caption == caption.number]
            start, end = _span(phrase, caption.number, tokens[caption.number], taken)
            mention = mentions.get((caption.number, start, end), 0)  # 0: `gold_problem` says why
            marks.append(Mark(mention, caption.number, start, end, colour=len(marks) + 1))
    return tuple(marks)


def _span(
    phrase: Phrase, caption: int, tokens: Sequence[str], taken: Sequence[Mark]
) -> tuple[int, int]:
    if not isinstance(phrase, str):
        if any(phrase[0] < mark.end and mark.start < phrase[1] for mark in taken):
            raise GoldLineError(f"tokens {list(phrase)} of caption {caption} are already marked")
        return phrase
    words = tokenise(phrase)
    if not words:
        raise GoldLineError(f"a phrase of caption {caption} is blank")
    start = find_phrase(words, tokens, taken)
    if start is None:
        raise GoldLineError(
            f"caption {caption} does not contain {phrase!r}, or only in words that are already "
            f"marked; it reads {' '.join(tokens)!r}"
        )
    return start, start + len(words)


# Writing


def write_gold(gold: Gold, captions: Mapping[int, Sequence[str]]) -> str:
    """Return a line that reads back as this question; `captions` are the image's, by number.

    It leaves out the workers that the answer rests on: elsewhere their numbers mean other people.
    """
    phrases: dict[int, list[Phrase]] = {}
    if not spec_of(gold.stage).shows_all_captions:
        phrases = {number: [] for number in gold.shown.captions}
    taken: list[Mark] = []
    for mark in gold.shown.marks:
        tokens = captions[mark.caption]
        words = " ".join(tokens[mark.start : mark.end])
        beside = [other for other in taken if other.caption == mark.caption]
        reads_back = (
            tokenise(words) == tuple(tokens[mark.start : mark.end])
            and find_phrase(tokenise(words), tokens, beside) == mark.start
        )
        phrase: Phrase = words if reads_back else (mark.start, mark.end)
        phrases.setdefault(mark.caption, []).append(phrase)
        taken.append(mark)
    written = WrittenGold(
        stage=gold.stage,
        image=gold.image,
        captions=tuple(GoldCaption(number, tuple(listed)) for number, listed in phrases.items()),
        answer=gold.answer,
        boxes=gold.shown.boxes,
        candidate=gold.shown.candidate,
        kind=gold.kind,
    )
    return msgspec.json.encode(written).decode()
