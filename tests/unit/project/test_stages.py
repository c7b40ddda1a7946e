"""One place says what a stage is, and a seventh stage is a type error until all know of it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from annotation.pipeline.protocol.facts import Body
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES, Subject, spec_of
from tests.processes import ROOT

KINDS = {kind.__name__ for kind in Body.__args__}


def matches(source: str) -> list[ast.Match]:
    """Return the `match` statements over stages, phases, subjects and kinds of facts."""
    found = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Match)]
    return [node for node in found if any(is_of_protocol(case.pattern) for case in node.cases)]


def is_of_protocol(pattern: ast.pattern) -> bool:
    for node in ast.walk(pattern):
        if isinstance(node, ast.MatchValue) and isinstance(node.value, ast.Attribute):
            enum = ast.unparse(node.value.value).split(".")[-1]
            if enum in {"Stage", "Phase", "Subject"}:
                return True
        if isinstance(node, ast.MatchClass):
            kind = ast.unparse(node.cls).split(".")[-1]
            if kind in KINDS:
                return True
    return False


def is_exhaustive(match: ast.Match) -> bool:
    """Tell whether the last case is `assert_never`, or hands the rest on under a name.

    What is handed on has a type, so the type checker refuses what the callee does not take.
    """
    last = match.cases[-1]
    if not isinstance(last.pattern, ast.MatchAs) or last.pattern.pattern is not None:
        return False
    if last.pattern.name is not None:
        return any(
            isinstance(node, ast.Call)
            and any(isinstance(a, ast.Name) and a.id == last.pattern.name for a in node.args)
            for statement in last.body
            for node in ast.walk(statement)
        )
    return ast.unparse(last.body[0]).startswith("assert_never(")


def test_every_match_over_the_protocol_is_exhaustive() -> None:
    open_ended, seen = [], 0
    for path in sorted((ROOT / "annotation").rglob("*.py")):
        for match in matches(path.read_text()):
            seen += 1
            if not is_exhaustive(match):
                open_ended.append(f"{path.relative_to(ROOT)}:{match.lineno}")
    assert seen > 10
    assert not open_ended, f"end these with `case _: assert_never(...)`: {open_ended}"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        ("case _: return 0", False),
        ("case Stage.QUALITY: return 0", False),
        ("case other: return 0", False),
        ("case other: return g(other)", True),
        ("case _: assert_never(x)", True),
    ],
)
def test_what_counts_as_exhaustive(rest: str, expected: bool) -> None:
    source = f"def f(x):\n  match x:\n    case Stage.LINKS: return 1\n    {rest}\n"
    (match,) = matches(source)
    assert is_exhaustive(match) is expected


def test_a_seventh_stage_does_not_type_check(tmp_path: Path) -> None:
    """Mypy, on the real sources with one stage more, names the places that must know it."""
    questions = ROOT / "annotation/pipeline/protocol/questions.py"
    changed = tmp_path / "questions.py"
    changed.write_text(
        questions.read_text().replace(
            '    COVERAGE = "coverage"\n', '    COVERAGE = "coverage"\n    SEVENTH = "seventh"\n'
        )
    )
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--no-error-summary", "--no-incremental"),
            *("--config-file", str(ROOT / "tests/unit/project/seventh_stage.ini")),
            *("--shadow-file", str(questions), str(changed)),
            "annotation/pipeline",
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    told = {line.split(":")[0] for line in done.stdout.splitlines() if "Stage.SEVENTH" in line}
    assert told >= {
        "annotation/pipeline/engine.py",
        "annotation/pipeline/gold/maker.py",
        "annotation/pipeline/gold/upkeep.py",
        "annotation/pipeline/protocol/independence.py",
        "annotation/pipeline/protocol/stage_spec.py",
        "annotation/pipeline/review/doubts.py",
        "annotation/pipeline/work/display.py",
    }, done.stdout


def test_specs_agree_with_themselves() -> None:
    for stage in Stage:
        spec = spec_of(stage)
        assert len(set(spec.answers)) == len(spec.answers) >= 2
        assert spec.drawn_answer in {None, *spec.answers}
        assert spec.explained_answer in {None, *spec.answers}
        assert spec.minimum_accuracy <= spec.average_accuracy <= 1
        assert spec.shows_boxes or not (spec.needs_boxes or spec.shows_candidate)
        assert spec.shows_candidate == (spec.subject is Subject.BOX)
        assert (stage in GOLD_STAGES) == (spec.drawn_answer is None)
    assert len({spec_of(stage).title for stage in Stage}) == len(Stage)
