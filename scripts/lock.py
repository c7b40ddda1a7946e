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
    return {item["name"].lower().replace("_", "-"): item["version"] for item in found}


def write(file: Path, pins: dict[str, str]) -> None:
    """Write one lock file, sorted by name."""
    lines = [f"{name}=={version}\n" for name, version in sorted(pins.items())]
    file.write_text("# Written by `make lock` from pyproject.toml; do not edit.\n" + "".join(lines))


def main() -> None:
    """Resolve both sets; the smaller takes the larger's versions, so that they agree."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime: list[str] = project["project"]["dependencies"]
    everything = resolve(runtime + project["dependency-groups"]["dev"])
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
