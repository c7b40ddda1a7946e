"""Restricts the site's files to the account that runs it."""

import os
import stat
from pathlib import Path

OTHERS = stat.S_IRWXO


def folder_private(folder: Path) -> None:
    """Make the folder for its owner alone; an existing one is closed to all but its group."""
    if folder.is_dir():
        _close_to_others(folder)
    else:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def file_private(file: Path) -> None:
    """Make the file, empty, for its owner alone; an existing one is closed to others.

    SQLite gives the files next to its database the same permissions.
    """
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        _close_to_others(file)
    except OSError:
        pass  # Folder missing or not writable: opening the file gives a better error.


def _close_to_others(path: Path) -> None:
    mode = path.stat().st_mode
    # Only the file's owner can change this.
    if mode & OTHERS and path.stat().st_uid == os.geteuid():
        path.chmod(stat.S_IMODE(mode) & ~OTHERS)
