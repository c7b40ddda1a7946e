"""The tree stays easy to find one's way in: small folders, plain names, no import cycles."""

import ast
import graphlib
from collections import Counter
from pathlib import Path

import pytest

from tests.processes import ROOT

PACKAGES = ("annotation", "common", "config", "grounding", "marketplace", "scripts", "benchmarks")
# About fifteen modules are as many as one takes in at a glance.
MOST_MODULES = 17
# Django looks for commands, and numbers migrations, in one flat folder.
FLAT = ("management/commands", "migrations")
# Words that the protocol and the field use as nouns.
NOUNS = {"caching", "drawing", "paging", "polling", "standing", "training", "waking"}


def modules(*packages: str) -> list[Path]:
    paths = (path for package in packages for path in (ROOT / package).rglob("*.py"))
    return sorted(path.relative_to(ROOT) for path in paths if "node_modules" not in path.parts)


def test_no_folder_holds_more_modules_than_one_can_take_in() -> None:
    count = Counter(
        path.parent.as_posix()
        for path in modules(*PACKAGES, "tests")
        if path.name != "__init__.py" and not path.parent.as_posix().endswith(FLAT)
    )
    too_large = {folder: number for folder, number in count.items() if number > MOST_MODULES}
    assert not too_large, f"split these folders into rooms: {too_large}"


def test_no_module_is_named_by_a_bare_gerund() -> None:
    names = {path: path.stem.removeprefix("test_") for path in modules(*PACKAGES, "tests")}
    gerunds = [path.as_posix() for path, name in names.items() if is_bare_gerund(name)]
    assert not gerunds, f"name these by a noun of the domain: {gerunds}"


def is_bare_gerund(name: str) -> bool:
    return name.endswith("ing") and "_" not in name and name not in NOUNS


@pytest.mark.parametrize(
    ("name", "expected"),
    [("telling", True), ("drawing", False), ("standing", False), ("toml_files", False)],
)
def test_what_a_bare_gerund_is(name: str, expected: bool) -> None:
    assert is_bare_gerund(name) is expected


def test_every_package_says_what_is_in_it() -> None:
    silent = [
        path.as_posix()
        for path in modules("annotation", "common", "config", "grounding", "marketplace")
        if path.name == "__init__.py"
        and not path.parent.as_posix().endswith((*FLAT, "management", "templatetags"))
        and not ast.get_docstring(ast.parse((ROOT / path).read_text()))
    ]
    assert not silent, f"give these packages a docstring: {silent}"


def imports(path: Path, known: dict[str, Path]) -> set[str]:
    """Return the modules of ours that a module imports, wherever in it."""
    found = set()
    for node in ast.walk(ast.parse((ROOT / path).read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            inner = names & known.keys()
            found |= inner
            # What is not a module itself comes from the package.
            if inner != names:
                found.add(node.module)
    return found & known.keys()


def dotted(path: Path) -> str:
    parts = path.with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def cycle_of(graph: dict[str, set[str]]) -> list[str]:
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_modules_do_not_import_one_another_in_circles() -> None:
    known = {dotted(path): path for path in modules(*PACKAGES)}
    graph = {name: imports(path, known) - {name} for name, path in known.items()}
    cycle = cycle_of(graph)
    assert not cycle, f"these import one another: {' → '.join(cycle)}"


def test_a_circle_is_found() -> None:
    assert set(cycle_of({"a": {"b"}, "b": {"c"}, "c": {"a"}})) == {"a", "b", "c"}
    assert cycle_of({"a": {"b"}, "b": {"c"}}) == []
