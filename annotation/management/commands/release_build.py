"""manage.py release_build: write a campaign's finished images as a dataset."""

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.release.releases import NOT_INCLUDED, ReleaseBuildError, release_build
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.progress import Progress
from annotation.pipeline.release.writers.registry import DEFAULT, FORMATS
from common.files.trouble import error_words


class Command(DatabaseCommand):
    help = (
        "Merge a campaign's finished images and write them as a release. Images that are not "
        "finished are listed in the file NOT_INCLUDED. The same states always give the same bytes."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument(
            "--out", required=True, type=Path, metavar="DIR", help="a new or empty folder"
        )
        described = "; ".join(f"{name}: {one.words}" for name, one in FORMATS.items())
        parser.add_argument(
            "--format", choices=list(FORMATS), default=DEFAULT, help=f"{described} (default)"
        )
        parser.add_argument(
            "--photos",
            action="store_true",
            help="copy the photos into DIR/photos, where experiments look for them",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        progress = Progress(sys.stderr, what="images written")
        try:
            built = release_build(
                campaign=campaign,
                out=options["out"],
                format=options["format"],
                photos=options["photos"],
                done=progress.step,
            )
        except ReleaseBuildError as error:
            raise CommandError(f"{error}.") from error
        except OSError as error:
            raise CommandError(f"No release was written. {error_words(error)}") from error
        finally:
            progress.finish()
        self.stdout.write(f"{built.images:,} images written to {options['out']}")
        if built.not_included:
            statuses = Counter(status for _, status in built.not_included)
            words = ", ".join(f"{number:,} {status}" for status, number in statuses.most_common())
            self.stdout.write(
                f"{len(built.not_included):,} not included ({words}): see {NOT_INCLUDED}"
            )
