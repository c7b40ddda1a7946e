"""The statistics of a release as plain text, the paper's numbers beside them."""

from collections.abc import Sequence

from annotation.pipeline.release.statistics import DatasetStatistics, TypeStatistics, WordCoverage

# Plummer et al. 2015, section 2.4 and Table 1: all 31,783 images.
PAPER_TOTALS = {
    "images": 31783,
    "captions": 158915,
    "mentions": 513645,
    "chains": 244034,
    "boxes": 275775,
}
PAPER_TYPES = {  # chains, mentions per chain, boxes per chain, share of images that mention it
    "people": (59766, 3.17, 1.95, 94.2),
    "clothing": (42380, 1.76, 1.44, 69.9),
    "bodyparts": (12809, 1.50, 1.42, 28.0),
    "animals": (5086, 3.63, 1.44, 12.0),
    "vehicles": (5561, 2.77, 1.21, 13.8),
    "instruments": (1827, 2.85, 1.61, 4.3),
    "scene": (46919, 2.03, 0.62, 79.7),
    "other": (82098, 1.94, 1.04, 91.8),
}
PAPER_TOTAL_ROW = (244034, 2.25, 1.27)

Row = tuple[str, ...]


def report(statistics: DatasetStatistics) -> str:
    """Return the whole report, ready to print."""
    parts = [_totals(statistics), _table_1(statistics), _images(statistics)]
    parts += [_figure_2(statistics), _chart_a(statistics), _chart_b(statistics)]
    parts += [
        _coverage("Chart C. Nouns (heads of mentions) with boxes", statistics.nouns),
        _coverage("Chart D. Adjectives (words before the head) with boxes", statistics.adjectives),
        _flags(statistics),
    ]
    return "\n\n".join(parts) + "\n"


def _totals(s: DatasetStatistics) -> str:
    paper = PAPER_TOTALS
    rows: list[Row] = [("", "release", "paper")]
    for name in ("images", "captions", "mentions"):
        rows.append((name, _count(getattr(s, name)), _count(paper[name])))
    rows += [
        ("  per caption", _mean(s.mentions, s.captions), "3.2"),
        ("  words per mention", _mean(s.mention_words, s.mentions), "2.35"),
        ("chains", _count(s.chains), _count(paper["chains"])),
        ("  per image", _mean(s.chains, s.images), "7.7"),
        ("  with several mentions", _share(s.chains_with_several_mentions, s.chains), "48.6%"),
        ("  with one box", _share(s.chains_with_one_box, s.chains), "59.1%"),
        ("  with several boxes", _share(s.chains_with_several_boxes, s.chains), "20.0%"),
        ("  with no box", _share(s.chains_without_box, s.chains), "20.9%"),
        ("boxes", _count(s.boxes), _count(paper["boxes"])),
        ("  per image", _mean(s.boxes, s.images), "8.7"),
    ]
    return "Totals\n" + _aligned(rows)


def _table_1(s: DatasetStatistics) -> str:
    rows: list[Row] = [
        ("type", "chains", "paper", "mentions/chain", "paper", "boxes/chain", "paper")
    ]
    for t in s.types:
        chains, mentions, boxes, _ = PAPER_TYPES[t.type]
        rows.append(_table_1_row(t.type, t.chains, t, (chains, mentions, boxes)))
    total = TypeStatistics(
        type="total",
        chains=sum(t.chains for t in s.types),
        mentions=sum(t.mentions for t in s.types),
        boxes=sum(t.boxes for t in s.types),
    )
    rows.append(_table_1_row("total", s.chains, total, PAPER_TOTAL_ROW))
    return "Table 1. Chains by type\n" + _aligned(rows)


def _table_1_row(
    name: str, chains: int, counts: TypeStatistics, paper: tuple[int, float, float]
) -> Row:
    return (
        name,
        _count(chains),
        _count(paper[0]),
        _mean(counts.mentions, counts.chains),
        f"{paper[1]:.2f}",
        _mean(counts.boxes, counts.chains),
        f"{paper[2]:.2f}",
    )


def _images(s: DatasetStatistics) -> str:
    rows: list[Row] = [("type", "images", "share", "paper")]
    for t in s.types:
        paper = f"{PAPER_TYPES[t.type][3]:.1f}%"
        rows.append((t.type, _count(t.images), _share(t.images, s.images), paper))
    return "Images that mention a type\n" + _aligned(rows)


def _figure_2(s: DatasetStatistics) -> str:
    rows: list[Row] = [
        ("type", "chains", "mentions", "boxes", "paper (from Table 1)", "distinct boxes")
    ]
    for t in s.types:
        chains, mentions, boxes, _ = PAPER_TYPES[t.type]
        paper = " / ".join(_thousands(n) for n in (chains, chains * mentions, chains * boxes))
        counts = (_count(t.chains), _count(t.mentions), _count(t.boxes))
        rows.append((t.type, *counts, paper, _count(t.distinct_boxes)))
    return "Figure 2. Chains, mentions and boxes by type\n" + _aligned(rows)


def _chart_a(s: DatasetStatistics) -> str:
    rows: list[Row] = [("type", "boxes/chain", "no box", "one box", "several")]
    for t in s.types:
        rows.append(
            (
                t.type,
                _mean(t.boxes, t.chains),
                _share(t.chains_without_box, t.chains),
                _share(t.chains_with_one_box, t.chains),
                _share(t.chains_with_several_boxes, t.chains),
            )
        )
    return "Chart A. Boxes per chain by type\n" + _aligned(rows)


def _chart_b(s: DatasetStatistics) -> str:
    rows: list[Row] = [("type", "annotations", "boxes", "no-box marks")]
    for t in s.types:
        counts = (t.annotations, t.boxes, t.unboxed)
        rows.append((t.type, *(_mean(n, s.images) for n in counts)))
    return "Chart B. Annotations per image by type, without coreference links\n" + _aligned(rows)


def _coverage(title: str, words: WordCoverage) -> str:
    rows: list[Row] = [("", "words", "with a box", "occurrences", "with a box", "of all")]
    for top in words.top:
        rows.append(
            (
                "most frequent",
                _count(top.words),
                "",
                _count(top.occurrences),
                _share(top.boxed_occurrences, top.occurrences),
                _share(top.occurrences, words.occurrences),
            )
        )
    rows.append(
        (
            "all",
            _count(words.words),
            _share(words.boxed_words, words.words),
            _count(words.occurrences),
            _share(words.boxed_occurrences, words.occurrences),
            _share(words.occurrences, words.occurrences),
        )
    )
    return f"{title}\n" + _aligned(rows)


def _flags(s: DatasetStatistics) -> str:
    rows: list[Row] = [
        ("chains marked scene", _count(s.scene_only)),
        ("chains marked no box", _count(s.nobox_only)),
        ("chains marked both", _count(s.scene_and_nobox)),
        ("chains marked neither", _count(s.neither_flag)),
        ("chains without a mention", _count(s.chains_without_mention)),
        ("chains without an object", _count(s.chains_without_object)),
        ("chains of several types", _count(s.chains_of_several_types)),
        ("mentions of several types", _count(s.mentions_of_several_types)),
        ("boxes of several chains", _count(s.boxes_of_several_chains)),
        ("notvisual phrases", _count(s.notvisual_phrases)),
        ("unrelated captions", _count(s.unrelated_captions)),
    ]
    return "Further counts of the release\n" + _aligned(rows)


def _aligned(rows: Sequence[Row]) -> str:
    """Set the first column left and the others right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        lines.append("  ".join(["  " + first.ljust(widths[0]), *cells]).rstrip())
    return "\n".join(lines)


def _count(number: int) -> str:
    return f"{number:,}"


def _thousands(number: float) -> str:
    return f"{number / 1000:.0f}k"


def _mean(total: int, number: int) -> str:
    return f"{total / number:.2f}" if number else "-"


def _share(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else "-"
