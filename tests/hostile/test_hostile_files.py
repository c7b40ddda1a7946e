"""Every hostile file is refused in plain words, in little time and memory."""

import importlib
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from tests.hostile.cases import Case
from tests.hostile.warm import Reading
from tests.processes import ROOT, environment

# Of one core, so that it does not depend on what else the machine does.
# Of computing. Reading any of them takes about a second; a busy machine doubles that, and a file
# that gets its way takes ten seconds or far more.
SECONDS = 5.0
MEGABYTES = 200.0
AREAS = ("corpora", "photos", "guides", "backups", "releases", "experiments", "messages")

pytestmark = pytest.mark.slow


def cases_of(area: str) -> list[Case]:
    cases: list[Case] = importlib.import_module(f"tests.hostile.{area}").CASES
    return cases


def test_there_are_at_least_a_hundred_and_each_has_its_own_name() -> None:
    names = [f"{area}: {case.name}" for area in AREAS for case in cases_of(area)]
    assert len(names) >= 100
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("area", AREAS)
def test_hostile_files_are_refused_within_bounds(area: str, tmp_path: Path) -> None:
    readings = read_area(area, tmp_path)
    cases = cases_of(area)
    assert [reading.name for reading in readings] == [case.name for case in cases]
    troubles = [
        f"{case.name}: {trouble}"
        for case, reading in zip(cases, readings, strict=True)
        for trouble in _troubles(case, reading)
    ]
    assert not troubles, "\n".join(["", *troubles])


def read_area(area: str, folder: Path) -> list[Reading]:
    """Read all files of an area in a process of their own."""
    settings = environment(
        DATABASE_URL="sqlite:///:memory:",
        CHAINBOX_VAR=str(folder / "var"),
        # Threads would each count their own time, and torch starts many.
        OMP_NUM_THREADS="1",
    )
    files = folder / "files"
    files.mkdir()
    done = subprocess.run(
        [sys.executable, "-m", "tests.hostile.warm", area, str(files)],
        cwd=ROOT,
        env=settings,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [msgspec.json.decode(line, type=Reading) for line in done.stdout.splitlines()]


def _troubles(case: Case, reading: Reading) -> list[str]:
    outcome = reading.outcome
    troubles = []
    if outcome.died:
        troubles.append(outcome.died)
    if outcome.seconds > SECONDS:
        troubles.append(f"took {outcome.seconds:.1f} s")
    if outcome.megabytes > MEGABYTES:
        troubles.append(f"took {outcome.megabytes:,.0f} MB")
    if case.says and not outcome.refused:
        troubles.append("was not refused")
    troubles += (
        f"does not say {part!r}, but {outcome.message[:300]!r}"
        for part in (case.says if outcome.refused else ())
        if part not in outcome.message
    )
    return troubles
