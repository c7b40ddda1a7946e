"""The public dataset, for the tests that need it."""

import fcntl
import os
import shutil
import tarfile
import tempfile
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
TARBALL = "flickr30k_entities_trainval.tar.xz"


def data_folder() -> Path:
    """Return where public data is, if it is there."""
    return Path(os.environ.get("CHAINBOX_DATA", REPOSITORY.parent / "shared" / "data"))


@pytest.fixture(scope="session")
def public_dataset() -> Path:
    """Return the directory of Flickr30k Entities, unpacked once and kept for later runs."""
    data = data_folder()
    tarball = data / TARBALL
    if not tarball.is_file():
        pytest.skip(f"the public dataset is not there: no {TARBALL} in {data}")
    facts = tarball.stat()
    unpacked = Path(tempfile.gettempdir()) / f"chainbox-{facts.st_size}-{facts.st_mtime_ns}"
    # Test workers may all come here at once: the first unpacks, the others wait for it.
    with unpacked.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not unpacked.is_dir():
            _unpack(tarball, unpacked)
    return unpacked / "flickr30k_entities"


def _unpack(tarball: Path, unpacked: Path) -> None:
    # A name is only ever that of a complete folder.
    unfinished = Path(tempfile.mkdtemp(prefix="chainbox-unpacking-"))
    try:
        with tarfile.open(tarball) as archive:
            archive.extractall(unfinished, filter="data")
        unfinished.rename(unpacked)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
