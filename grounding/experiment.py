"""An experiment from what was ordered to its figures, for the command line and for workers."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from annotation.pipeline.release.folder import read_sentences, read_splits
from common.files.trouble import error_words
from common.files.whole import make_folder, write_text
from grounding.passes import SharePass, shared_pass
from grounding.pipeline.arrays import Float32
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.progress import Report, silent
from grounding.pipeline.store.extraction import available_cores, extract, open_store
from grounding.pipeline.store.features import FeatureKey, FeatureStore
from grounding.pipeline.store.plans import SHARD_ITEMS, Shard, plan
from grounding.pipeline.text.features import vocabulary_of
from grounding.pipeline.text.word_vectors_sources import load_word_vectors
from grounding.pipeline.vision.backbones import Backbone, load_backbone
from grounding.pipeline.vision.photos import Photo, find_photos
from grounding.recipes import image_sentence
from grounding.recipes.image_sentence import PART_IMAGES, Result, Settings, Split

WAYS = ("image_to_sentence", "sentence_to_image")


class Network(msgspec.Struct, frozen=True):
    """How features are made."""

    backbone: str = "efficientnet-lite0"
    weights: str | None = None
    device: str | None = None
    crops: str = "ten"
    dtype: str = "float16"
    threads: int | None = None
    shard_items: int = SHARD_ITEMS


class Order(msgspec.Struct, frozen=True):
    """What is to be run on what. Can be sent as JSON."""

    recipe: str
    release: str
    images: str
    store: str
    vectors: str
    settings: Settings = Settings()
    network: Network = Network()
    part_images: int = PART_IMAGES


class Figures(NamedTuple):
    """What came of it; `about` says how, for settings.json."""

    result: Result
    about: dict[str, Any]
    left_out: int


# Told which shards the store lacks before we make them ourselves: others may help.
Share = Callable[[Sequence[Shard]], None]


def run_order(
    order: Order,
    *,
    report: Report = silent,
    share: Share = lambda shards: None,
    share_pass: SharePass | None = None,
) -> Figures:
    """Make the features that the store lacks, and run the recipe on them."""
    release, images = Path(order.release), Path(order.images)
    ids = _splits(release)
    everything = [image for some in ids.values() for image in some]
    photos, missing = find_photos(
        Path(order.store),
        images,
        everything,
        threads=order.network.threads or available_cores(),
        progress=_counted(report, "looking at photos", len(everything)),
    )
    for name in ("train", "val"):
        if not any(image in photos for image in ids[name]):
            raise GroundingError(
                f"{images}: no image of {name}.txt has a photo here; photos are named by the "
                "image's id, as in 36979.jpg"
            )
    splits = {
        name: _split(release, name, [image for image in some if image in photos], report)
        for name, some in ids.items()
    }
    texts = {name: split.texts(split.images) for name, split in splits.items()}
    # Before hours of extraction: a mistyped file name should be told at once.
    vectors = load_word_vectors(
        order.vectors,
        vocabulary_of(text for some in texts.values() for text in some),
        texts["train"],
        seed=order.settings.seed,
        report=report,
    )
    store, unusable = _extracted(order, photos, report, share)
    splits = {name: _without(split, unusable) for name, split in splits.items()}

    def features(some: Sequence[str]) -> Float32:
        return store.read([FeatureKey(photos[image].sha256, None) for image in some])

    result = image_sentence.run(
        splits["train"],
        splits["val"],
        splits.get("test"),
        features,
        vectors,
        order.settings,
        report=report,
        # mps has no float64, which the decompositions need.
        device="cpu" if order.network.device == "mps" else order.network.device,
        part_images=order.part_images,
        shared=partial(shared_pass, order.release, store, photos, share_pass),
    )
    left_out = len(missing) + len(unusable)
    about = {
        "recipe": order.recipe,
        "vectors": order.vectors,
        "features": store.kind.folder,
        "settings": msgspec.to_builtins(order.settings),
        "chosen": msgspec.to_builtins(result.chosen),
        "tried": msgspec.to_builtins(result.tried),
        "images": {name: len(split.images) for name, split in splits.items()},
        "images_left_out": left_out,
        "words": msgspec.to_builtins(result.coverage),
    }
    return Figures(result, about, left_out)


def metrics_of(result: Result) -> dict[str, Any]:
    """Return what metrics.json says: percentages and median ranks, by split and way."""
    return {
        name: split and {way: msgspec.to_builtins(getattr(split, way)) for way in WAYS}
        for name, split in (("val", result.val), ("test", result.test))
    }


def write_figures(out: Path, figures: Figures) -> None:
    """Write metrics.json, intervals.json and settings.json into a folder."""
    result = figures.result
    intervals = {
        name: split
        and {
            way: {
                "interval": msgspec.to_builtins(getattr(split, f"{way}_intervals")),
                "chance": msgspec.to_builtins(getattr(split, f"{way}_chance")),
            }
            for way in WAYS
        }
        for name, split in (("val", result.val), ("test", result.test))
    }
    files = {
        "metrics": metrics_of(result),
        "intervals": intervals,
        "settings": figures.about,
    }
    try:
        make_folder(out)
        for name, content in files.items():
            text = json.dumps(content, indent=2, ensure_ascii=False)
            write_text(out / f"{name}.json", f"{text}\n")
    except OSError as error:
        raise GroundingError(f"the figures were not written: {error_words(error)}") from error


def network_of(order: Order) -> tuple[Backbone, FeatureStore]:
    """Load the network of an order, and open the store of its features."""
    network = order.network
    weights = Path(network.weights) if network.weights else None
    backbone = load_backbone(network.backbone, weights, network.device)
    return backbone, open_store(Path(order.store), backbone, network.crops, network.dtype)


def _splits(release: Path) -> dict[str, tuple[str, ...]]:
    splits = read_splits(release)
    for name in ("train", "val"):
        if not splits.get(name):
            raise GroundingError(
                f"{release}: it has no images in {name}.txt, and the experiment needs train and "
                "val; write one image id a line"
            )
    return splits


def _split(release: Path, name: str, images: Sequence[str], report: Report) -> Split:
    captions = {}
    counted = _counted(report, f"reading captions of {name}", len(images))
    for image in images:
        captions[image] = [sentence.tokens for sentence in read_sentences(release, image)]
        counted(1)
    return Split(tuple(images), captions)


def _without(split: Split, unusable: set[str]) -> Split:
    return Split(tuple(i for i in split.images if i not in unusable), split.captions)


def _extracted(
    order: Order, photos: Mapping[str, Photo], report: Report, share: Share
) -> tuple[FeatureStore, set[str]]:
    """Return a store with the whole images' features, and the images that can have none."""
    backbone, store = network_of(order)
    shards = plan(store, photos, shard_items=order.network.shard_items)
    if shards:
        share(shards)
        extract(
            store,
            Path(order.images),
            shards,
            backbone,
            threads=order.network.threads or available_cores(),
            progress=_counted(report, "extracting features", sum(one.items for one in shards)),
        )
    keys = [FeatureKey(photo.sha256, None) for photo in photos.values()]
    there = store.locate(keys) >= 0
    return store, {image for image, found in zip(photos, there, strict=True) if not found}


def _counted(report: Report, what: str, total: int) -> Callable[[int], None]:
    """Return what counts up to `total`; any thread may call it."""
    done = 0
    lock = threading.Lock()

    def add(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            report(what, done, total)

    return add
