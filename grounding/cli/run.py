"""`python -m grounding run RECIPE`: an experiment, from a release to its figures."""

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from annotation.pipeline.release import read_sentences, read_splits
from grounding.cli.progress import Progress
from grounding.pipeline.arrays import Float32
from grounding.pipeline.errors import GroundingError
from grounding.pipeline.photos import Photo, find_photos
from grounding.pipeline.store import DTYPES, FeatureKey, FeatureStore

if TYPE_CHECKING:
    from grounding.recipes.image_sentence import Result, Scores, Split

HELP = "run an experiment and print its figures"
DESCRIPTION = """\
Runs a recipe on a release and its photos: fits on train, chooses ridges and power on val, and
prints recall and median rank both ways for val and, where the release has it, test. Features that
the store lacks are extracted first. Splits are the files train.txt, val.txt and test.txt of the
release; images without a photo are left out, and their number is told.

  python -m grounding run image_sentence --release flickr30k_entities --images photos \\
      --store features --vectors GoogleNews-vectors-negative300.bin --out results

In the folder of --out: metrics.json (the table), intervals.json (95%, by bootstrap over images, and
what chance would give), settings.json (what was chosen, and all that was tried).
"""
RECIPES = ("image_sentence",)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("recipe", choices=RECIPES, help="the experiment")
    folders = parser.add_argument_group("folders")
    folders.add_argument("--release", type=Path, required=True, help="the release directory")
    folders.add_argument("--images", type=Path, required=True, help="the folder of its photos")
    folders.add_argument("--store", type=Path, required=True, help="where features are kept")
    folders.add_argument("--out", type=Path, required=True, help="where the figures are written")
    text = parser.add_argument_group("text")
    text.add_argument(
        "--vectors",
        required=True,
        help="word vectors: a file of word2vec, GloVe or fastText; package:NAME for those of an "
        "installed package; or captions, to train them on the captions",
    )
    text.add_argument(
        "--pooling",
        choices=("fisher", "mean"),
        default="fisher",
        help="Fisher vectors (the default) or means of the words' vectors",
    )
    text.add_argument(
        "--centres", type=_count, default=30, metavar="N", help="of the Fisher vectors (30)"
    )
    space = parser.add_argument_group("space")
    space.add_argument(
        "--ridges",
        type=_numbers,
        default=(0.01, 0.1, 1.0, 10.0, 100.0),
        metavar="R,R,…",
        help="ridges to try for each side, relative to its mean variance (0.01,0.1,1,10,100)",
    )
    space.add_argument(
        "--powers",
        type=_numbers,
        default=(0.0, 0.5, 1.0, 1.5, 2.0, 3.0),
        metavar="P,P,…",
        help="powers of the canonical correlations to try (0,0.5,1,1.5,2,3)",
    )
    space.add_argument(
        "--components", type=_count, default=512, metavar="N", help="dimensions of the space (512)"
    )
    space.add_argument("--seed", type=int, default=0, metavar="N", help="of all that is random (0)")
    network = parser.add_argument_group("network, as of extract")
    network.add_argument("--backbone", default="efficientnet-lite0")
    network.add_argument("--weights", type=Path)
    network.add_argument("--device", help="cuda, mps or cpu")
    network.add_argument("--crops", choices=("ten", "centre", "whole"), default="ten")
    network.add_argument("--dtype", choices=DTYPES, default="float16")
    network.add_argument("--threads", type=_count, metavar="N", help="cores (all that are there)")


def run(options: argparse.Namespace) -> int:
    # torch and scipy take seconds to import, which --help should not.
    from grounding.pipeline.text_features import vocabulary_of
    from grounding.pipeline.word_vectors import load_word_vectors
    from grounding.recipes import image_sentence

    ids = _splits(options.release)
    photos, missing = _photos(options, [image for images in ids.values() for image in images])
    splits = {
        name: _split(options.release, name, [image for image in images if image in photos])
        for name, images in ids.items()
    }
    for name in ("train", "val"):
        if not splits[name].images:
            raise GroundingError(
                f"{options.images}: no image of {name}.txt has a photo here; photos are named by "
                "the image's id, as in 36979.jpg"
            )
    texts = {name: split.texts(split.images) for name, split in splits.items()}
    # Before hours of extraction: a mistyped file name should be told at once.
    with _Stages() as stages:
        vectors = load_word_vectors(
            options.vectors,
            vocabulary_of(text for some in texts.values() for text in some),
            texts["train"],
            seed=options.seed,
            report=stages.report,
        )
    store, unusable = _extracted(options, photos)
    splits = {name: _without(split, unusable) for name, split in splits.items()}
    settings = image_sentence.Settings(
        pooling=options.pooling,
        centres=options.centres,
        ridges=options.ridges,
        powers=options.powers,
        components=options.components,
        seed=options.seed,
    )

    def features(images: Sequence[str]) -> Float32:
        return store.read([FeatureKey(photos[image].sha256, None) for image in images])

    with _Stages() as stages:
        result = image_sentence.run(
            splits["train"],
            splits["val"],
            splits.get("test"),
            features,
            vectors,
            settings,
            report=stages.report,
            # mps has no float64, which the decompositions need.
            device="cpu" if options.device == "mps" else options.device,
        )
    left_out = len(missing) + len(unusable)
    about = {
        "recipe": options.recipe,
        "vectors": options.vectors,
        "features": store.kind.folder,
        "settings": msgspec.to_builtins(settings),
        "chosen": msgspec.to_builtins(result.chosen),
        "tried": msgspec.to_builtins(result.tried),
        "images": {name: len(split.images) for name, split in splits.items()},
        "images_left_out": left_out,
        "words": msgspec.to_builtins(result.coverage),
    }
    _write(options.out, result, about)
    _tell(result, options, left_out)
    return 0


def _splits(release: Path) -> dict[str, tuple[str, ...]]:
    splits = read_splits(release)
    for name in ("train", "val"):
        if not splits.get(name):
            raise GroundingError(
                f"{release}: it has no images in {name}.txt, and the experiment needs train and "
                "val; write one image id a line"
            )
    return splits


def _split(release: Path, name: str, images: Sequence[str]) -> "Split":
    from grounding.recipes.image_sentence import Split

    captions = {}
    with Progress(f"reading captions of {name}", "images", len(images)) as progress:
        for image in images:
            captions[image] = [sentence.tokens for sentence in read_sentences(release, image)]
            progress.add(1)
    return Split(tuple(images), captions)


def _without(split: "Split", unusable: set[str]) -> "Split":
    from grounding.recipes.image_sentence import Split

    return Split(tuple(i for i in split.images if i not in unusable), split.captions)


def _photos(
    options: argparse.Namespace, images: Sequence[str]
) -> tuple[dict[str, Photo], dict[str, str]]:
    from grounding.pipeline.extraction import available_cores

    with Progress("looking at photos", "photos", len(images)) as progress:
        return find_photos(
            options.store,
            options.images,
            images,
            threads=options.threads or available_cores(),
            progress=progress.add,
        )


def _extracted(
    options: argparse.Namespace, photos: dict[str, Photo]
) -> tuple[FeatureStore, set[str]]:
    """Return a store with the whole images' features, and the images that can have none."""
    from grounding.pipeline.backbones import load_backbone
    from grounding.pipeline.extraction import available_cores, extract, open_store
    from grounding.pipeline.plans import plan

    backbone = load_backbone(options.backbone, options.weights, options.device)
    store = open_store(options.store, backbone, options.crops, options.dtype)
    shards = plan(store, photos)
    with Progress("extracting", "images", sum(shard.items for shard in shards)) as progress:
        extract(
            store,
            options.images,
            shards,
            backbone,
            threads=options.threads or available_cores(),
            progress=progress.add,
        )
    keys = [FeatureKey(photo.sha256, None) for photo in photos.values()]
    there = store.locate(keys) >= 0
    return store, {image for image, found in zip(photos, there, strict=True) if not found}


class _Stages:
    """Shows each stage of a recipe as a job of its own."""

    def __init__(self) -> None:
        self._what = ""
        self._done = 0
        self._progress: Progress | None = None

    def __enter__(self) -> "_Stages":
        return self

    def __exit__(self, *error: object) -> None:
        self._end()

    def report(self, what: str, done: int, total: int) -> None:
        if what != self._what:
            self._end()
            self._what, self._done = what, 0
            self._progress = Progress(what, "done", total)
        assert self._progress is not None
        self._progress.add(done - self._done)
        self._done = done

    def _end(self) -> None:
        if self._progress is not None:
            self._progress.__exit__(None, None, None)


def _write(out: Path, result: "Result", about: dict[str, Any]) -> None:
    scores = {"val": result.val, "test": result.test}
    ways = ("image_to_sentence", "sentence_to_image")
    metrics = {
        name: split and {way: msgspec.to_builtins(getattr(split, way)) for way in ways}
        for name, split in scores.items()
    }
    intervals = {
        name: split
        and {
            way: {
                "interval": msgspec.to_builtins(getattr(split, f"{way}_intervals")),
                "chance": msgspec.to_builtins(getattr(split, f"{way}_chance")),
            }
            for way in ways
        }
        for name, split in scores.items()
    }
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name, content in (("metrics", metrics), ("intervals", intervals), ("settings", about)):
            text = json.dumps(content, indent=2, ensure_ascii=False)
            (out / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        raise GroundingError(f"{out}: cannot be written to: {error.strerror}") from error


def _tell(result: "Result", options: argparse.Namespace, left_out: int) -> None:
    chosen, words = result.chosen, result.coverage
    print(f"{'':<14}{'image → sentence':^30}  {'sentence → image':^30}")
    heading = "".join(f"{name:>7}" for name in ("R@1", "R@5", "R@10")) + f"{'median':>9}"
    print(f"{'':<14}{heading}  {heading}")
    for name, scores in (("val", result.val), ("test", result.test)):
        if scores is None:
            print(f"{name:<14}the release has no image for it")
            continue
        for line in _lines(name, scores):
            print(line)
    print()
    print(
        f"Chosen on val: ridge {chosen.ridge_x:g} of images, {chosen.ridge_y:g} of captions, "
        f"power {chosen.power:g}."
    )
    ends = {min(options.ridges), max(options.ridges)}
    if len(ends) > 1 and ends & {chosen.ridge_x, chosen.ridge_y}:
        print("A ridge is the smallest or the largest that was tried: --ridges may go further.")
    print(
        f"Words without a vector: {100 * words.missing_share:.2f}% of the training captions' words"
        + (
            " (" + ", ".join(word for word, _ in words.most_frequent_missing[:5]) + ")"
            if words.missing
            else ""
        )
    )
    if left_out:
        print(f"Left out, without a usable photo: {left_out:,} images")
    print(f"Written to {options.out}: metrics.json, intervals.json, settings.json")


def _lines(name: str, scores: "Scores") -> list[str]:
    """Return three lines: the figures, their intervals, and chance."""

    def cells(one: Any) -> str:
        return f"{one.r1:7.1f}{one.r5:7.1f}{one.r10:7.1f}{one.median_rank:9.1f}"

    def spread(intervals: dict[str, Any]) -> str:
        halves = [(intervals[key].high - intervals[key].low) / 2 for key in ("r1", "r5", "r10")]
        median = intervals["median_rank"]
        return "".join(f"{f'±{half:.1f}':>7}" for half in halves) + (
            f"{f'{median.low:g}–{median.high:g}':>9}"
        )

    return [
        f"{name:<14}{cells(scores.image_to_sentence)}  {cells(scores.sentence_to_image)}",
        f"{'  95%':<14}{spread(scores.image_to_sentence_intervals)}  "
        f"{spread(scores.sentence_to_image_intervals)}",
        f"{'  by chance':<14}{cells(scores.image_to_sentence_chance)}  "
        f"{cells(scores.sentence_to_image_chance)}",
    ]


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number


def _numbers(text: str) -> tuple[float, ...]:
    numbers = tuple(float(part) for part in text.split(","))
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        raise argparse.ArgumentTypeError(f"{text} are not all 0 or more")
    return numbers
