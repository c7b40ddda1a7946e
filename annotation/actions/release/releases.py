"""Building a release."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
from django.core.files.storage import default_storage
from django.db import transaction

from annotation import models
from annotation.pipeline.release.export import export_image
from annotation.pipeline.release.writers.registry import DEFAULT, FORMATS
from annotation.pipeline.release.writers.writer import (
    PHOTOS,
    ReleaseHead,
    ReleaseItem,
    WriteImage,
)
from annotation.selectors.release.releases import (
    finished_images,
    first_free_chain_id,
    unfinished_images,
)
from common.files.whole import WrongContentError, whole_folder, write_bytes, write_text

NOT_INCLUDED = "NOT_INCLUDED"


class ReleaseBuildError(ValueError):
    """The release cannot be built; the message explains why."""


class BuiltRelease(msgspec.Struct, frozen=True):
    """How many images went in, and which did not, with their status."""

    images: int
    not_included: list[tuple[str, str]]


def release_build(
    *,
    campaign: models.Campaign,
    out: Path,
    format: str = DEFAULT,
    photos: bool = False,
    done: Callable[[], None] = lambda: None,
) -> BuiltRelease:
    """Write the campaign's finished images as a release; all of it appears at once, or nothing.

    Chain ids are those an image was imported with, or follow one another in the order of the
    images: the same states give the same bytes. With `photos`, copies of the photos are put where
    experiments look for them. `done` is called after each image.
    """
    if format not in FORMATS:
        known = ", ".join(FORMATS)
        raise ReleaseBuildError(f"there is no release format {format!r}: choose one of {known}")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseBuildError(f"{out} exists and is not empty: choose another folder")
    with whole_folder(out) as draft:
        with transaction.atomic():
            head = ReleaseHead(campaign=campaign.name)
            with FORMATS[format].open(draft, head) as write:
                images = _images_write(campaign, draft, write, photos, done)
            not_included = unfinished_images(campaign)
        lines = ["# images of the campaign that are not in this release: <image> <status>"]
        lines += [f"{name} {status}" for name, status in not_included]
        write_text(draft / NOT_INCLUDED, "\n".join(lines) + "\n", sync=False)
    return BuiltRelease(images=images, not_included=not_included)


def _images_write(
    campaign: models.Campaign,
    folder: Path,
    write: WriteImage,
    photos: bool,
    done: Callable[[], None],
) -> int:
    """Write the finished images one by one; return how many there are."""
    version = campaign.current_settings
    assert version is not None  # every campaign is made with settings
    settings = version.settings
    next_id = count(first_free_chain_id(campaign))
    images = 0
    for image in finished_images(campaign):
        state = image.stored_state.state
        released = export_image(
            state,
            settings,
            image=image.name,
            filename=image.filename,
            depth=image.depth,
            next_id=next_id,
        )
        write(
            ReleaseItem(
                image=released,
                split=image.split,
                unrelated=tuple(flags.caption for flags in state.flags if flags.unrelated),
                photo=_photo_write(image, folder / PHOTOS) if photos and image.file else "",
            )
        )
        images += 1
        done()
    return images


def _photo_write(image: models.Image, folder: Path) -> str:
    """Copy an image's photo into a folder, and return the copy's name."""
    folder.mkdir(exist_ok=True)
    name = image.name + (Path(image.filename).suffix or Path(image.file).suffix)
    with default_storage.open(image.file) as photo:
        try:
            write_bytes(folder / name, photo.chunks(), sha256=image.sha256, sync=False)
        except WrongContentError:
            raise ReleaseBuildError(
                f"the photo of image {image.name} is damaged: {image.file} is not the file that "
                "was imported. Run files_check, which lists all such photos and what to do"
            ) from None
    return name
