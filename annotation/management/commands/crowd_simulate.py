"""manage.py crowd_simulate: a seeded crowd works on a campaign that has an answer key."""

import argparse
import sys
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.people import workers_simulated
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.progress import Progress
from annotation.models import Image
from annotation.simulation.crowd import PERFECT, TYPICAL, Crowd
from annotation.simulation.run import campaign_report, campaign_simulate

# Nobody may vote twice in a tally, so a handful of workers would leave questions unanswered.
FEWEST_WORKERS = 4


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


class Command(DatabaseCommand):
    help = (
        "Let simulated workers answer a campaign's open questions from its answer key (imported "
        "with --gold), erring as often as the paper's workers did. Prints judgments per stage "
        "and quality against gold. The same seed gives the same result; a run that was stopped "
        "goes on where it was."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--perfect", action="store_true", help="workers who never err")
        parser.add_argument("--seed", type=int, default=0, metavar="N", help="default 0")
        parser.add_argument("--workers", type=positive, default=30, metavar="N", help="default 30")
        parser.add_argument(
            "--limit", type=positive, metavar="JUDGMENTS", help="stop after that many judgments"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        images = Image.objects.filter(campaign=campaign).exclude(answer_key=None).count()
        if not images:
            raise CommandError(
                f"Campaign {campaign.name!r} has no answer key to answer from: "
                "import its corpus with --gold."
            )
        if options["workers"] < FEWEST_WORKERS:
            raise CommandError(
                f"--workers: at least {FEWEST_WORKERS} are needed, since nobody may vote twice "
                "on one thing."
            )
        crowd = Crowd(
            workers_simulated(count=options["workers"]),
            PERFECT if options["perfect"] else TYPICAL,
            options["seed"],
        )
        progress = Progress(sys.stderr, what="images worked on", total=images)
        run = campaign_simulate(
            campaign=campaign, crowd=crowd, limit=options["limit"], done=progress.step
        )
        progress.finish()
        self.stdout.write(f"{run.judgments:,} judgments recorded now; in all:\n")
        self.stdout.write(campaign_report(campaign).render(), ending="")
        if run.starved:
            self.stdout.write(f"{run.starved:,} questions that none of these workers may answer")
