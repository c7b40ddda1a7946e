"""Mutants live and die in a small tree of their own, by the tests nearest to their module."""

from pathlib import Path

import pytest

from scripts.mutants import Mutant, mutants
from scripts.mutate import ROOT, nearest_tests, run, survives

pytestmark = pytest.mark.slow

SOURCE = "def total(a, b):\n    while a > 100:\n        a -= 1\n    return a + b\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    (tmp_path / "pytest.ini").write_text("[pytest]\npythonpath = .\n")
    (tmp_path / "rule.py").write_text(SOURCE)
    (tmp_path / "test_near.py").write_text(
        "from rule import total\n\ndef test_near():\n    assert total(3, 0) == 3\n"
    )
    (tmp_path / "test_far.py").write_text(
        "from rule import total\n\ndef test_far():\n    assert total(3, 2) == 5\n"
    )
    return tmp_path


def mutant_of(change: str) -> Mutant:
    return next(m for m in mutants("rule.py", SOURCE) if m.change.endswith(change))


def test_a_mutant_survives_the_tests_that_do_not_notice_it(tree: Path) -> None:
    mutant = mutant_of("a - b")
    near, far = ["test_near.py"], ["test_far.py"]
    assert survives(mutant, tree, [near], {})
    assert not survives(mutant, tree, [near, far], {}), "the second list is run too"
    assert (tree / "rule.py").read_text() == SOURCE
    assert run(tree, [*near, *far], 60), "the tree is as it was"


def test_a_mutant_that_never_ends_is_stopped(tree: Path) -> None:
    (tree / "test_near.py").write_text(
        "from rule import total\n\ndef test_near():\n    assert total(101, 0) == 100\n"
    )
    # The time-out is 30 seconds and eight times what the tests take.
    assert not survives(mutant_of("a += 1"), tree, [["test_near.py"]], {"test_near.py": -3.5})
    assert (tree / "rule.py").read_text() == SOURCE


def test_the_tests_nearest_to_a_module_come_first() -> None:
    near, far = nearest_tests("annotation/pipeline/trust/standing.py", ROOT)
    assert near[0] == "annotation/pipeline/trust/standing.py"
    named = {"tests/unit/trust/test_standing.py", "tests/unit/trust/test_standing_words.py"}
    assert set(near[1:3]) == named
    assert "tests/unit/gold/test_mix.py" in near, "it imports the module"
    assert "tests/unit/corpus/test_captions.py" in far
    assert not set(near) & set(far)
    # No test imports the module with this rule; some reach it through others.
    near, _ = nearest_tests("common/files/plain_errors.py", ROOT)
    assert "tests/unit/common/test_toml_files.py" in near
