"""Names for arrays, and reading and writing named arrays without running anything from a file."""

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy
from numpy.typing import NDArray

from files.whole import make_folder, whole_file
from grounding.pipeline.errors import GroundingError

Float32 = NDArray[numpy.float32]
Float64 = NDArray[numpy.float64]
Floats = NDArray[numpy.floating[Any]]
Integers = NDArray[numpy.int64]


class ArrayFileError(GroundingError):
    """A file of arrays cannot be used; the message names the file and says why."""


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write `arrays` as an .npz file. Readers see the old file or the new one, never a part."""
    path = Path(path)
    make_folder(path.parent)
    with whole_file(path) as file:
        numpy.savez(file, allow_pickle=False, **dict(arrays))


def read_arrays(
    path: str | Path, names: tuple[str, ...], maybe: tuple[str, ...] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays called `names`, and those of `maybe` if one of them is there.

    Pickled content is refused, since it could run code.
    """
    try:
        with numpy.load(path, allow_pickle=False) as archive:
            wanted = names + (maybe if any(name in archive for name in maybe) else ())
            missing = [name for name in wanted if name not in archive]
            if missing:
                raise ArrayFileError(f"{path}: the file has no array {', '.join(missing)}")
            return {name: archive[name] for name in wanted}
    except FileNotFoundError:
        raise ArrayFileError(f"{path}: the file is missing") from None
    except ArrayFileError:
        raise
    except (ValueError, OSError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise ArrayFileError(
            f"{path}: this is no file of arrays, or a damaged one; make it anew ({error})"
        ) from error
