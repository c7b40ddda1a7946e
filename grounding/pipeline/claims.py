"""Who works on which shard: claims that end by themselves when their process does.

A claim only saves work. Where locks do not work, as on some network file systems, two processes may
make the same shard, and the second to finish replaces it with the same bytes.
"""

import fcntl
import os
import time
from collections.abc import Callable

from grounding.pipeline.shards import SUFFIX
from grounding.pipeline.store import FeatureStore

FORGOTTEN_SECONDS = 24 * 3600


def claim(store: FeatureStore, name: str) -> Callable[[], None] | None:
    """Claim a shard; return what ends the claim, or None if another process has claimed it."""
    folder = store.folder / "claims"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        pass  # no locks on this file system: then there are no claims, only twice the work

    def release() -> None:
        path.unlink(missing_ok=True)
        os.close(descriptor)

    return release


def tidy(store: FeatureStore) -> None:
    """Remove what killed processes left: half-written files that nobody will finish."""
    for path in store.unfinished_folder.glob("*"):
        finished = path.name.partition(SUFFIX)[0]
        try:
            forgotten = path.stat().st_mtime < time.time() - FORGOTTEN_SECONDS
            if forgotten or store.shard_path(finished).exists():
                path.unlink(missing_ok=True)
        except FileNotFoundError:
            continue  # another process is tidying too
