"""Putting photos into the file storage, under names that their contents give them."""

import hashlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from django.core.files import File
from django.core.files.storage import default_storage

from annotation.pipeline.corpus.pictures import Picture
from annotation.selectors.corpus.photo_files import photo_problem

# Django's class takes no parameter but for the type checker.
if TYPE_CHECKING:
    BytesFile = File[bytes]
else:
    BytesFile = File


class PhotoChangedError(ValueError):
    """A photo is not what it was when it was checked; nothing was stored."""


def picture_name(picture: Picture) -> str:
    """Return a photo's name in the file storage."""
    return f"images/{picture.sha256[:2]}/{picture.sha256}.{picture.format.lower()}"


def picture_store(picture: Picture) -> str:
    """Put a photo into the file storage under its content's name; twice is once.

    A file of that name with another content is damaged, and is replaced.
    """
    name = picture_name(picture)
    if photo_problem(name, picture.sha256) is not None:
        with picture.path.open("rb") as stream:
            photo_save(name, stream, picture.sha256)
    return name


def photo_save(name: str, stream: IO[bytes], sha256: str) -> str:
    """Save a photo of which the hash is known, and return the name that the storage gave it."""
    try:
        return default_storage.save(name, _Checked(stream, sha256))
    except _OtherContentError:
        raise PhotoChangedError(f"{stream.name} is not the photo any more that it was") from None


class _OtherContentError(Exception):
    pass


class _Checked(BytesFile):
    """A file that breaks off at its end if its content is another: then no storage keeps it."""

    def __init__(self, stream: IO[bytes], sha256: str) -> None:
        super().__init__(stream)
        self.sha256 = sha256

    def chunks(self, chunk_size: int | None = None) -> Iterator[Any]:
        digest = hashlib.sha256()
        for chunk in super().chunks(chunk_size):
            digest.update(chunk)
            yield chunk
        if digest.hexdigest() != self.sha256:
            raise _OtherContentError
