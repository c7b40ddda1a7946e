"""Code that the commands about gold questions share."""

import argparse
from collections.abc import Mapping

from annotation.models import Campaign
from annotation.pipeline.gold.gold_question import launch_problems
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES, spec_of
from annotation.selectors.gold.gold_questions import gold_available


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def add_stages(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--stages",
        nargs="+",
        choices=[stage.value for stage in GOLD_STAGES],
        default=[stage.value for stage in GOLD_STAGES],
        metavar="STAGE",
        help="default: all stages that have gold questions",
    )


def add_limits(parser: argparse.ArgumentParser, most: int) -> None:
    parser.add_argument(
        "--most",
        type=positive,
        default=most,
        metavar="N",
        help=f"stop when each answer has N questions in use (default {most})",
    )
    parser.add_argument(
        "--per-image",
        type=positive,
        default=2,
        metavar="N",
        help="at most N with the same answer from one image (default 2)",
    )


def counts_table(counts: Mapping[Stage, Mapping[str, int]]) -> str:
    """Return one line per stage: `links yes 60 no 58`."""
    return "\n".join(
        f"  {stage.value:<14}"
        + "   ".join(
            f"{answer} {counts.get(stage, {}).get(answer, 0):,}"
            for answer in spec_of(stage).answers
        )
        for stage in GOLD_STAGES
    )


def summary(campaign: Campaign) -> str:
    """Return how many there are, and how many a launch still needs."""
    available = gold_available(campaign)
    problems = launch_problems(available, campaign.settings)
    lines = ["Gold questions in use, on images with a photo:", counts_table(available)]
    lines += [f"Too few for a launch: {problem}." for problem in problems]
    return "\n".join(lines)
