"""The marketplace settings of `make run`, kept in a file for commands in another terminal.

The file is in the data folder and only its owner can read it. Development only: in production the
operator sets these variables.
"""

from collections.abc import Mapping, MutableMapping
from pathlib import Path

from common.files.whole import write_text

NAME = "crowd.env"
PREFIX = "CHAINBOX_CROWD_"


def crowd_file_write(folder: Path, values: Mapping[str, str]) -> None:
    """Write the settings of a site that is starting; without values, remove the file."""
    path = folder / NAME
    if not values:
        path.unlink(missing_ok=True)
        return
    lines = [f"{name}={value}\n" for name, value in sorted(values.items())]
    write_text(path, "".join(lines), private=True)


def crowd_file_load(environment: MutableMapping[str, str], base: Path) -> None:
    """Fill in the settings that the environment lacks, if it sets none for a crowd."""
    if environment.get("CHAINBOX_MODE") == "production":
        return
    if any(name.startswith(PREFIX) and value for name, value in environment.items()):
        return
    path = base / (environment.get("CHAINBOX_VAR") or "var") / NAME
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    for line in lines:
        name, _, value = line.partition("=")
        if name.startswith(PREFIX):
            environment[name] = value
