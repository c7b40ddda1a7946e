"""Types of arrays, and files of named arrays, which are read without running any of their code."""

import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from tokenize import TokenError
from typing import IO, Any

import numpy
from numpy.typing import NDArray

from common.files.whole import make_folder, whole_file
from grounding.pipeline.errors import GroundingError

Float32 = NDArray[numpy.float32]
Float64 = NDArray[numpy.float64]
Floats = NDArray[numpy.floating[Any]]
Integers = NDArray[numpy.int64]


class ArrayFileError(GroundingError):
    """A file of arrays cannot be used; the message names the file and the cause."""


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write `arrays` as an .npz file. Readers see the old file or the new one, never a part."""
    path = Path(path)
    make_folder(path.parent)
    with whole_file(path) as file:
        numpy.savez(file, allow_pickle=False, **dict(arrays))


def read_arrays(
    path: str | Path, names: tuple[str, ...], maybe: tuple[str, ...] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays called `names`, and all of `maybe` if any of these is there.

    Pickled content is refused, since it could run code.
    """
    try:
        with open(path, "rb") as file:
            _check_archive(file)
            file.seek(0)
            archive = numpy.load(file, allow_pickle=False)
            wanted = names + (maybe if any(name in archive for name in maybe) else ())
            missing = [name for name in wanted if name not in archive]
            if missing:
                raise ArrayFileError(f"{path}: the file has no array {', '.join(missing)}")
            return {name: archive[name] for name in wanted}
    except FileNotFoundError:
        raise ArrayFileError(f"{path}: the file is missing") from None
    except ArrayFileError:
        raise
    except (
        *(ValueError, TypeError, SyntaxError, OSError, EOFError, AttributeError, RuntimeError),
        *(
            MemoryError,
            OverflowError,
            NotImplementedError,
            zipfile.BadZipFile,
            zlib.error,
            TokenError,
        ),
    ) as error:
        raise ArrayFileError(
            f"{path}: not a file of arrays, or a damaged one ({error}); create it again"
        ) from error


def _check_archive(file: IO[bytes]) -> None:
    """Refuse an archive that is compressed, or whose arrays are shorter than their headers say."""
    size = os.fstat(file.fileno()).st_size
    with zipfile.ZipFile(file) as archive:
        members = archive.infolist()
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("its arrays are compressed")
        if sum(member.file_size for member in members) > size:
            raise ValueError("its arrays overlap")
        for member in members:
            with archive.open(member) as array:
                _check_array(array, member.file_size)


def _check_array(array: IO[bytes], size: int) -> None:
    version = numpy.lib.format.read_magic(array)
    read = {
        (1, 0): numpy.lib.format.read_array_header_1_0,
        (2, 0): numpy.lib.format.read_array_header_2_0,
    }.get(version)
    if read is None:
        raise ValueError(f"version {version} of numpy's format is not supported")
    shape, _, dtype = read(array)
    if dtype.itemsize * math.prod(shape) > size:
        raise ValueError("an array is shorter than its header says")
