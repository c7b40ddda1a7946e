"""Extraction: photos in, features out, shard by shard.

Batches are jobs for a few threads. Each job decodes its photos and then runs the network, on a CPU
with one thread only. While one job decodes another computes, so no core waits, and the features of
a batch do not depend on the number of threads. A batch lies within one shard, so that the bytes of
a shard depend on nothing else.
"""

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from grounding.pipeline.boxes import Rect
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.store.claims import claim, tidy
from grounding.pipeline.store.features import FeatureKind, FeatureStore
from grounding.pipeline.store.plans import Shard, ShardImage
from grounding.pipeline.store.shards import WHOLE, write_shard
from grounding.pipeline.vision.allocator import keep_memory
from grounding.pipeline.vision.backbones import Backbone
from grounding.pipeline.vision.crops import CROPS, CropError, crops_of
from grounding.pipeline.vision.photos import PhotoError, PhotoGone, read_photo

WAIT_SECONDS = 0.5

Progress = Callable[[int], None]


class ExtractionError(GroundingError):
    """Extraction cannot continue; the message gives the cause and a remedy."""


class Extracted(NamedTuple):
    """The result for some shards: the number of features written; why regions were refused for
    good; why photos could not be read this time."""

    features: int
    refused: list[str]
    failed: list[str]


class _Item(NamedTuple):
    photo: str
    sha256: str
    box: Rect | None


class _Batch(NamedTuple):
    """The features of a batch, (kept items, dimensions), and why the other items have none."""

    features: NDArray[np.float32]
    refused: dict[int, str]
    failed: dict[int, str]


def open_store(root: Path, backbone: Backbone, crops: str, dtype: str) -> FeatureStore:
    """Open the store for this backbone's features; create its folder if necessary."""
    if crops not in CROPS:
        raise ExtractionError(f"unknown crop policy “{crops}”; choose one of {', '.join(CROPS)}")
    store = FeatureStore(root, FeatureKind(backbone.name, crops, dtype), backbone.dimensions)
    store.create()
    return store


def available_cores() -> int:
    """Return how many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def extract_shard(
    store: FeatureStore, folder: Path, shard: Shard, backbone: Backbone, *, threads: int = 1
) -> Extracted:
    """Extract one shard from the photos in `folder`, unless it exists.

    Another process may safely extract the same shard at the same time.
    """
    if store.shard_path(shard.name).exists():
        return Extracted(0, [], [])
    with _workers(backbone, threads) as workers:
        return _finish(store, shard, workers.start(store, folder, shard))


def extract(
    store: FeatureStore,
    folder: Path,
    shards: Sequence[Shard],
    backbone: Backbone,
    *,
    threads: int | None = None,
    progress: Progress = lambda count: None,
) -> Extracted:
    """Extract all these shards, sharing the work with other processes that use this store.

    Returns when all exist, including those that others extract; only our own features are counted.
    `progress` gets the number of items done, from any thread, others' shards included.
    """
    done = Extracted(0, [], [])
    open_ones = list(shards)
    with _workers(backbone, threads or available_cores(), progress) as workers:
        while open_ones:
            before = len(open_ones)
            result, open_ones = _one_pass(store, folder, open_ones, workers)
            done = _sum(done, result)
            if len(open_ones) == before:
                workers.wait()  # others are extracting all the rest
    tidy(store)
    store.refresh()
    return done


def _one_pass(
    store: FeatureStore, folder: Path, shards: Sequence[Shard], workers: "_Workers"
) -> tuple[Extracted, list[Shard]]:
    """Extract the shards that no other process has claimed; return the result, and the others."""
    done, left = Extracted(0, [], []), []
    running: list[tuple[Shard, Callable[[], None], list[Future[_Batch]]]] = []

    def finish_first() -> None:
        nonlocal done
        shard, release, batches = running[0]
        done = _sum(done, _finish(store, shard, batches))
        release()
        del running[0]

    try:
        for shard in shards:
            if store.shard_path(shard.name).exists():
                workers.progress(shard.items)
                continue
            release = claim(store, shard.name)
            if release is None:
                left.append(shard)
            elif store.shard_path(shard.name).exists():  # it was finished before we claimed it
                release()
                workers.progress(shard.items)
            else:
                running.append((shard, release, workers.start(store, folder, shard)))
            if len(running) > 1:  # one shard ahead, so that no thread waits for the last batch
                finish_first()
        while running:
            finish_first()
    finally:
        for _, release, _ in running:
            release()
    return done, left


class _Workers:
    """A few threads that work on batches."""

    def __init__(
        self, pool: ThreadPoolExecutor, backbone: Backbone, at_once: int, progress: Progress
    ) -> None:
        self._pool = pool
        self._backbone = backbone
        self._gate = threading.Semaphore(at_once)
        self.progress = progress

    def start(self, store: FeatureStore, folder: Path, shard: Shard) -> list[Future[_Batch]]:
        """Queue the batches of a shard, which always have the same items."""
        policy = store.kind.crops
        size = max(1, self._backbone.batch // CROPS[policy])
        items = [item for image in shard.images for item in _items(image)]
        return [
            self._pool.submit(self._batch, folder, items[start : start + size], policy)
            for start in range(0, len(items), size)
        ]

    def wait(self) -> None:
        threading.Event().wait(WAIT_SECONDS)

    def _batch(self, folder: Path, items: Sequence[_Item], policy: str) -> _Batch:
        crops, refused, failed = _crops(folder, items, policy, self._backbone.side)
        features = np.empty((0, self._backbone.dimensions), np.float32)
        if len(crops):
            with self._gate:
                each = self._backbone.features(crops)
            features = each.reshape(-1, CROPS[policy], each.shape[1]).mean(axis=1)
        self.progress(len(items))
        return _Batch(features, refused, failed)


@contextmanager
def _workers(
    backbone: Backbone, threads: int, progress: Progress = lambda count: None
) -> Iterator[_Workers]:
    keep_memory()
    on_cpu = backbone.device.type == "cpu"
    before = torch.get_num_threads()
    # One thread more than may compute at once, to decode or wait for the disk.
    pool = ThreadPoolExecutor(threads + 1, initializer=torch.set_num_threads, initargs=(1,))
    try:
        yield _Workers(pool, backbone, threads if on_cpu else 1, progress)
    finally:
        pool.shutdown(cancel_futures=True)
        torch.set_num_threads(before)


def _items(image: ShardImage) -> Iterator[_Item]:
    for corners in image.boxes.tolist():
        box = None if tuple(corners) == WHOLE else Rect(*corners)
        yield _Item(image.photo, image.sha256, box)


def _crops(
    folder: Path, items: Sequence[_Item], policy: str, side: int
) -> tuple[NDArray[np.uint8], dict[int, str], dict[int, str]]:
    """Return the crops of all usable items, and by position why the others have none."""
    crops = np.empty((len(items) * CROPS[policy], side, side, 3), np.uint8)
    refused: dict[int, str] = {}
    failed: dict[int, str] = {}
    filled = 0
    name, picture = "", Image.new("RGB", (1, 1))
    for position, item in enumerate(items):
        try:
            if item.photo != name:
                name, picture = "", read_photo(folder, item.photo, item.sha256)
                name = item.photo
            end = filled + CROPS[policy]
            crops[filled:end] = crops_of(picture, item.box, policy, side)
            filled = end
        except PhotoError as error:
            refused[position] = str(error)
        except CropError as error:
            refused[position] = f"{item.photo}: {error}"
        except PhotoGone as error:
            failed[position] = str(error)
    return crops[:filled], refused, failed


def _finish(store: FeatureStore, shard: Shard, futures: Sequence[Future[_Batch]]) -> Extracted:
    """Wait for a shard's batches and write it."""
    batches = [future.result() for future in futures]
    keys = shard.keys()
    refused: dict[int, str] = {}
    failed: dict[int, str] = {}
    start = 0
    for batch in batches:
        refused |= {start + position: why for position, why in batch.refused.items()}
        failed |= {start + position: why for position, why in batch.failed.items()}
        start += len(batch.features) + len(batch.refused) + len(batch.failed)
    kept = np.array(
        [position not in refused and position not in failed for position in range(start)]
    )
    features = _as_stored(store, np.concatenate([batch.features for batch in batches]))
    if len(features) or refused:
        write_shard(
            store.shard_path(shard.name),
            keys[kept],
            features,
            keys[sorted(refused)],
            [refused[position] for position in sorted(refused)],
        )
    return Extracted(
        len(features), list(dict.fromkeys(refused.values())), list(dict.fromkeys(failed.values()))
    )


def _as_stored(store: FeatureStore, features: NDArray[np.float32]) -> NDArray[Any]:
    with np.errstate(over="ignore"):
        stored = features.astype(store.kind.dtype)
    if not np.isfinite(stored).all():
        raise ExtractionError(
            f"{store.kind.backbone} gave numbers that {store.kind.dtype} cannot hold; "
            + (
                "use float32, or check the weights"
                if np.isfinite(features).all()
                else "its weights are damaged"
            )
        )
    return stored


def _sum(one: Extracted, other: Extracted) -> Extracted:
    return Extracted(
        one.features + other.features,
        list(dict.fromkeys(one.refused + other.refused)),
        list(dict.fromkeys(one.failed + other.failed)),
    )
