"""Files appear whole or not at all, whatever happens while they are written."""

import errno
import hashlib
import io
import os
import resource
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from common.files.trouble import disk_trouble, error_words
from common.files.whole import (
    WrongContentError,
    make_folder,
    partials,
    whole_file,
    whole_folder,
    whole_path,
    write_bytes,
    write_text,
)
from tests.processes import ROOT

# Of a file that a process may write: the system's own way to stop it in the middle, anywhere.
LIMIT = 10_000


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def python(program: str, *words: str | Path, limit: int | None = None) -> str:
    """Run a program of its own, which may write files of at most `limit` bytes; return its output.

    Python ignores the signal that goes with the limit, so writing raises OSError.
    """

    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    return subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=ROOT,
        preexec_fn=limited,
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def test_a_file_and_its_replacement(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_bytes(path, [b"all ", memoryview(b"of it")])
    assert path.read_bytes() == b"all of it"
    write_text(path, "Zoë\r\n")
    assert path.read_bytes() == b"Zo\xc3\xab\r\n"
    assert names(tmp_path) == ["file"]


def test_until_the_end_there_is_what_was_there_before(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with whole_file(path) as file:
        file.write(b"n" * 1_000_000)
        assert path.read_text() == "old"
    assert path.read_text() == "n" * 1_000_000


def test_nothing_stays_of_a_file_whose_writer_fails(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")

    def parts() -> Iterator[bytes]:
        yield b"n" * 1_000_000
        raise KeyError

    with pytest.raises(KeyError):
        write_bytes(path, parts())
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("size", [LIMIT + 1, 1_000_000])
def test_a_write_that_breaks_off_names_the_file_and_leaves_nothing(
    tmp_path: Path, size: int
) -> None:
    program = """
import sys
from pathlib import Path
from common.files.trouble import disk_trouble
from common.files.whole import write_bytes
try:
    write_bytes(Path(sys.argv[1]), [b"x" * int(sys.argv[2])])
except OSError as error:
    print(disk_trouble(error))
"""
    path = tmp_path / "file"
    path.write_text("old")
    said = python(program, path, str(size), limit=LIMIT)
    assert said.startswith(f"{path}: the file would be larger than")
    assert path.read_text() == "old"
    assert names(tmp_path) == ["file"]


def test_an_archive_that_breaks_off_leaves_nothing(tmp_path: Path) -> None:
    program = """
import os, sys, zipfile
from pathlib import Path
from common.files.whole import whole_file
try:
    with whole_file(Path(sys.argv[1])) as file, zipfile.ZipFile(file, "w") as archive:
        archive.writestr("noise", os.urandom(100_000))
except OSError as error:
    print(error.filename)
"""
    path = tmp_path / "archive.zip"
    assert python(program, path, limit=LIMIT).strip() == str(path)
    assert names(tmp_path) == []


def test_a_killed_writer_leaves_the_old_file_and_a_leftover_that_is_found_a_day_later(
    tmp_path: Path,
) -> None:
    program = """
import os, signal, sys
from pathlib import Path
from common.files.whole import whole_file
with whole_file(Path(sys.argv[1])) as file:
    file.write(b"n" * 1_000_000)
    os.kill(os.getpid(), signal.SIGKILL)
"""
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(subprocess.CalledProcessError) as died:
        python(program, path)
    assert died.value.returncode == -signal.SIGKILL
    assert path.read_text() == "old"
    (leftover,) = set(tmp_path.iterdir()) - {path}
    assert leftover.name.startswith(".file.")
    assert list(partials(tmp_path)) == []
    yesterday = time.time() - 25 * 3600
    os.utime(leftover, (yesterday, yesterday))
    os.utime(path, (yesterday, yesterday))
    assert list(partials(tmp_path)) == [leftover]


def test_other_content_than_the_hash_says_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "file"
    right = hashlib.sha256(b"right").hexdigest()
    with pytest.raises(WrongContentError, match=right):
        write_bytes(path, [b"wro", b"ng"], sha256=right)
    assert names(tmp_path) == []
    write_bytes(path, [b"ri", b"ght"], sha256=right)
    assert path.read_bytes() == b"right"


def test_rights(tmp_path: Path) -> None:
    def rights(name: str) -> int:
        return stat.S_IMODE((tmp_path / name).stat().st_mode)

    (tmp_path / "usual").write_text("")
    write_text(tmp_path / "new", "")
    write_text(tmp_path / "private", "", private=True)
    assert rights("new") == rights("usual")
    assert rights("private") == 0o600
    (tmp_path / "new").chmod(0o640)
    write_text(tmp_path / "new", "other")
    assert rights("new") == 0o640


def test_a_file_that_is_there_is_only_replaced_if_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    with pytest.raises(FileExistsError) as refused:
        write_bytes(path, [b"other"], replace=False)
    assert refused.value.filename == str(path)
    path.unlink()

    def overtaken() -> Iterator[bytes]:
        path.write_text("quicker")
        yield b"other"

    with pytest.raises(FileExistsError):
        write_bytes(path, overtaken(), replace=False)
    assert path.read_text() == "quicker"
    path.unlink()
    write_bytes(path, [b"other"], replace=False)
    assert path.read_text() == "other"
    assert names(tmp_path) == ["file"]


def test_a_link_stays_one_and_what_is_no_file_is_written_to(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "text"
    assert python(
        "from common.files.whole import write_text; from pathlib import Path\n"
        "write_text(Path('/dev/stdout'), 'told')"
    ) == "told"  # fmt: skip


def test_a_full_device_is_told_in_plain_words() -> None:
    with pytest.raises(OSError, match="/dev/full") as refused:
        write_text(Path("/dev/full"), "text")
    assert refused.value.errno == errno.ENOSPC
    words = disk_trouble(refused.value)
    assert words is not None
    assert words.startswith("/dev/full: the disk is full. Free some space")


def test_long_names(tmp_path: Path) -> None:
    for name in ("n" * 255, "é" * 127):
        write_text(tmp_path / name, "text")
        assert (tmp_path / name).read_text() == "text"


def test_errors_of_other_files_keep_their_names(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as missing, whole_file(tmp_path / "copy") as file:
        file.write((tmp_path / "source").read_bytes())
    assert missing.value.filename == str(tmp_path / "source")
    with pytest.raises(FileNotFoundError) as nowhere:
        write_text(tmp_path / "no" / "file", "text")
    assert nowhere.value.filename == str(tmp_path / "no" / "file")
    assert names(tmp_path) == []


def test_a_library_that_opens_files_itself(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("old")

    def fail(draft: Path) -> None:
        draft.write_text("half")
        raise KeyError

    with pytest.raises(KeyError), whole_path(path) as draft:
        fail(draft)
    assert path.read_text() == "old"
    with whole_path(path) as draft:
        draft.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert names(tmp_path) == ["model"]


def test_a_folder_appears_at_once(tmp_path: Path) -> None:
    path = tmp_path / "above" / "folder"

    def fail(draft: Path) -> None:
        (draft / "one").write_text("1")
        raise KeyError

    with pytest.raises(KeyError), whole_folder(path) as draft:
        fail(draft)
    assert names(tmp_path / "above") == []
    path.mkdir()
    with whole_folder(path) as draft:
        make_folder(draft / "deep" / "er")
        write_text(draft / "deep" / "er" / "one", "1", sync=False)
        assert names(path) == []
    assert (path / "deep" / "er" / "one").read_text() == "1"
    assert names(tmp_path / "above") == ["folder"]
    with pytest.raises(OSError, match="not empty") as refused, whole_folder(path) as draft:
        pass
    assert refused.value.filename == str(path)


def test_what_fails_in_a_folder_is_told_of_the_folder(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as refused, whole_folder(tmp_path / "folder") as draft:
        write_text(draft / "no" / "file", "")
    assert refused.value.filename == str(tmp_path / "folder")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (errno.ENOSPC, "the disk is full. Free some space"),
        (errno.EDQUOT, "is used up. Free some space"),
        (errno.EROFS, "mounted read-only. Mount it for writing"),
        (errno.EACCES, "permission denied. Give the account"),
        (errno.EPERM, "permission denied. Give the account"),
        (errno.EIO, "could not read or write it. Check the disk"),
    ],
)
def test_the_words_name_the_file_and_say_what_helps(code: int, words: str) -> None:
    error = OSError(code, os.strerror(code), "/var/x.jpg")
    told = disk_trouble(error)
    assert told is not None
    assert told.startswith("/var/x.jpg: ")
    assert words in told
    wrapped = ValueError("something else")
    wrapped.__cause__ = error
    assert disk_trouble(wrapped) == told


def test_other_troubles_are_none_of_a_disk() -> None:
    assert disk_trouble(ValueError("28")) is None
    assert disk_trouble(ConnectionRefusedError(errno.ECONNREFUSED, "refused")) is None
    # A port that only root may listen on.
    assert disk_trouble(PermissionError(errno.EACCES, "Permission denied")) is None
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory", "a.txt")
    assert disk_trouble(missing) is None
    assert error_words(missing) == "a.txt: No such file or directory."
    assert error_words(io.UnsupportedOperation("seek")) == "Seek."
