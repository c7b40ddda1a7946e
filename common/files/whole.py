"""Atomic writes: a reader finds a file's old content or its new content, never a part.

A file gets its name only when all of it is on the disk: it is written under a temporary name in the
same folder, flushed, and renamed. If anything fails, the temporary file is removed, and what was
there before stays. A process that is killed leaves its temporary file behind; `partials` finds it.
"""

import errno
import hashlib
import io
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

PARTIAL = ".partial"
# Writing a file never takes this long.
FORGOTTEN_SECONDS = 24 * 3600

_BUFFER = 1 << 16
_AT_ONCE = 8
# Most systems limit a file name to 255 bytes, and our temporary name is longer than the final one.
_NAME_BYTES = 200
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EACCES}


class WrongContentError(ValueError):
    """The written content failed its check; the file was not kept."""


@contextmanager
def whole_file(
    path: Path, *, private: bool = False, replace: bool = True, sync: bool = True
) -> Iterator[BinaryIO]:
    """Yield a file to write to; it becomes `path` if the block ends without an error.

    private: only the owner may read it. Otherwise it has the permissions of the file that it
    replaces, or those of any new file. replace: False refuses an existing file (FileExistsError).
    sync: False does not wait for the disk, for a caller that waits for a whole folder at once.
    Every OSError of writing names `path`. Anything but a regular file, such as /dev/stdout, is
    written to directly.
    """
    with _naming(path):
        before = _mode(path)
    if before is not None and not stat.S_ISREG(before):
        with _naming(path):
            stream = os.open(path, os.O_WRONLY)
        with io.BufferedWriter(_NamedFile(stream, path)) as device:
            yield device
        return
    if before is not None and not replace:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    # A symbolic link keeps pointing to the file.
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    draft = _draft_of(target)
    with _naming(path, draft):
        descriptor = os.open(
            draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if private else 0o666
        )
    raw = _NamedFile(descriptor, path)
    file = io.BufferedWriter(raw, _BUFFER)
    try:
        if before is not None and not private:
            with _naming(path):
                os.fchmod(descriptor, stat.S_IMODE(before))
        yield file
        file.flush()
        with _naming(path, draft):
            if sync:
                os.fsync(raw.fileno())
            raw.close()
            _give_name(draft, target, replace=replace, sync=sync)
    finally:
        # Not `file`, which would try to write again.
        with suppress(OSError):
            raw.close()
        _remove(draft)


def write_bytes(
    path: Path,
    parts: Iterable[bytes | memoryview],
    *,
    sha256: str | None = None,
    private: bool = False,
    replace: bool = True,
    sync: bool = True,
) -> None:
    """Write a file from these parts in order.

    sha256: the expected hash of the content; if it differs, WrongContentError is raised and nothing
    is kept.
    """
    digest = hashlib.sha256()
    with whole_file(path, private=private, replace=replace, sync=sync) as file:
        for part in parts:
            file.write(part)
            if sha256 is not None:
                digest.update(part)
        if sha256 is not None and digest.hexdigest() != sha256:
            raise WrongContentError(
                f"{path}: what was to be written has the SHA-256 {digest.hexdigest()}, not "
                f"{sha256}; nothing was kept of it"
            )


def write_text(path: Path, text: str, *, private: bool = False, sync: bool = True) -> None:
    """Write a file of UTF-8 text, and leave its line endings as they are."""
    write_bytes(path, [text.encode()], private=private, sync=sync)


@contextmanager
def whole_path(path: Path) -> Iterator[Path]:
    """Yield a temporary name for a library that opens files itself; otherwise like `whole_file`."""
    draft = _draft_of(path)
    try:
        with _naming(path, draft):
            yield draft
            _sync(draft)
            _give_name(draft, path, replace=True, sync=True)
    finally:
        _remove(draft)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """Yield an empty folder; it appears as `path`, with all its content, or not at all.

    `path` may exist if it is an empty folder.
    """
    with _naming(path, path.parent):
        make_folder(path.parent)
        temporary = tempfile.TemporaryDirectory(prefix=f".{path.name[:50]}.", dir=path.parent)
    # Inside the temporary folder, because only its owner can read that.
    with temporary as outer, _naming(path, Path(outer), nameless=False):
        draft = Path(outer) / "draft"
        draft.mkdir()
        yield draft
        with _naming(path):
            _sync_tree(draft)
            os.rename(draft, path)
            _sync(path.parent)


def make_folder(path: Path) -> None:
    """Make a folder and its parents, so that they still exist after a power cut."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(exist_ok=True)
    _sync(path.parent)


def partials(folder: Path) -> Iterator[Path]:
    """Yield the temporary files, in a folder and below, that killed processes left a day ago."""
    for path in folder.rglob(f".*{PARTIAL}"):
        with suppress(FileNotFoundError):  # another process is tidying up too
            if path.stat().st_mtime < time.time() - FORGOTTEN_SECONDS:
                yield path


class _NamedFile(io.FileIO):
    """A file whose errors name the final file: the system's own errors name none."""

    def __init__(self, descriptor: int, path: Path) -> None:
        super().__init__(descriptor, "wb")
        self._path = path

    def write(self, content: "ReadableBuffer", /) -> int:
        with _naming(self._path):
            return super().write(content)


def _draft_of(path: Path) -> Path:
    name = os.fsdecode(os.fsencode(path.name)[:_NAME_BYTES])
    return path.with_name(f".{name}.{secrets.token_hex(8)}{PARTIAL}")


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None


def _give_name(draft: Path, path: Path, *, replace: bool, sync: bool) -> None:
    if replace:
        os.replace(draft, path)
    else:
        _give_new_name(draft, path)
    if sync:
        _sync(path.parent)


def _give_new_name(draft: Path, path: Path) -> None:
    """Rename a file unless the name is taken, even if somebody takes it at this moment."""
    try:
        os.link(draft, path)
    except FileExistsError:
        raise
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        # The file system has no links: check at the last moment instead.
        if path.exists():
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        os.replace(draft, path)


def _sync_tree(folder: Path) -> None:
    """Wait until everything below a folder is on the disk, with several waits at once."""
    paths = [Path(root, name) for root, _, names in os.walk(folder) for name in ("", *names)]

    def sync(some: list[Path]) -> None:
        for path in some:
            _sync(path)

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(sync, (paths[start::_AT_ONCE] for start in range(_AT_ONCE))))


def _sync(path: Path) -> None:
    """Wait until a file or a folder's list of names is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        # Some network file systems cannot do this for folders, and need not.
        if error.errno != errno.EINVAL:
            raise
    finally:
        os.close(descriptor)


def _remove(draft: Path) -> None:
    # The error that made the writing fail matters more than this one.
    with suppress(OSError):
        draft.unlink(missing_ok=True)


@contextmanager
def _naming(path: Path, draft: Path | None = None, *, nameless: bool = True) -> Iterator[None]:
    """Make errors name the file that was to be written, not the draft, or a file in it.

    If `nameless`, errors that name no file are treated as ours too.
    """
    try:
        yield
    except OSError as error:
        name = error.filename
        is_ours = (
            nameless
            if name is None
            else draft is not None and Path(str(name)).is_relative_to(draft)
        )
        if error.errno is None or not is_ours:
            raise
        raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
