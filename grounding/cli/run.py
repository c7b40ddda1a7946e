"""`python -m grounding run RECIPE`: an experiment, from a release to its figures."""

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from grounding.cli.progress import Progress
from grounding.pipeline.store.features import DTYPES
from grounding.recipes.options import Option, options_of
from grounding.recipes.recipe import Recipe, Table
from grounding.recipes.registry import RECIPES

HELP = "run an experiment and print its figures"
DESCRIPTION = """\
Runs a recipe on a release and its photos. Features that the store lacks are extracted first. The
splits are the files train.txt, val.txt and test.txt of the release. Images without a photo are left
out, and their number is printed.

  python -m grounding run image_sentence --release flickr30k_entities --images photos \\
      --store features --vectors GoogleNews-vectors-negative300.bin --out results

The folder of --out gets metrics.json (the figures), settings.json (how they were made) and any
further files of the recipe. For the options of a recipe: python -m grounding run RECIPE --help
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    recipes = parser.add_subparsers(dest="recipe", required=True, metavar="RECIPE")
    for recipe in RECIPES.values():
        command = recipes.add_parser(recipe.name, help=recipe.title, description=recipe.summary)
        _add_inputs(command)
        settings = command.add_argument_group("settings of the recipe")
        for option in options_of(recipe.settings):
            _add_setting(settings, option)
        _add_network(command)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    folders = parser.add_argument_group("folders")
    folders.add_argument("--release", type=Path, required=True, help="the release directory")
    folders.add_argument("--images", type=Path, required=True, help="the folder of its photos")
    folders.add_argument("--store", type=Path, required=True, help="where features are kept")
    folders.add_argument("--out", type=Path, required=True, help="where the figures are written")
    parser.add_argument_group("text").add_argument(
        "--vectors",
        required=True,
        help="word vectors: a file of word2vec, GloVe or fastText; package:NAME for those of an "
        "installed package; or captions, to train them on the captions",
    )


def _add_setting(group: Any, option: Option) -> None:
    def value(text: str) -> Any:
        try:
            return option.parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    # argparse takes a % for a placeholder.
    words = f"{option.help} (default: {option.default_text})".replace("%", "%%")
    metavar = "{" + ",".join(option.choices) + "}" if option.choices else option.name.upper()
    group.add_argument(
        option.flag, type=value, default=option.default, metavar=metavar, help=words.strip()
    )


def _add_network(parser: argparse.ArgumentParser) -> None:
    network = parser.add_argument_group("network (see: python -m grounding extract --help)")
    network.add_argument("--backbone", default="efficientnet-lite0")
    network.add_argument("--weights", type=Path)
    network.add_argument("--device", help="cuda, mps or cpu")
    network.add_argument("--crops", choices=("ten", "centre", "whole"), default="ten")
    network.add_argument("--dtype", choices=DTYPES, default="float16")
    network.add_argument("--threads", type=_count, metavar="N", help="cores to use (default: all)")


def run(options: argparse.Namespace) -> int:
    # torch and scipy take seconds to import, which --help should not.
    from grounding.experiment import Network, Order, run_order, write_figures

    order = Order(
        recipe=options.recipe,
        release=str(options.release),
        images=str(options.images),
        store=str(options.store),
        vectors=options.vectors,
        settings=_settings(RECIPES[options.recipe], options),
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
    for table in figures.tables:
        print("\n".join(_lines(table)))
        print()
    for note in figures.notes:
        print(note)
    print(f"Written to {options.out}: {', '.join(f'{name}.json' for name in figures.files)}")
    return 0


def _settings(recipe: Recipe[Any], options: argparse.Namespace) -> dict[str, Any]:
    return {option.name: getattr(options, option.name) for option in options_of(recipe.settings)}


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


def _lines(table: Table) -> Iterator[str]:
    """Yield a table as lines of text: names to the left, figures to the right of their columns."""
    heads = len(table.row_headings)
    rows = [(*table.row_headings, *table.columns), *(row.names + row.cells for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    sides: list[Callable[[str, int], str]] = [str.ljust] * heads
    sides += [str.rjust] * len(table.columns)
    for row in rows:
        cells = (side(cell, width) for side, cell, width in zip(sides, row, widths, strict=True))
        yield "  ".join(cells).rstrip()
    if table.note:
        yield table.note


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return number
