"""The photos in the file storage, and whether each is still the one that was imported."""

import hashlib
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

import msgspec
from django.core.files.storage import default_storage
from django.db.models import QuerySet

from annotation import models

BLOCK = 1 << 20


class StoredPhoto(msgspec.Struct, frozen=True):
    """A photo's name in the file storage, its content's hash, and the images that show it.

    `images` are (campaign, image).
    """

    file: str
    sha256: str
    images: tuple[tuple[str, str], ...]


def images_with_photos() -> QuerySet[models.Image]:
    """Return the images whose photo should be in the file storage."""
    return models.Image.objects.filter(withdrawn_at=None).exclude(file="")


def photos_stored(images: QuerySet[models.Image]) -> Iterator[StoredPhoto]:
    """Yield the photos of these images by name, each once."""
    rows = images.order_by("file", "pk").values_list("file", "sha256", "campaign__name", "name")
    for (file, sha256), same in groupby(rows.iterator(), key=itemgetter(0, 1)):
        yield StoredPhoto(
            file=file, sha256=sha256, images=tuple((campaign, name) for *_, campaign, name in same)
        )


def photo_problem(file: str, sha256: str) -> str | None:
    """Return what is wrong with a stored photo, in words that follow its name, or None."""
    digest, size = hashlib.sha256(), 0
    try:
        with default_storage.open(file) as stream:
            for chunk in stream.chunks(BLOCK):
                digest.update(chunk)
                size += len(chunk)
    except FileNotFoundError:
        return "is missing"
    except OSError as error:
        return f"cannot be read: {error.strerror or error}"
    if digest.hexdigest() == sha256:
        return None
    if not size:
        return "is damaged: it is empty"
    return f"is damaged: its {size:,} bytes are not those of the photo that was imported"
