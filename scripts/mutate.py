"""Mutation testing of the rules: change one thing in a rule, and see whether its tests notice.

`make mutate` draws a sample of all possible changes, the same sample for the same seed, and prints
what share of them the tests noticed ("killed") and which survived. For each mutant, the tests
nearest to its module run first; the rest of its folder runs only if these notice nothing. Each runs
in a temporary copy of the tree; the working tree is never changed.
"""

import argparse
import ast
import functools
import os
import queue
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.etree import ElementTree

from scripts.mutants import Mutant, mutants, mutated

ROOT = Path(__file__).resolve().parent.parent
# The rules of the protocol itself; the other rules of annotation serve it.
CORE = tuple(
    f"annotation/pipeline/{part}"
    for part in ("engine.py", "geometry.py", "protocol/", "review/", "trust/", "work/answers.py")
)
# Group → the folder of its tests, and the share of mutants that they should kill.
HOMES = {
    "core rules": ("tests/unit", 0.95),
    "other rules": ("tests/unit", 0.90),
    "marketplace rules": ("tests/marketplace", 0.90),
    "grounding": ("tests/grounding", 0.90),
}
FOLDERS = ("annotation/pipeline", "common/files", "marketplace/rules", "grounding/pipeline")
PACKAGES = {"annotation", "common", "config", "grounding", "marketplace", "tests"}
# Tests that are too slow to run for each mutant.
LEFT_OUT = ("tests/browser", "tests/concurrency", "tests/data", "tests/e2e")
PROCESSES = 2
# A mutant may try to fill the memory: this limit stops it.
MEMORY = 6 * 2**30
PYTEST = [
    *(sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:randomly", "-p", "no:cacheprovider"),
    *("-m", "not slow and not long and not whole and not postgres"),
    # The same examples each time, and no deadlines: a busy machine kills no mutant.
    "--hypothesis-profile=ci",
]


def group_of(path: str) -> str:
    """Return the group that a module belongs to."""
    if path.startswith(("annotation/", "common/")):
        return "core rules" if path.startswith(CORE) else "other rules"
    return "grounding" if path.startswith("grounding/") else "marketplace rules"


@functools.cache
def imports(path: str, root: Path) -> frozenset[str]:
    """Return our own files that a file imports."""
    names = set()
    for node in ast.walk(ast.parse((root / path).read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    ours = (Path(*n.split(".")) for n in names if n.split(".")[0] in PACKAGES)
    paths = (p for module in ours for p in (module.with_suffix(".py"), module / "__init__.py"))
    return frozenset(p.as_posix() for p in paths if (root / p).is_file())


@functools.cache
def nearest_tests(path: str, root: Path) -> tuple[list[str], list[str]]:
    """Return the test files nearest to a module, and the others of its group's folder.

    The nearest are the module's own doctests, the test files that have its name, and those that
    import it. If the group's folder has none of these, they are the tests elsewhere that reach it
    in the fewest steps.
    """
    home = HOMES[group_of(path)][0]
    files = sorted(p.relative_to(root).as_posix() for p in root.glob("tests/**/test_*.py"))
    files = [file for file in files if not file.startswith(LEFT_OUT)]
    # Imports of a test's helpers count as its own.
    graph = {
        file: set(imports(file, root)).union(
            *(imports(helper, root) for helper in imports(file, root) if helper.startswith("tests"))
        )
        for file in files
    }
    name = f"test_{Path(path).stem}"
    named = [f for f in files if f"{Path(f).stem}_".startswith(f"{name}_")]
    near = {f for f in files if f in named or (f.startswith(home) and path in graph[f])}
    steps = 0
    while not near and steps < 4:
        steps += 1
        near = {file for file in files if path in graph[file]}
        for reached in graph.values():
            reached |= {p for q in tuple(reached) for p in imports(q, root)}
    first = sorted(near, key=lambda f: (f not in named, len(graph[f]), f))
    return [path, *first], [f for f in files if f.startswith(home) and f not in near]


def run(tree: Path, arguments: Sequence[str], seconds: float) -> bool:
    """Tell whether the tests pass, in time."""
    # Without the variables that an outer pytest has set.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTEST_", "DJANGO_SETTINGS_"))
    }
    environment |= {"PYTHONDONTWRITEBYTECODE": "1", "OMP_NUM_THREADS": "1"}
    # Next to the working tree, not next to its copy.
    environment.setdefault("CHAINBOX_DATA", str(ROOT.parent / "shared" / "data"))
    process = subprocess.Popen(
        [*PYTEST, *arguments],
        cwd=tree,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        # 5: there was no test to run.
        return process.wait(timeout=seconds) in (0, 5)
    except subprocess.TimeoutExpired:
        return False
    finally:
        # Including all processes that its tests have started.
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def survives(
    mutant: Mutant, tree: Path, tests: Sequence[Sequence[str]], seconds: dict[str, float]
) -> bool:
    """Tell whether no list of tests notices the mutant; a time-out counts as noticed.

    `seconds` is how long each test file takes.
    """
    file = tree / mutant.path
    original = file.read_text()
    # Python would mistake a compiled file of the same second and length for this one's.
    for cached in file.parent.glob(f"__pycache__/{file.stem}.*.pyc"):
        cached.unlink()
    file.write_text(mutated(original, mutant))
    try:
        return all(
            run(tree, files, 30 + 8 * sum(seconds.get(file, 2) for file in files))
            for files in tests
            if files
        )
    finally:
        file.write_text(original)


def baseline(tree: Path, homes: set[str]) -> dict[str, float]:
    """Run all tests on the unchanged rules; return how long each file takes."""
    report = tree / "baseline.xml"
    arguments = [*PYTEST, f"-n{PROCESSES}", f"--junitxml={report}", *sorted(homes), *FOLDERS]
    done = subprocess.run(arguments, cwd=tree, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"The tests fail without any change:\n{done.stdout[-3000:]}")
    seconds: dict[str, float] = defaultdict(float)
    for case in ElementTree.parse(report).iter("testcase"):
        path = case.get("classname", "").replace(".", "/") + ".py"
        seconds[path] += float(case.get("time", 0))
    return dict(seconds)


def sampled(seed: int, size: int, only: str) -> list[Mutant]:
    """Draw `size` mutants of each group, or take all if it is 0; `only`: file, file:line, group."""
    groups: dict[str, list[Mutant]] = defaultdict(list)
    wanted, _, line = only.partition(":")
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            if wanted in path or wanted == group_of(path):
                groups[group_of(path)] += [
                    mutant
                    for mutant in mutants(path, file.read_text())
                    if not line or mutant.line == int(line)
                ]
    draw = random.Random(seed)
    chosen = [
        mutant
        for group in HOMES
        for mutant in draw.sample(groups[group], min(size or 10**9, len(groups[group])))
    ]
    # Shuffled, so that the first ones cover every group.
    draw.shuffle(chosen)
    return chosen


def try_all(chosen: Sequence[Mutant]) -> list[Mutant]:
    """Try each mutant in a copy of the tree; return those that survive."""
    with tempfile.TemporaryDirectory(prefix="chainbox-mutants-") as folder:
        trees: queue.SimpleQueue[Path] = queue.SimpleQueue()
        first = Path(folder) / "0"
        left_out = shutil.ignore_patterns(".git", ".venv", "node_modules", "var", ".*_cache")
        shutil.copytree(ROOT, first, ignore=left_out, symlinks=True)
        seconds = baseline(first, {HOMES[group_of(mutant.path)][0] for mutant in chosen})
        trees.put(first)
        for number in range(1, PROCESSES):
            # A copy of the first, with the files that Python has compiled there.
            trees.put(shutil.copytree(first, Path(folder) / str(number), symlinks=True))

        def attempt(mutant: Mutant) -> bool:
            tree = trees.get()
            try:
                return survives(mutant, tree, nearest_tests(mutant.path, ROOT), seconds)
            finally:
                trees.put(tree)

        survivors = []
        with ThreadPoolExecutor(PROCESSES) as pool:
            tried = zip(chosen, pool.map(attempt, chosen), strict=True)
            for number, (mutant, survived) in enumerate(tried, start=1):
                print(f"{number} of {len(chosen)}", end="\r", file=sys.stderr, flush=True)
                if survived:
                    survivors.append(mutant)
                    print(f"{mutant.path}:{mutant.line}: {mutant.change}", flush=True)
        return survivors


def summary(chosen: Sequence[Mutant], survivors: Sequence[Mutant]) -> Iterator[str]:
    """Yield a line for each group: how many of its mutants were killed."""
    for group, (_, aim) in HOMES.items():
        tried = sum(group_of(mutant.path) == group for mutant in chosen)
        killed = tried - sum(group_of(mutant.path) == group for mutant in survivors)
        if tried:
            yield f"{group:24}{killed:4} of {tried:4} killed: {killed / tried:6.1%} (aim {aim:.0%})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default: 1)")
    parser.add_argument(
        "--sample", type=int, default=60, help="mutants of each group; 0 for all (default: 60)"
    )
    parser.add_argument(
        "--only", default="", help="a group, a part of a path, or path:line (default: everything)"
    )
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    chosen = sampled(options.seed, options.sample, options.only)
    if not chosen:
        sys.exit(f"There is nothing to change in {options.only}.")
    began = time.monotonic()
    print(f"Trying {len(chosen)} mutants, seed {options.seed}. Those that survive:", flush=True)
    survivors = try_all(chosen)
    print(f"{len(survivors)} survived, in {(time.monotonic() - began) / 60:.0f} minutes.")
    print(*summary(chosen, survivors), sep="\n")


if __name__ == "__main__":
    main()
