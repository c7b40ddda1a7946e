"""What a hostile file is: how it is made, who reads it, and what the reader must say."""

from collections.abc import Callable
from pathlib import Path

import msgspec


class Case(msgspec.Struct, frozen=True):
    """A hostile file. `make` writes it into an empty folder and returns what is to be read.

    `says` are parts of the message that it must be refused with; none: it may also be read, since
    what is odd about it does no harm.
    """

    name: str
    make: Callable[[Path], Path]
    read: Callable[[Path], str | None]
    says: tuple[str, ...] = ()


def file_of(name: str, content: Callable[[], bytes | str]) -> Callable[[Path], Path]:
    """Return what writes one file; its content is made only when it is wanted."""

    def make(folder: Path) -> Path:
        path = folder / name
        made = content()
        path.write_bytes(made.encode() if isinstance(made, str) else made)
        return path

    return make
