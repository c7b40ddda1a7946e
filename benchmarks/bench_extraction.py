"""Extraction end to end, compared with the bare forward pass on batches in memory.

Both use the default network on all cores, alternating in one run. The bare pass gets normalised
batches and the better of two ways to use the cores; extraction starts with files and ends with a
store on disk.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from PIL import Image

from benchmarks.measure import ROOT
from grounding.pipeline.store.extraction import available_cores, extract, open_store
from grounding.pipeline.store.plans import plan
from grounding.pipeline.vision.allocator import keep_memory
from grounding.pipeline.vision.backbones import Backbone, load_backbone
from grounding.pipeline.vision.crops import CROPS, crops_of
from grounding.pipeline.vision.photos import find_photos

WANTED = 0.85
ROUNDS = 3
# How many photos for each crop policy: about the same number of crops.
PHOTOS = {"ten": 48, "whole": 240}
ALLOCATOR = "--allocator"

Way = Callable[[list[torch.Tensor], Backbone, int], None]


def a_batch_a_core(batches: list[torch.Tensor], backbone: Backbone, cores: int) -> None:
    with ThreadPoolExecutor(cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        list(pool.map(backbone.forward, batches))


def all_cores_on_each(batches: list[torch.Tensor], backbone: Backbone, cores: int) -> None:
    torch.set_num_threads(cores)
    for batch in batches:
        backbone.forward(batch)


WAYS: tuple[Way, ...] = (a_batch_a_core, all_cores_on_each)


class Spent(NamedTuple):
    """Wall-clock seconds, and processor seconds of all cores together."""

    wall: float
    cpu: float


def main() -> None:
    backbone = load_backbone(device="cpu")
    cores = available_cores()
    with tempfile.TemporaryDirectory() as temporary:
        folder = photos_folder(Path(temporary))
        names = sorted(path.stem for path in folder.glob("*.jpg"))
        if sys.argv[1:] == [ALLOCATOR]:
            batches = ready_batches(backbone, folder, names[:6], "ten")
            returned = timed(lambda: a_batch_a_core(batches, backbone, cores))
            keep_memory()
            kept = timed(lambda: a_batch_a_core(batches, backbone, cores))
            less = returned.cpu / kept.cpu
            print(f"  keeping memory saves processor time: {less:.2f} × less")
            return
        print(f"{backbone.name}, {cores} cores, photos in {folder.name}/", flush=True)
        # In a separate process: memory that threads allocated before would still be returned.
        subprocess.run([sys.executable, "-m", "benchmarks.bench_extraction", ALLOCATOR], check=True)
        keep_memory()
        for policy, count in PHOTOS.items():
            compare(backbone, Path(temporary), folder, names[:count], policy, cores)


def compare(
    backbone: Backbone, temporary: Path, folder: Path, names: list[str], policy: str, cores: int
) -> None:
    batches = ready_batches(backbone, folder, names, policy)
    forward, whole = [], []
    for number in range(ROUNDS):
        store = temporary / f"store-{policy}-{number}"
        forward += [timed(partial(way, batches, backbone, cores)) for way in WAYS]
        whole.append(timed(partial(run, backbone, store, folder, names, policy, cores)))
    crops = len(names) * CROPS[policy]
    print(f"crops: {policy}, {len(names)} photos, best of {ROUNDS} rounds")
    for what, spent in (("bare forward pass", forward), ("extraction, end to end", whole)):
        print(f"  {what:<24} {crops / min(spent).wall:8.1f} crops a second")
    ratio = min(forward).wall / min(whole).wall
    print(f"  ratio                    {ratio:8.2f}   (goal with ten crops: {WANTED} or more)")
    work = min(one.cpu for one in forward) / min(one.cpu for one in whole)
    print(f"  ratio of processor time  {work:8.2f}   (depends less on other programs)")


def run(
    backbone: Backbone, root: Path, folder: Path, names: list[str], policy: str, cores: int
) -> None:
    """Extract all features, from files to files."""
    store = open_store(root, backbone, policy, "float16")
    photos, _ = find_photos(root, folder, names, threads=cores)
    extract(store, folder, plan(store, photos), backbone, threads=cores)
    assert len(store) == len(names)


def ready_batches(
    backbone: Backbone, folder: Path, names: list[str], policy: str
) -> list[torch.Tensor]:
    """Return the batches that extraction will make, normalised and in memory."""
    crops = []
    for name in names:
        with Image.open(folder / f"{name}.jpg") as photo:
            crops.append(crops_of(photo.convert("RGB"), None, policy, backbone.side))
    together = np.concatenate(crops)
    size = backbone.batch // CROPS[policy] * CROPS[policy]
    return [backbone.prepare(together[at : at + size]) for at in range(0, len(together), size)]


def timed(work: Callable[[], None]) -> Spent:
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return Spent(time.perf_counter() - wall, time.process_time() - cpu)


def photos_folder(temporary: Path) -> Path:
    """Return the folder of real photos, or generate some if there is none."""
    data = Path(os.environ.get("CHAINBOX_DATA") or ROOT.parent / "shared" / "data")
    if (data / "photos").is_dir():
        return data / "photos"
    made = temporary / "made"
    made.mkdir()
    random = np.random.default_rng(0)
    for number in range(max(PHOTOS.values())):
        coarse = Image.fromarray(random.integers(0, 255, (25, 33, 3), dtype=np.uint8))
        coarse.resize((500, 375), Image.Resampling.BICUBIC).save(made / f"{number:04}.jpg")
    return made


if __name__ == "__main__":
    main()
