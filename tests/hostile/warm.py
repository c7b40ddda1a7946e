"""A process that has imported everything, and reads hostile files in forks of itself.

    python -m tests.hostile.warm AREA FOLDER

writes a line of JSON for each file: its name and its `Outcome`.
"""

import importlib
import os
import sys
from pathlib import Path

import django
import msgspec

from tests.hostile.cases import Case
from tests.hostile.measure import Outcome, measure


class Reading(msgspec.Struct, frozen=True):
    name: str
    outcome: Outcome


def read(case: Case, folder: Path) -> Outcome:
    """Make the file in one fork and read it in another: making it costs the reader nothing."""
    folder.mkdir()
    places: Path = folder / ".place"

    def make() -> None:
        places.write_text(str(case.make(folder)))

    made = measure(make)
    if made.died:
        return made
    return measure(lambda: case.read(Path(places.read_text())))


def main(area: str, root: Path) -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    module = importlib.import_module(f"tests.hostile.{area}")
    module.prepare()
    for number, case in enumerate(module.CASES):
        outcome = read(case, root / f"{number}")
        print(msgspec.json.encode(Reading(case.name, outcome)).decode(), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
