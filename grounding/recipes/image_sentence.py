"""Image–sentence retrieval by CCA on whole images and captions: Table 3 (b) of the paper."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from grounding.recipes.cca_settings import CcaSettings
from grounding.recipes.recipe import Materials, Metrics, Outcome, Recipe, Row, Table

if TYPE_CHECKING:
    from grounding.pipeline.embedding.covariances import Covariances
    from grounding.pipeline.text.features import TextEncoder
    from grounding.recipes.retrieval import Result, Scores, Split

MEASURES = {"r1": "R@1", "r5": "R@5", "r10": "R@10", "median_rank": "median rank"}
WAYS = {"image_to_sentence": "image to sentence", "sentence_to_image": "sentence to image"}
NOTE = (
    "R@K is the percentage of queries whose best correct answer is among the first K. "
    "The median rank is the median of the ranks of these answers; 1 is best."
)
# If a random order reaches this R@10, in percent, the figures say little about the space.
HIGH_CHANCE = 50


def run(materials: Materials, settings: CcaSettings) -> Outcome:
    # torch and scipy take seconds to import.
    from grounding.pipeline.embedding.training_pass import Pairs
    from grounding.recipes import retrieval

    def split(name: str) -> "Split":
        return retrieval.Split(materials.splits.get(name, ()), materials.captions)

    def shared(parts: Sequence["Split"], encoder: "TextEncoder") -> "Iterator[Covariances | None]":
        pairs = [
            Pairs([materials.whole_image(image) for image in part.images], part.pairs().texts)
            for part in parts
        ]
        return materials.shared(pairs, encoder)

    result = retrieval.run(
        split("train"),
        split("val"),
        split("test"),
        materials.image_features,
        materials.vectors,
        settings,
        report=materials.report,
        device=materials.device,
        part_images=materials.part_items,
        shared=shared,
    )
    metrics = _by_way(result, lambda scores, way: getattr(scores, way))
    return Outcome(
        metrics=metrics,
        tables=_tables_with_intervals(metrics, result),
        notes=list(_notes(result, settings)),
        about={
            "chosen": msgspec.to_builtins(result.chosen),
            "tried": msgspec.to_builtins(result.tried),
            "words": msgspec.to_builtins(result.coverage),
        },
        files={
            "intervals": _by_way(
                result,
                lambda scores, way: {
                    "interval": getattr(scores, f"{way}_intervals"),
                    "chance": getattr(scores, f"{way}_chance"),
                },
            )
        },
        result=result,
    )


def tables(metrics: Metrics) -> list[Table]:
    """Return one table, with a row for each split and way."""
    rows = [
        Row((split, words), _cells(metrics[split][way]))
        for split in ("val", "test")
        for way, words in WAYS.items()
        if (metrics.get(split) or {}).get(way)
    ]
    return [_table(rows)] if rows else []


def headline(metrics: Metrics) -> str:
    """Return R@10 both ways, on test if the release has it."""
    split = "test" if metrics.get("test") else "val"
    figures = " · ".join(f"{words} {metrics[split][way]['r10']:.1f}" for way, words in WAYS.items())
    return f"R@10 on {split}: {figures}"


def _by_way(result: "Result", value: Any) -> Metrics:
    """Return a value for each split and way, as JSON; None for a split without images."""
    return {
        name: scores and {way: msgspec.to_builtins(value(scores, way)) for way in WAYS}
        for name, scores in _splits(result)
    }


def _splits(result: "Result") -> list[tuple[str, "Scores | None"]]:
    return [("val", result.val), ("test", result.test)]


def _tables_with_intervals(metrics: Metrics, result: "Result") -> list[Table]:
    rows = []
    for name, scores in _splits(result):
        for way, words in WAYS.items() if scores else ():
            rows.append(Row((name, words), _cells(metrics[name][way])))
            rows.append(Row(("", "  95% interval"), _spread(getattr(scores, f"{way}_intervals"))))
            chance = msgspec.to_builtins(getattr(scores, f"{way}_chance"))
            rows.append(Row(("", "  by chance"), _cells(chance)))
    return [_table(rows)]


def _table(rows: Sequence[Row]) -> Table:
    return Table("Result", ("Split", "Way"), tuple(MEASURES.values()), tuple(rows), NOTE)


def _cells(figures: dict[str, float]) -> tuple[str, ...]:
    return tuple(f"{figures[measure]:.1f}" for measure in MEASURES)


def _spread(intervals: Any) -> tuple[str, ...]:
    recalls = [intervals[name] for name in ("r1", "r5", "r10")]
    median = intervals["median_rank"]
    return (
        *(f"±{(one.high - one.low) / 2:.1f}" for one in recalls),
        f"{median.low:.0f}–{median.high:.0f}",
    )


def _notes(result: "Result", settings: CcaSettings) -> Iterator[str]:
    """Say how certain the figures are, and what they rest on."""
    for name, scores in _splits(result):
        if scores is None:
            yield f"The release has no images in the split {name}."
            continue
        there = scores.image_to_sentence_intervals["r10"]
        back = scores.sentence_to_image_intervals["r10"]
        yield (
            f"95% intervals of R@10 on {name}: image to sentence {there.low:.1f} to "
            f"{there.high:.1f} (by chance {scores.image_to_sentence_chance.r10:.1f}), sentence "
            f"to image {back.low:.1f} to {back.high:.1f} (by chance "
            f"{scores.sentence_to_image_chance.r10:.1f})."
        )
        if scores.sentence_to_image_chance.r10 >= HIGH_CHANCE:
            yield f"The split {name} has too few images for these figures to mean much."
    chosen = result.chosen
    yield (
        f"Chosen on val: ridge {chosen.ridge_x:g} for images, ridge {chosen.ridge_y:g} for "
        f"captions, power {chosen.power:g}."
    )
    ends = {min(settings.ridges), max(settings.ridges)}
    if len(ends) > 1 and ends & {chosen.ridge_x, chosen.ridge_y}:
        yield (
            "A chosen ridge is the smallest or the largest of those tried; try a wider range of "
            "ridges."
        )
    words = result.coverage
    missing = ", ".join(word for word, _ in words.most_frequent_missing[:5])
    yield (
        f"{100 * words.missing_share:.2f}% of the words in the training captions have no vector"
        + (f" ({missing})." if missing else ".")
    )


IMAGE_SENTENCE = Recipe(
    name="image_sentence",
    title="Image–sentence retrieval",
    summary=(
        "Learns a space for photos and captions by CCA, then measures how well photos retrieve "
        "their captions, and captions their photos: Table 3 (b) of the paper. It fits the space "
        "on train and chooses ridges and power on val."
    ),
    settings=CcaSettings,
    stages=("fitting the mixture of words", "gathering covariances", "trying ridges and powers"),
    run=run,
    tables=tables,
    headline=headline,
)
