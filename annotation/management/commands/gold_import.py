"""manage.py gold_import: import gold questions from a file, or make them from a release."""

import argparse
import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.gold.files import Imported, gold_import, gold_import_release
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.gold import add_limits, add_stages, summary
from annotation.management.progress import Progress
from annotation.models import Campaign
from annotation.pipeline.corpus.importers import CorpusError, read_corpus
from annotation.pipeline.gold.files import read_gold
from annotation.pipeline.protocol.questions import Stage

MOST = 500


class Command(DatabaseCommand):
    help = (
        "Import gold questions from a file with one question per line, as JSON or CSV, or make "
        "them from a release folder (Sentences, Annotations) with images of the campaign. "
        "If anything is wrong, nothing is imported, unless --skip-bad leaves it out. "
        "Importing again changes nothing. See docs/trust.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="a file, or a release folder")
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--skip-bad", action="store_true", help="leave bad entries out")
        parser.add_argument("--dry-run", action="store_true", help="check only, import nothing")
        # These apply to questions made from a release folder.
        add_stages(parser)
        add_limits(parser, MOST)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        try:
            imported = self._import(campaign, options)
        except CorpusError as error:
            raise CommandError(str(error)) from error
        for problem in imported.problems:
            self.stderr.write(str(problem))
        bad = imported.bad
        if bad > len(imported.problems):
            self.stderr.write(f"… and {bad - len(imported.problems):,} more")
        if bad and not options["skip_bad"]:
            raise CommandError(
                f"{bad:,} problems, nothing was imported. Fix them, or leave the bad entries "
                "out with --skip-bad."
            )
        if options["dry_run"]:
            self.stdout.write(
                f"{imported.added:,} gold questions could be added; nothing was "
                "imported (--dry-run)."
            )
            return
        self.stdout.write(f"{imported.added:,} gold questions added.")
        if imported.known:
            self.stdout.write(f"{imported.known:,} already existed.")
        if bad:
            self.stdout.write(f"{bad:,} bad entries left out.")
        self.stdout.write(summary(campaign))

    def _import(self, campaign: Campaign, options: dict[str, Any]) -> Imported:
        path: Path = options["path"]
        how = {"skip_bad": options["skip_bad"], "dry_run": options["dry_run"]}
        if not path.is_dir():
            return gold_import(campaign=campaign, lines=read_gold(path), **how)
        progress = Progress(sys.stderr, what="images looked at")
        imported = gold_import_release(
            campaign=campaign,
            images=read_corpus(path, "entities", with_annotation=True),
            stages=[Stage(name) for name in options["stages"]],
            most_per_answer=options["most"],
            per_image=options["per_image"],
            done=progress.step,
            **how,
        )
        progress.finish()
        return imported
