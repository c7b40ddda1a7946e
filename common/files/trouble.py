"""Messages for files that cannot be written: which file, why, and what to do."""

import errno
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager

_FREE = "Free some space on it and try again; nothing half-written was kept."
_FULL = {
    errno.ENOSPC: f"the disk is full. {_FREE}",
    errno.EDQUOT: f"the disk space that this account may use is used up. {_FREE}",
    errno.EFBIG: (
        "the file would be larger than the file system or this process's limit allows "
        "(see `ulimit -f`). Raise the limit or choose another disk, and try again."
    ),
    errno.EIO: "the disk could not read or write it. Check the disk, and restore from a backup.",
}
# Without a file's name, these errors may be about something else, such as a port.
_REFUSED = {
    errno.EROFS: "the disk is mounted read-only. Mount it for writing, or choose another place.",
    errno.EACCES: (
        "permission denied. Give the account that runs Chainbox permission to read and write it, "
        "or choose another place."
    ),
}
_REFUSED[errno.EPERM] = _REFUSED[errno.EACCES]
_DATABASE_FULL = f"The database's disk is full. {_FREE}"
_DATABASE_FAILS = (
    "The database's disk is full or failing. Free some space on it or check it, then try again. "
    "Nothing half-written was kept."
)
_DATABASE_READ_ONLY = (
    "The database's file or folder is not writable. Give the account that runs Chainbox write "
    "permission, then try again."
)
# PostgreSQL's own code for this error, as psycopg2 gives it.
_POSTGRESQL_FULL = "53100"


def disk_trouble(error: BaseException | None) -> str | None:
    """Return in plain words why a disk refused and what to do; None for any other error.

    Looks at the error and its causes.
    """
    while error is not None:
        words = _file_trouble(error) if isinstance(error, OSError) else _database_trouble(error)
        if words is not None:
            return words
        error = error.__cause__
    return None


def error_words(error: OSError) -> str:
    """Return a file error as a sentence: the file, then the reason."""
    return disk_trouble(error) or _with_name(error, f"{error.strerror or error}.")


@contextmanager
def trouble_told() -> Iterator[None]:
    """End the program with a message, instead of a traceback, when a disk refuses something."""
    try:
        yield
    except Exception as error:
        words = disk_trouble(error)
        if words is None or "--traceback" in sys.argv:
            raise
        print(f"error: {words}", file=sys.stderr)
        sys.exit(1)


def _file_trouble(error: OSError) -> str | None:
    if error.errno in _FULL:
        return _with_name(error, _FULL[error.errno])
    if error.errno in _REFUSED and error.filename is not None:
        return _with_name(error, _REFUSED[error.errno])
    return None


def _database_trouble(error: BaseException) -> str | None:
    if isinstance(error, sqlite3.Error):
        # The lowest byte is the kind of error; the others give details.
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code == sqlite3.SQLITE_FULL:
            return _DATABASE_FULL
        if code == sqlite3.SQLITE_IOERR:
            return _DATABASE_FAILS
        if code == sqlite3.SQLITE_READONLY:
            return _DATABASE_READ_ONLY
    if getattr(error, "pgcode", None) == _POSTGRESQL_FULL:
        return _DATABASE_FULL
    return None


def _with_name(error: OSError, words: str) -> str:
    if error.filename is None:
        return words[0].upper() + words[1:]
    return f"{error.filename}: {words}"
