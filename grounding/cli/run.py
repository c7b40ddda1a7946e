"""`python -m grounding run RECIPE`: an experiment, from a release to its figures."""

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grounding.cli.progress import Progress
from grounding.pipeline.store.features import DTYPES

if TYPE_CHECKING:
    from grounding.recipes.image_sentence import Result, Scores

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
    from grounding.experiment import Network, Order, run_order, write_figures
    from grounding.recipes.image_sentence import Settings

    order = Order(
        recipe=options.recipe,
        release=str(options.release),
        images=str(options.images),
        store=str(options.store),
        vectors=options.vectors,
        settings=Settings(
            pooling=options.pooling,
            centres=options.centres,
            ridges=options.ridges,
            powers=options.powers,
            components=options.components,
            seed=options.seed,
        ),
        network=Network(
            backbone=options.backbone,
            weights=str(options.weights) if options.weights else None,
            device=options.device,
            crops=options.crops,
            dtype=options.dtype,
            threads=options.threads,
        ),
    )
    with _Stages() as stages:
        figures = run_order(order, report=stages.report)
    write_figures(options.out, figures)
    _tell(figures.result, options, figures.left_out)
    return 0


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
            f"{f'{median.low:.0f}–{median.high:.0f}':>9}"
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
