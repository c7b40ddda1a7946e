"""The site's files are for the account that runs it, not for everybody on the machine."""

import os
import stat
from pathlib import Path

OTHERS = stat.S_IRWXO


def folder_private(folder: Path) -> None:
    """Make the folder for its owner alone; one that is there is closed to all but its group."""
    if folder.is_dir():
        _close_to_others(folder)
    else:
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.mkdir(mode=0o700, exist_ok=True)


def file_private(file: Path) -> None:
    """Make the file, empty, for its owner alone; one that is there is closed to others.

    SQLite gives the files beside its database the same permissions.
    """
    try:
        os.close(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        _close_to_others(file)
    except OSError:
        pass  # No such folder, or not ours to write: whoever opens the file says so better.


def _close_to_others(path: Path) -> None:
    mode = path.stat().st_mode
    # Only its owner can; for anybody else it is not theirs to decide.
    if mode & OTHERS and path.stat().st_uid == os.geteuid():
        path.chmod(stat.S_IMODE(mode) & ~OTHERS)
