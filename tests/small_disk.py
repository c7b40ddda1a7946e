"""A real disk of a few kilobytes, to be filled up: a tmpfs that only the test's processes see.

It is mounted in a user namespace, so nobody needs to be root. Some machines forbid that; tests that
need it are skipped there. A process on the small disk meets ENOSPC in the middle of a write, as it
would anywhere else.
"""

import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.processes import ROOT

MOUNT = 'mount -t tmpfs -o size="$1" tmpfs "$2" && echo ready && exec sleep 600'
FILLER = "filler"


class SmallDisk:
    """A folder with a file system of its own. `folder` is its name for the processes inside."""

    def __init__(self, folder: Path, keeper: int) -> None:
        self.folder = folder
        self._keeper = keeper
        # The same folder, as it is seen from outside.
        self.contents = Path(f"/proc/{keeper}/root{folder}")

    def run(
        self, command: Sequence[str | Path], env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        """Run a command that sees the small disk."""
        enter = ["nsenter", f"--target={self._keeper}", "--user", "--mount"]
        return subprocess.run(
            [*enter, "--preserve-credentials", f"--wd={ROOT}", "--", *command],
            env=env,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def fill(self, leave: int = 0) -> None:
        """Fill the disk up to this many free bytes, rounded down to whole pages."""
        taken = self.contents / FILLER
        with taken.open("wb", buffering=0) as file:
            try:
                while file.write(b"\0" * 4096) == 4096:
                    pass
            except OSError:
                pass
            file.truncate(max(0, file.tell() - leave))

    def empty(self) -> None:
        """Free the space that `fill` used up."""
        (self.contents / FILLER).unlink()

    def files(self) -> list[str]:
        """Return the names of all files on it, without the one that fills it up."""
        found = (path for path in self.contents.rglob("*") if path.is_file())
        return sorted(path.name for path in found if path.name != FILLER)


@contextmanager
def small_disk(folder: Path, *, size: str = "1m") -> Iterator[SmallDisk]:
    """Mount a disk of this size at `folder` for the processes that it runs; skip if not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    command = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh", size]
    try:
        keeper = subprocess.Popen(
            [*command, str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
    except FileNotFoundError:
        pytest.skip("a small disk needs the command unshare, of util-linux")
    with keeper:
        try:
            assert keeper.stdout is not None
            assert keeper.stderr is not None
            if keeper.stdout.readline() != "ready\n":
                pytest.skip(f"no disk can be mounted here: {keeper.stderr.read().strip()}")
            yield SmallDisk(folder, keeper.pid)
        finally:
            keeper.kill()
