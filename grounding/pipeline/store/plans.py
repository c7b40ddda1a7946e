"""Plans of what to extract, cut into shards that any worker can extract alone.

A plan follows from the images, their regions and the content of the store. Shards are cut in the
order of the images and named by their content. Finished shards do not change the cuts between the
others, so a later plan, after a crash or in another worker, has the same shards, and the store ends
up with the same bytes.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256

import msgspec
import numpy as np
from numpy.typing import NDArray

from grounding.pipeline.boxes import Rect
from grounding.pipeline.store.features import FeatureStore
from grounding.pipeline.store.shards import KEY, WHOLE, unpacked_key
from grounding.pipeline.vision.photos import Photo

SHARD_ITEMS = 256

Regions = Callable[[str], Sequence[Rect] | NDArray[np.int32]]


class ShardImage(msgspec.Struct, frozen=True):
    """The regions of one photo in a shard: `packed` is their boxes, 4 × int32 each."""

    photo: str
    sha256: str
    packed: bytes

    @property
    def boxes(self) -> NDArray[np.int32]:
        """Boxes (n, 4); -1 four times is the whole image."""
        return np.frombuffer(self.packed, dtype="<i4").reshape(-1, 4)


class Shard(msgspec.Struct, frozen=True):
    """One unit of work. Can be sent as JSON: `msgspec.json.encode` and `decode(type=Shard)`."""

    name: str
    images: tuple[ShardImage, ...]

    @property
    def items(self) -> int:
        """How many features it will hold if no photo is damaged."""
        return sum(len(image.packed) // 16 for image in self.images)

    def keys(self) -> NDArray[np.void]:
        """Return the keys (items,) of dtype KEY, in the order of the rows."""
        return np.concatenate([_keys(image.sha256, image.boxes) for image in self.images])


def plan(
    store: FeatureStore,
    photos: Mapping[str, Photo],
    regions: Regions = lambda image: (),
    *,
    shard_items: int = SHARD_ITEMS,
) -> list[Shard]:
    """Return the shards that the store lacks: for each photo the whole image and its regions.

    `photos` and `regions` are by image id. Features that the store has or has refused are left
    out. A shard has `shard_items` features or a few more: the regions of an image stay together.
    """
    refused = store.refused
    shards: list[Shard] = []
    waiting: list[ShardImage] = []
    count = 0
    for photo, boxes in _by_content(photos, regions):
        keys = _keys(photo.sha256, boxes)
        missing = store.locate(keys) < 0
        if refused:
            missing &= np.array([unpacked_key(key) not in refused for key in keys])
        if not missing.any():
            continue
        waiting.append(ShardImage(photo.name, photo.sha256, boxes[missing].tobytes()))
        count += int(missing.sum())
        if count >= shard_items:
            shards.append(_shard(waiting))
            waiting, count = [], 0
    if waiting:
        shards.append(_shard(waiting))
    return shards


def _by_content(
    photos: Mapping[str, Photo], regions: Regions
) -> Iterator[tuple[Photo, NDArray[np.int32]]]:
    """Yield each photo once, however many images show it, with all their boxes."""
    images: dict[str, list[str]] = {}
    for image, photo in photos.items():
        images.setdefault(photo.sha256, []).append(image)
    for same in images.values():
        boxes = [np.array([WHOLE], dtype="<i4")]
        boxes += [np.asarray(regions(image), dtype="<i4").reshape(-1, 4) for image in same]
        together = np.concatenate(boxes)
        _, first = np.unique(together, axis=0, return_index=True)
        yield photos[same[0]], together[np.sort(first)]


def _keys(image: str, boxes: NDArray[np.int32]) -> NDArray[np.void]:
    keys = np.zeros(len(boxes), dtype=KEY)
    keys["image"] = np.void(bytes.fromhex(image))
    keys["box"] = boxes
    return keys


def _shard(images: list[ShardImage]) -> Shard:
    content = sha256()
    for image in images:
        content.update(bytes.fromhex(image.sha256) + image.packed + b"/")
    return Shard(content.hexdigest()[:32], tuple(images))
