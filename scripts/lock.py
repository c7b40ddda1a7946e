"""Writes the lock files: exact versions of all installed packages, with their files' hashes.

pip resolves (`--dry-run --report`) and reads the index, so its own settings for index and
certificates apply. The lock files list every file of a version, for all platforms, but no address:
each machine decides where its files come from. The packages' metadata says what only other Pythons
or platforms need. Locked versions stay while they fit; `make lock UPGRADE=yes` takes the newest.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from scripts.package_index import hashes_of

ROOT = Path(__file__).resolve().parent.parent

HEADING = "# Written by `make lock` from pyproject.toml; do not edit.\n"
# Their builds and dependencies differ by hardware: a build for NVIDIA needs a dozen packages that a
# CPU-only build does not. No single list of hashes fits all of them.
UNHASHED = ("torch", "torchvision")
UNHASHED_HEADING = """\
# Without hashes, on purpose: there are builds of these for processors alone and for several kinds
# of GPU, from several indexes, and each needs other packages. Install them after the others.
"""
# Where Chainbox can be installed: the Makefile needs a POSIX shell.
PYTHONS = ("3.11.0", "3.11.9", "3.12.0", "3.13.0", "3.14.0")
PLATFORMS = (("linux", "Linux"), ("darwin", "Darwin"))
MACHINES = ("x86_64", "aarch64", "arm64")
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


class Package(NamedTuple):
    """A package that pip would install, and its requirements."""

    name: str
    version: str
    requires: tuple[Requirement, ...] = ()
    # The hash of the file that pip chose here.
    sha256: str = ""
    # Where it is needed; everywhere, if empty.
    marker: str = ""


def read_report(report: Mapping[str, Any]) -> dict[str, Package]:
    """Return the packages in pip's installation report, by name."""
    found: dict[str, Package] = {}
    for item in report["install"]:
        metadata = item["metadata"]
        name = canonicalize_name(metadata["name"])
        archive = item["download_info"].get("archive_info", {})
        found[name] = Package(
            name=name,
            # Without "+cpu" and the like, which name a build for some machines, not a version.
            version=metadata["version"].partition("+")[0],
            requires=tuple(map(Requirement, metadata.get("requires_dist", ()))),
            sha256=archive.get("hashes", {}).get("sha256", ""),
        )
    return found


def needed(
    wanted: Iterable[Requirement], packages: Mapping[str, Package], environment: Mapping[str, str]
) -> tuple[set[str], list[Requirement]]:
    """Return which packages are needed, and the requirements that none of them meets."""
    seen: set[tuple[str, frozenset[str]]] = set()
    missing: list[Requirement] = []
    waiting = list(wanted)
    while waiting:
        requirement = waiting.pop()
        name, extras = canonicalize_name(requirement.name), frozenset(requirement.extras)
        if (name, extras) in seen:
            continue
        if name not in packages:
            missing.append(requirement)
            continue
        seen.add((name, extras))
        waiting += [
            asked
            for asked in packages[name].requires
            if _applies(asked, environment, extras) and name not in UNHASHED
        ]
    return {name for name, _ in seen}, missing


def _applies(asked: Requirement, environment: Mapping[str, str], extras: Iterable[str]) -> bool:
    return asked.marker is None or any(
        asked.marker.evaluate({**environment, "extra": extra}) for extra in ("", *extras)
    )


def environments() -> list[dict[str, str]]:
    """Return the kinds of machines and Pythons that the lock files are for."""
    here = {name: str(value) for name, value in default_environment().items()}
    return [
        here
        | {
            "python_full_version": python,
            "implementation_version": python,
            "python_version": ".".join(python.split(".")[:2]),
            "sys_platform": platform,
            "platform_system": system,
            "platform_machine": machine,
            "os_name": "posix",
        }
        for python in PYTHONS
        for platform, system in PLATFORMS
        for machine in MACHINES
    ]


def elsewhere(wanted: list[Requirement], packages: Mapping[str, Package]) -> dict[str, str]:
    """Return what only other machines or Pythons need: requirement → marker, or no marker."""
    found: dict[str, str] = {}
    for environment in environments():
        for requirement in needed(wanted, packages, environment)[1]:
            marker = str(requirement.marker or "")
            bare = Requirement(str(requirement))
            bare.marker = None
            # A lock file has no extras: the package is then installed everywhere, which is
            # harmless.
            found[str(bare)] = "" if "extra" in marker else marker
    return found


def render(packages: Iterable[Package], hashes: Mapping[str, Iterable[str]]) -> str:
    """Return a lock file's text, sorted by name."""
    lines = [HEADING]
    for package in sorted(packages):
        marker = f" ; {package.marker}" if package.marker else ""
        listed = sorted({*hashes[package.name], package.sha256} - {""})
        if not listed:
            raise SystemExit(f"No index gives a hash of {package.name} {package.version}.")
        lines.append(f"{package.name}=={package.version}{marker}")
        lines += [f" \\\n    --hash=sha256:{digest}" for digest in listed]
        lines.append("\n")
    return "".join(lines)


def resolve(requirements: Iterable[str], pins: Iterable[Package] = ()) -> dict[str, Package]:
    """Return everything pip would install for `requirements`, in the versions of `pins`."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.writelines(f"{pin.name}=={pin.version}\n" for pin in pins)
        constraints.flush()
        report = subprocess.run(
            [
                *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run"),
                *("--ignore-installed", "--only-binary=:all:", "--report", "-"),
                *("--constraint", constraints.name),
                *requirements,
            ],
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        ).stdout
    return read_report(json.loads(report))


def locked(text: str, wanted: Iterable[Requirement]) -> list[Package]:
    """Return the pins of a lock file that fit the current requirements."""
    pins = {canonicalize_name(name): version for name, version in PIN.findall(text)}
    for requirement in wanted:
        name = canonicalize_name(requirement.name)
        if name in pins and not requirement.specifier.contains(pins[name], prereleases=True):
            del pins[name]
    return [Package(name, version) for name, version in pins.items()]


def resolve_keeping(everything: list[str]) -> dict[str, Package]:
    """Resolve with as many of the locked versions as are compatible."""
    file = ROOT / "requirements-dev.lock"
    if "--upgrade" in sys.argv or not file.exists():
        return resolve(everything)
    try:
        return resolve(everything, locked(file.read_text(), map(Requirement, everything)))
    except subprocess.CalledProcessError:
        print("The locked versions do not go together any more: the newest are taken.")
        return resolve(everything)


def main() -> None:
    """Resolve everything once; the packages' requirements tell which part the runtime needs."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    runtime: list[str] = project["project"]["dependencies"]
    optional: list[str] = project["project"]["optional-dependencies"]["parser"]
    everything = runtime + optional + project["dependency-groups"]["dev"]
    packages = resolve_keeping(everything)
    for requirement, marker in elsewhere(list(map(Requirement, everything)), packages).items():
        for name, package in resolve([requirement], packages.values()).items():
            packages.setdefault(name, package._replace(marker=marker))
    # Also for other machines: everything that the runtime requires on any of them.
    kept = {
        name
        for environment in environments()
        for name in needed(map(Requirement, runtime), packages, environment)[0]
    }
    _write(packages, kept)


def _write(packages: dict[str, Package], runtime: set[str]) -> None:
    hashed = {name: package for name, package in packages.items() if name not in UNHASHED}
    # Torch's other requirements belong to the runtime, which is installed before torch.
    builds = [Requirement(name) for name in UNHASHED]
    here = environments()[0]
    asked = [one for name in UNHASHED for one in packages[name].requires if _applies(one, here, ())]
    known = [one for one in asked if canonicalize_name(one.name) in hashed]
    runtime = (runtime | needed(known, hashed, here)[0]) & set(hashed)
    hashes = hashes_of({name: package.version for name, package in hashed.items()})
    (ROOT / "requirements-dev.lock").write_text(render(hashed.values(), hashes))
    kept = [package for name, package in hashed.items() if name in runtime]
    (ROOT / "requirements.lock").write_text(render(kept, hashes))
    lines = [f"{build.name}=={packages[build.name].version}\n" for build in builds]
    (ROOT / "requirements-torch.lock").write_text(HEADING + UNHASHED_HEADING + "".join(lines))


if __name__ == "__main__":
    main()
