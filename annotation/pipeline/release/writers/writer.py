"""What a release format is given to write, and how.

A format is a context manager. It is opened with the folder to write to and what is known of the
whole release, and yields a function that takes one image after the other. So it can write a header
first, stream the images, and write footers, lists and manifests when the block ends well. If the
block fails the release is thrown away.

All formats are given the same images in the same order, with the same chain ids. The folder is a
draft that becomes the release when it is complete. `photos/` is already there for each image, if
the release has photos; `NOT_INCLUDED` is written for every format.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec

from annotation.pipeline.release.model import ReleasedImage

PHOTOS = "photos"


class ReleaseHead(msgspec.Struct, frozen=True):
    """What is known before the first image."""

    campaign: str


class ReleaseItem(msgspec.Struct, frozen=True):
    """One image of a release, and what is known of it beside its annotation."""

    image: ReleasedImage
    # The part of the dataset that it belongs to; empty if it belongs to none.
    split: str = ""
    # The captions, numbered from 1, that do not describe the image.
    unrelated: tuple[int, ...] = ()
    # The file in `photos/`; empty without photos.
    photo: str = ""


WriteImage = Callable[[ReleaseItem], None]


class ReleaseFormat(msgspec.Struct, frozen=True):
    """A format, and in a few words what it is."""

    words: str
    open: Callable[[Path, ReleaseHead], AbstractContextManager[WriteImage]]
