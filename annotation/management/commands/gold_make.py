"""manage.py gold_make: make gold questions from the sure chains of a campaign."""

import argparse
import sys
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.gold.gold_questions import gold_make
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.gold import add_limits, add_stages, positive, summary
from annotation.management.progress import Progress
from annotation.models import AnswerKey
from annotation.pipeline.protocol.questions import Stage

# Enough for the busiest worker: at 2%, these last for ten thousand questions with two answers or
# more.
MOST = 500


class Command(DatabaseCommand):
    help = (
        "Make gold questions from chains that are sure: from an accepted import, settled by a "
        "reviewer, or unanimous. Images are drawn at random. Running it again adds only questions "
        "that have become sure since, and replaces retired ones. See docs/trust.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument(
            "--from-answer-key",
            action="store_true",
            help="make them from the answer key imported with corpus_import --gold",
        )
        parser.add_argument(
            "--images", type=positive, metavar="N", help="from at most N images (default: all)"
        )
        add_stages(parser)
        add_limits(parser, MOST)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        keys = AnswerKey.objects.filter(image__campaign=campaign)
        if options["from_answer_key"] and not keys.exists():
            raise CommandError(
                f"Campaign {campaign.name!r} has no answer key: import its corpus with --gold."
            )
        progress = Progress(sys.stderr, what="images looked at")
        made = gold_make(
            campaign=campaign,
            stages=[Stage(name) for name in options["stages"]],
            most_per_answer=options["most"],
            per_image=options["per_image"],
            most_images=options["images"],
            from_answer_key=options["from_answer_key"],
            done=progress.step,
        )
        progress.finish()
        added = sum(count for counts in made.values() for count in counts.values())
        self.stdout.write(f"{added:,} gold questions made.")
        self.stdout.write(summary(campaign))
