"""The format of Flickr30k Entities: `Sentences/`, `Annotations/`, split lists, and
`UNRELATED_CAPTIONS`. `release.folder` reads it back."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from annotation.pipeline.release.folder import SPLITS, write_image, write_splits, write_unrelated
from annotation.pipeline.release.writers.writer import ReleaseHead, ReleaseItem, WriteImage


@contextmanager
def entities(folder: Path, _: ReleaseHead) -> Iterator[WriteImage]:
    """Write the files of each image, then the lists."""
    splits: dict[str, list[str]] = {split: [] for split in SPLITS}
    unrelated: dict[str, tuple[int, ...]] = {}

    def write(item: ReleaseItem) -> None:
        write_image(folder, item.image)
        if item.split:
            splits.setdefault(item.split, []).append(item.image.image)
        if item.unrelated:
            unrelated[item.image.image] = item.unrelated

    yield write
    write_splits(folder, {name: images for name, images in splits.items() if images})
    write_unrelated(folder, unrelated)
