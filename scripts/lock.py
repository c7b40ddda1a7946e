"""Writes requirements.lock and requirements-dev.lock: exact versions of all that is installed.

pip itself resolves (`--dry-run --report`); plain pins, since hashes would tie the files to the
platforms whose files were looked at, and no index address, which is each machine's own business.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# What only some Pythons need, and so is not seen by resolving on this one: redis asks for it.
ELSEWHERE = 'async-timeout==5.0.1; python_full_version < "3.11.3"\n'


def resolve(requirements: list[str]) -> dict[str, str]:
    """Return name → version of everything pip would install for `requirements`."""
    report = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"),
            *("--ignore-installed", "--only-binary=:all:", "--report", "-"),
            *requirements,
        ],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = (item["metadata"] for item in json.loads(report)["install"])
    # Without "+cpu" and the like, which name a build for some machines, not a version.
    versions = {
        item["name"].lower().replace("_", "-"): item["version"].partition("+")[0] for item in found
    }
    versions.pop("async-timeout", None)
    return versions


def write(file: Path, pins: dict[str, str]) -> None:
    """Write one lock file, sorted by name."""
    lines = [f"{name}=={version}\n" for name, version in sorted(pins.items())]
    heading = "# Written by `make lock` from pyproject.toml; do not edit.\n"
    file.write_text(heading + ELSEWHERE + "".join(lines))


def main() -> None:
    """Resolve both sets; the smaller takes the larger's versions, so that they agree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime: list[str] = project["project"]["dependencies"]
    optional: list[str] = project["project"]["optional-dependencies"]["parser"]
    everything = resolve(runtime + optional + project["dependency-groups"]["dev"])
    write(ROOT / "requirements-dev.lock", everything)
    pinned = [f"{name}=={version}" for name, version in everything.items()]
    needed = resolve_with(runtime, pinned)
    write(ROOT / "requirements.lock", {name: everything[name] for name in needed})


def resolve_with(requirements: list[str], pins: list[str]) -> dict[str, str]:
    """Resolve `requirements` under the versions in `pins`."""
    constraints = ROOT / "var" / "constraints.txt"
    constraints.parent.mkdir(exist_ok=True)
    constraints.write_text("\n".join(pins))
    return resolve(["--constraint", str(constraints), *requirements])


if __name__ == "__main__":
    main()
