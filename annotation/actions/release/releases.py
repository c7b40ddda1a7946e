"""Building a release directory."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import msgspec
from django.core.files.storage import default_storage
from django.db import transaction

from annotation import models
from annotation.pipeline.release.export import export_image
from annotation.pipeline.release.folder import SPLITS, write_image, write_splits, write_unrelated
from annotation.selectors.release.releases import (
    finished_images,
    first_free_chain_id,
    unfinished_images,
)
from common.files.whole import WrongContentError, whole_folder, write_bytes, write_text

NOT_INCLUDED = "NOT_INCLUDED"
PHOTOS = "photos"


class ReleaseBuildError(ValueError):
    """The release cannot be built there."""


class BuiltRelease(msgspec.Struct, frozen=True):
    """How many images went in, and which did not, with their status."""

    images: int
    not_included: list[tuple[str, str]]


def release_build(
    *,
    campaign: models.Campaign,
    out: Path,
    photos: bool = False,
    done: Callable[[], None] = lambda: None,
) -> BuiltRelease:
    """Write the campaign's finished images as a release; all of it appears at once, or nothing.

    Chain ids are those an image was imported with, or follow one another in the order of the
    images: the same states give the same bytes. With `photos` they are put beside, where
    experiments look for them. `done` is called after each image.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise ReleaseBuildError(f"{out} is there already and not empty: name another folder")
    with whole_folder(out) as draft:
        return _write(campaign, draft, photos, done)


@transaction.atomic
def _write(
    campaign: models.Campaign, folder: Path, photos: bool, done: Callable[[], None]
) -> BuiltRelease:
    version = campaign.current_settings
    assert version is not None  # every campaign is made with settings
    settings = version.settings
    splits: dict[str, list[str]] = {split: [] for split in SPLITS}
    unrelated: dict[str, list[int]] = {}
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
        write_image(folder, released)
        if photos and image.file:
            _photo_write(image, folder / PHOTOS)
        if image.split:
            splits.setdefault(image.split, []).append(image.name)
        captions = [flags.caption for flags in state.flags if flags.unrelated]
        if captions:
            unrelated[image.name] = captions
        images += 1
        done()
    write_splits(folder, {name: names for name, names in splits.items() if names})
    write_unrelated(folder, unrelated)
    not_included = unfinished_images(campaign)
    lines = ["# images of the campaign that are not in this release: <image> <status>"]
    lines += [f"{name} {status}" for name, status in not_included]
    write_text(folder / NOT_INCLUDED, "\n".join(lines) + "\n", sync=False)
    return BuiltRelease(images=images, not_included=not_included)


def _photo_write(image: models.Image, folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    ending = Path(image.filename).suffix or Path(image.file).suffix
    with default_storage.open(image.file) as photo:
        try:
            write_bytes(
                folder / f"{image.name}{ending}", photo.chunks(), sha256=image.sha256, sync=False
            )
        except WrongContentError:
            raise ReleaseBuildError(
                f"the photo of image {image.name} is damaged: {image.file} is not what was "
                "imported. Run files_check, which lists all such photos and says what to do"
            ) from None
