"""An experiment from what was ordered to its figures, for the command line and for workers."""

import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from annotation.pipeline.release import read_sentences, read_splits
from grounding.pipeline.arrays import Float32
from grounding.pipeline.backbones import Backbone, load_backbone
from grounding.pipeline.claims import tidy_folders
from grounding.pipeline.covariances import Covariances
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.extraction import available_cores, extract, open_store
from grounding.pipeline.photos import Photo, find_photos
from grounding.pipeline.plans import SHARD_ITEMS, Shard, plan
from grounding.pipeline.reporting import Report, silent
from grounding.pipeline.store import FeatureKey, FeatureKind, FeatureStore, opened
from grounding.pipeline.text_features import TextEncoder, vocabulary_of
from grounding.pipeline.word_vectors import load_word_vectors
from grounding.recipes import image_sentence
from grounding.recipes.image_sentence import PART_IMAGES, Result, Settings, Split, gather_pairs

# Where the parts of a pass are, in the store's folder, and what captions are encoded by.
PASS, ENCODER = "pass-", "encoder.npz"
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


class PassPart(msgspec.Struct, frozen=True):
    """A part of the pass over the training pairs, for another worker. Can be sent as JSON.

    `images` are ids with the SHA-256 of the photo, by which its feature is found in the store of
    `kind`; `encoder` and `made` are files: what captions are encoded by, and where the part's
    covariances go.
    """

    release: str
    store: str
    kind: FeatureKind
    images: tuple[tuple[str, str], ...]
    encoder: str
    made: str


class Figures(NamedTuple):
    """What came of it; `about` says how, for settings.json."""

    result: Result
    about: dict[str, Any]
    left_out: int


# Told which shards the store lacks before we make them ourselves: others may help.
Share = Callable[[Sequence[Shard]], None]
# Told the parts of a pass, whose encoder is written; yields whether each is made, in their order.
SharePass = Callable[[Sequence[PassPart]], Iterator[bool]]
# A runner that has given no sign for so long waits no more. It gives one by touching the encoder.
SILENT_SECONDS = 600


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
        shared=partial(_shared, order, store.kind, photos, share_pass),
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


def _shared(
    order: Order,
    kind: FeatureKind,
    photos: Mapping[str, Photo],
    share_pass: SharePass | None,
    parts: Sequence[Split],
    encoder: TextEncoder,
) -> Iterator[Covariances | None]:
    """Yield the parts of a pass that others make; their files are only there on the way."""
    if share_pass is None or len(parts) < 2:
        yield from repeat(None)
        return
    root = Path(order.store)
    tidy_folders(root, PASS)
    # Somebody may still write into it when we are done with it: then it goes another day.
    with tempfile.TemporaryDirectory(prefix=PASS, dir=root, ignore_cleanup_errors=True) as folder:
        encoder.write(Path(folder) / ENCODER)
        wanted = [
            PassPart(
                release=order.release,
                store=order.store,
                kind=kind,
                images=tuple((image, photos[image].sha256) for image in part.images),
                encoder=str(Path(folder) / ENCODER),
                made=str(Path(folder) / f"{number}.npz"),
            )
            for number, part in enumerate(parts)
        ]
        for part, is_made in zip(wanted, share_pass(wanted), strict=True):
            yield Covariances.read(part.made) if is_made else None
            # One of them is a gigabyte at the paper's size.
            Path(part.made).unlink(missing_ok=True)


def part_gather(part: PassPart) -> None:
    """Make a part of a pass for whoever asked for it, unless it is there or nobody waits for it."""
    made = Path(part.made)
    if made.exists() or not is_awaited(part):
        return
    captions = {
        image: [sentence.tokens for sentence in read_sentences(Path(part.release), image)]
        for image, _ in part.images
    }
    hashes = dict(part.images)
    store = opened(Path(part.store), part.kind)
    found = gather_pairs(
        Split(tuple(hashes), captions),
        lambda images: store.read([FeatureKey(hashes[image], None) for image in images]),
        TextEncoder.read(part.encoder),
    )
    if is_awaited(part):
        found.write(made)


def is_awaited(part: PassPart) -> bool:
    """Tell whether somebody still waits for the part: its encoder is there and was touched."""
    try:
        return time.time() - Path(part.encoder).stat().st_mtime < SILENT_SECONDS
    except FileNotFoundError:
        return False


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
        out.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            text = json.dumps(content, indent=2, ensure_ascii=False)
            (out / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise GroundingError(f"{out}: cannot be written to: {error.strerror}") from error


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
