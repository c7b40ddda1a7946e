"""The changes of source that `make mutate` tries, and the tests that it runs for each."""

import ast
from textwrap import dedent

import pytest

from scripts.mutants import mutants, mutated
from scripts.mutate import CORE, ROOT, group_of, sampled, summary


def changes(source: str) -> list[str]:
    """Return the changed line of every mutant of a source, as it then reads."""
    source = ast.unparse(ast.parse(dedent(source)))
    before = source.splitlines()
    found = []
    for mutant in mutants("module.py", source):
        after = mutated(source, mutant).splitlines()
        assert len(after) == len(before)
        ((number, line),) = [
            (number, new)
            for number, (old, new) in enumerate(zip(before, after, strict=True), start=1)
            if old != new
        ]
        assert number == mutant.line
        found.append(line.strip())
    return found


@pytest.mark.parametrize(
    ("line", "changed"),
    [
        ("x = a < b", ["x = a <= b"]),
        ("x = a <= b < c", ["x = a < b < c", "x = a <= b <= c"]),
        ("x = a == b", ["x = a != b"]),
        ("x = a is None", ["x = a is not None"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = a and b", ["x = a or b"]),
        ("x = not a", ["x = a"]),
        ("x = -a", ["x = a"]),
        ("x = a + b", ["x = a - b"]),
        ("x = a // b", ["x = a * b"]),
        ("x += a", ["x -= a"]),
        ("x = 5", ["x = 6", "x = 4"]),
        ("x = True", ["x = False"]),
        ("x = a if b else c", ["x = a if not b else c"]),
        ("x = [a for a in b if c]", ["x = [a for a in b]"]),
        ("x = replace(a, b=c, d=e)", ["x = replace(a, d=e)", "x = replace(a, b=c)"]),
        ("call(a)", ["pass"]),
        ("raise ValueError(f'{5} is too many')", ["pass"]),
    ],
)
def test_changes_of_a_line(line: str, changed: list[str]) -> None:
    assert changes(line) == changed


def test_a_condition_without_an_operator_is_negated() -> None:
    assert changes("if a:\n    b") == ["if not a:"]
    assert changes("while a:\n    break") == ["while not a:", "continue"]


def test_what_is_no_rule_is_left_as_it_is() -> None:
    source = '''
        """A docstring."""
        from typing import TYPE_CHECKING

        Number = int | float

        class Thing(Struct, frozen=True):
            """Another."""
            size: int | None

        def rule(size: int | None) -> str | int:
            logger.info(1 + size)
            return f"{size + 1} things" + "."
    '''
    assert changes(source) == []


def test_a_module_belongs_to_one_group() -> None:
    assert group_of("annotation/pipeline/trust/standing.py") == "core rules"
    assert group_of("annotation/pipeline/crowd/terms.py") == "other rules"
    assert group_of("annotation/pipeline/corpus/importers/coco.py") == "other rules"
    assert group_of("marketplace/rules/questions/keys.py") == "marketplace rules"
    assert group_of("grounding/pipeline/embedding/cca.py") == "grounding"
    assert all((ROOT / part).exists() for part in CORE)


def test_the_same_seed_draws_the_same_sample() -> None:
    only = "annotation/pipeline/trust/standing.py"
    one, again, other = (sampled(seed, 10, only) for seed in (1, 1, 2))
    assert one == again != other
    assert {mutant.path for mutant in one} == {only}
    assert len(set(one)) == 10
    line = one[0].line
    assert {mutant.line for mutant in sampled(1, 0, f"{only}:{line}")} == {line}


def test_the_share_killed_is_told_by_group() -> None:
    chosen = [
        *sampled(1, 4, "pipeline/trust/standing.py"),
        *sampled(1, 5, "grounding/pipeline/embedding/cca.py"),
    ]
    lines = list(summary(chosen, [chosen[0]]))
    assert lines == [
        f"{'core rules':24}   3 of    4 killed:  75.0% (aim 95%)",
        f"{'grounding':24}   5 of    5 killed: 100.0% (aim 90%)",
    ]


def test_a_sample_is_drawn_of_each_group() -> None:
    chosen = sampled(1, 2, "money.py")
    assert sorted((group_of(mutant.path) for mutant in chosen), reverse=True) == [
        *("other rules", "other rules"),
        *("marketplace rules", "marketplace rules"),
    ]
    assert {group_of(mutant.path) for mutant in sampled(1, 1, "grounding")} == {"grounding"}
    assert {mutant.path for mutant in sampled(1, 0, "core rules:47")} != set()
