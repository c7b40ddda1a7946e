"""Rows of comma- and tab-separated files, and what is wrong with those that are none."""

from pathlib import Path

import pytest

from annotation.pipeline.corpus.corpus_image import Problem
from annotation.pipeline.corpus.importers.checks import CorpusError
from annotation.pipeline.corpus.importers.csv_rows import LONGEST_ROW, csv_rows

FILE = Path("captions.csv")


def rows(*lines: str, delimiter: str = ",") -> list[tuple[int, list[str]] | Problem]:
    return list(csv_rows(FILE, enumerate((f"{line}\n" for line in lines), start=1), delimiter))


def problem(*lines: str) -> tuple[str, str]:
    (found,) = [row for row in rows(*lines) if isinstance(row, Problem)]
    return found.place, found.why


def test_rows_have_the_numbers_of_their_first_lines() -> None:
    assert rows("a,b", "", '"two', 'lines",c', "d,e") == [
        (1, ["a", "b"]),
        (3, ["two\nlines", "c"]),
        (5, ["d", "e"]),
    ]
    assert rows("a\tb", delimiter="\t") == [(1, ["a", "b"])]


def test_text_after_a_closing_quote_is_named() -> None:
    where, what = problem("a,b", '"one" two,c', "d,e")
    assert where == "line 2"
    assert what == "there is text after a closing quote; double every quote inside a field"
    assert problem('"two', 'lines" c')[1].endswith("inside a field, up to line 2")


def test_a_carriage_return_in_a_field_is_named() -> None:
    assert problem("a\rb,c")[1] == "there is a carriage return inside a field without quotes"


def test_a_quote_that_never_closes() -> None:
    assert problem("a,b", '"c,d') == (
        "line 2",
        "a quoted field is never closed or is far too long",
    )
    # Longer than a row may be, all the rest would be read into one field.
    half = "x" * 60_000
    fields = [line for _ in range(LONGEST_ROW // 120_010) for line in (f'"{half}', f'{half}",')]
    assert rows(*_joined(fields)) == [(1, [f"{half}\n{half}"] * 4 + [""])]
    with pytest.raises(CorpusError, match=r"captions\.csv, line 1: .* up to line \d"):
        rows(*_joined([*fields, *fields]))


def _joined(halves: list[str]) -> list[str]:
    """Join the halves of fields to the lines of one row: a field ends where the next begins."""
    ends = [first + second for first, second in zip(halves[1:-1:2], halves[2::2], strict=True)]
    return [halves[0], *ends, halves[-1]]
