"""Claims on shards, which end by themselves when their process ends.

A claim only saves work. If locks do not work, as on some network file systems, two processes may
extract the same shard, and the second to finish replaces it with the same bytes.
"""

import fcntl
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from common.files.whole import FORGOTTEN_SECONDS, partials
from grounding.pipeline.store.features import FeatureStore


def claim(store: FeatureStore, name: str) -> Callable[[], None] | None:
    """Claim a shard; return a function that ends the claim, or None if another process holds it."""
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
        pass  # no locks on this file system: then some work may be done twice

    def release() -> None:
        path.unlink(missing_ok=True)
        os.close(descriptor)

    return release


def tidy(store: FeatureStore) -> None:
    """Remove what killed processes left behind: claims of finished shards, half-written files.

    Another process may still be writing a half-written file, so it stays for a day.
    """
    for path in (store.folder / "claims").glob("*"):
        if store.shard_path(path.name).exists():
            path.unlink(missing_ok=True)
    for path in partials(store.root):
        path.unlink(missing_ok=True)


def tidy_folders(root: Path, prefix: str) -> None:
    """Remove folders that killed processes left a day ago."""
    for path in root.glob(f"{prefix}*"):
        if _forgotten(path):
            shutil.rmtree(path, ignore_errors=True)


def _forgotten(path: Path) -> bool:
    try:
        return path.stat().st_mtime < time.time() - FORGOTTEN_SECONDS
    except FileNotFoundError:
        return False  # another process is tidying up too
