"""Saving photos in the file storage, under names derived from their contents."""

import hashlib
from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any

from django.core.files import File
from django.core.files.storage import default_storage

from annotation.pipeline.corpus.pictures import Picture
from annotation.selectors.corpus.photo_files import photo_problem

# Django's class takes a parameter only for the type checker.
if TYPE_CHECKING:
    BytesFile = File[bytes]
else:
    BytesFile = File


class PhotoChangedError(ValueError):
    """A photo has changed since it was checked; nothing was stored."""


def picture_name(picture: Picture) -> str:
    """Return a photo's name in the file storage."""
    return f"images/{picture.sha256[:2]}/{picture.sha256}.{picture.format.lower()}"


def picture_store(picture: Picture) -> str:
    """Save a photo under the name derived from its content; saving it again changes nothing.

    A file of that name with different content is damaged, and is replaced.
    """
    name = picture_name(picture)
    if photo_problem(name, picture.sha256) is not None:
        with picture.path.open("rb") as stream:
            photo_save(name, stream, picture.sha256)
    return name


def photo_save(name: str, stream: IO[bytes], sha256: str) -> str:
    """Save a photo with a known hash, and return the name that the storage gave it."""
    try:
        return default_storage.save(name, _Checked(stream, sha256))
    except _OtherContentError:
        raise PhotoChangedError(f"{stream.name} has changed since it was checked") from None


class _OtherContentError(Exception):
    pass


class _Checked(BytesFile):
    """A file that raises an error at its end if its content differs, so that it is not kept."""

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
