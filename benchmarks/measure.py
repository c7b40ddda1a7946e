"""Shared by the benchmarks: the public data, and running a command with its time and memory."""

import os
import resource
import subprocess
import sys
import tarfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TARBALL = "flickr30k_entities_trainval.tar.xz"


class Measured(NamedTuple):
    """Wall seconds, and the highest resident memory in MB."""

    seconds: float
    megabytes: float


def public_dataset(folder: Path) -> Path:
    """Unpack the public dataset into `folder`; end the benchmark if the dataset is missing."""
    data = Path(os.environ.get("CHAINBOX_DATA") or ROOT.parent / "shared" / "data")
    if not (data / TARBALL).is_file():
        print(f"skipped: there is no {TARBALL} in {data} (name its folder in CHAINBOX_DATA)")
        sys.exit(0)
    with tarfile.open(data / TARBALL) as archive:
        archive.extractall(folder, filter="data")
    return folder / "flickr30k_entities"


def manage(*words: str, var: Path) -> Measured:
    """Run a management command on the SQLite database in `var`."""
    environment = os.environ | {"CHAINBOX_VAR": str(var)}
    environment.pop("DATABASE_URL", None)
    before = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "manage.py", *words],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
    )
    # wait4 gives this child's own memory; RUSAGE_CHILDREN would give the largest so far.
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"manage.py {' '.join(words)} failed with status {process.returncode}")
    return Measured(time.perf_counter() - before, _megabytes(usage))


def _megabytes(usage: resource.struct_rusage) -> float:
    # Linux counts in kilobytes, macOS in bytes.
    return usage.ru_maxrss / (1024 if sys.platform != "darwin" else 1024 * 1024)
