"""An experiment from its order to its figures, for the command line and for workers."""

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
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.progress import Report, silent
from grounding.pipeline.store.extraction import available_cores, extract, open_store
from grounding.pipeline.store.features import FeatureKey, FeatureStore
from grounding.pipeline.store.plans import SHARD_ITEMS, Regions, Shard, plan
from grounding.pipeline.text.features import vocabulary_of
from grounding.pipeline.text.word_vectors import Tokens
from grounding.pipeline.text.word_vectors_sources import load_word_vectors
from grounding.pipeline.vision.backbones import Backbone, load_backbone
from grounding.pipeline.vision.photos import Photo, find_photos
from grounding.recipes.recipe import Corpus, Materials, Metrics, Table
from grounding.recipes.registry import recipe_find
from grounding.stages import EXTRACTING, LOOKING, READING

# Images or regions in a part of the pass over the training pairs.
PART_ITEMS = 4000


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
    """Which recipe to run on what, with which settings. Can be sent as JSON."""

    recipe: str
    release: str
    images: str
    store: str
    vectors: str
    settings: dict[str, Any] = {}
    network: Network = Network()
    part_items: int = PART_ITEMS


class Figures(NamedTuple):
    """What an experiment found. `files` are the JSON files to write, by name.

    `result` is what the recipe returns for callers in Python.
    """

    metrics: Metrics
    tables: Sequence[Table]
    notes: Sequence[str]
    files: Mapping[str, Any]
    result: Any


# Called with the shards that the store lacks before we extract them, so that others can help.
Share = Callable[[Sequence[Shard]], None]


def run_order(
    order: Order,
    *,
    report: Report = silent,
    share: Share = lambda shards: None,
    share_pass: SharePass | None = None,
) -> Figures:
    """Extract the features that the store lacks, and run the recipe on them."""
    recipe = recipe_find(order.recipe)
    settings = recipe.read_settings(order.settings)
    release, images = Path(order.release), Path(order.images)
    threads = order.network.threads or available_cores()
    ids = _splits(release)
    everything = [image for some in ids.values() for image in some]
    photos, missing = find_photos(
        Path(order.store),
        images,
        everything,
        threads=threads,
        progress=_counted(report, LOOKING, len(everything)),
    )
    for name in ("train", "val"):
        if not any(image in photos for image in ids[name]):
            raise GroundingError(
                f"{images}: no image of {name}.txt has a photo here; name each photo by the id of "
                "its image, as in 36979.jpg"
            )
    captions = _captions(release, [image for image in everything if image in photos], report)
    # Before hours of extraction, so that a mistyped file name is reported at once.
    vectors = load_word_vectors(
        order.vectors,
        vocabulary_of(text for some in captions.values() for text in some),
        [text for image in ids["train"] for text in captions.get(image, ())],
        seed=settings.seed,
        report=report,
    )
    corpus = Corpus(release, images, Path(order.store), photos, threads)
    store, unusable = _extracted(order, photos, recipe.regions(corpus, settings), report, share)
    splits = {
        name: tuple(image for image in some if image in photos and image not in unusable)
        for name, some in ids.items()
    }
    outcome = recipe.run(
        Materials(
            corpus=corpus,
            splits=splits,
            captions=captions,
            vectors=vectors,
            store=store,
            # mps has no float64, which the decompositions need.
            device="cpu" if order.network.device == "mps" else order.network.device,
            part_items=order.part_items,
            report=report,
            shared=partial(shared_pass, store, share_pass),
        ),
        settings,
    )
    left_out = len(missing) + len(unusable)
    about = {
        "recipe": order.recipe,
        "vectors": order.vectors,
        "features": store.kind.folder,
        "settings": msgspec.to_builtins(settings),
        "images": {name: len(some) for name, some in splits.items()},
        "images_left_out": left_out,
        **outcome.about,
    }
    notes = [*outcome.notes]
    if left_out:
        notes.append(f"{left_out:,} images were left out because they have no usable photo.")
    files = {"metrics": outcome.metrics, **outcome.files, "settings": about}
    return Figures(outcome.metrics, outcome.tables, notes, files, outcome.result)


def write_figures(out: Path, figures: Figures) -> None:
    """Write the JSON files of an experiment into a folder."""
    try:
        make_folder(out)
        for name, content in figures.files.items():
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


def _captions(release: Path, images: Sequence[str], report: Report) -> dict[str, list[Tokens]]:
    counted = _counted(report, READING, len(images))
    captions: dict[str, list[Tokens]] = {}
    for image in images:
        captions[image] = [sentence.tokens for sentence in read_sentences(release, image)]
        counted(1)
    return captions


def _extracted(
    order: Order, photos: Mapping[str, Photo], regions: Regions, report: Report, share: Share
) -> tuple[FeatureStore, set[str]]:
    """Return a store with all features, and the images that cannot have any."""
    backbone, store = network_of(order)
    shards = plan(store, photos, regions, shard_items=order.network.shard_items)
    if shards:
        share(shards)
        extract(
            store,
            Path(order.images),
            shards,
            backbone,
            threads=order.network.threads or available_cores(),
            progress=_counted(report, EXTRACTING, sum(one.items for one in shards)),
        )
    keys = [FeatureKey(photo.sha256, None) for photo in photos.values()]
    there = store.locate(keys) >= 0
    return store, {image for image, found in zip(photos, there, strict=True) if not found}


def _counted(report: Report, what: str, total: int) -> Callable[[int], None]:
    """Return a function that counts up to `total`; any thread may call it."""
    done = 0
    lock = threading.Lock()

    def add(count: int) -> None:
        nonlocal done
        with lock:
            done += count
            report(what, done, total)

    return add
