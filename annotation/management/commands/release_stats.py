"""manage.py release_stats DIR: show a release's statistics next to the paper's."""

import sys
from argparse import ArgumentParser
from typing import Any, TextIO

import msgspec
from django.core.management.base import BaseCommand, CommandError

from annotation.management.progress import with_progress
from annotation.pipeline.release.folder import ReleaseError, image_ids, read_image, read_unrelated
from annotation.pipeline.release.statistics import DatasetStatistics, dataset_statistics
from annotation.pipeline.release.statistics_report import report


def release_statistics(directory: str, *, progress: TextIO) -> DatasetStatistics:
    """Count the release in `directory`."""
    images = image_ids(directory)
    return dataset_statistics(
        with_progress(
            (read_image(directory, image) for image in images),
            what="images read",
            total=len(images),
            stream=progress,
        ),
        unrelated=read_unrelated(directory),
    )


class Command(BaseCommand):
    help = "Print the statistics of a release beside the paper's."
    # A release consists of files only, so this command works without a database.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "directory", metavar="DIR", help="a folder with Sentences/ and Annotations/"
        )
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            # Django's own stderr ends every write with a newline, so it cannot replace a line.
            statistics = release_statistics(options["directory"], progress=sys.stderr)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            encoded = msgspec.json.encode(statistics)
            self.stdout.write(msgspec.json.format(encoded, indent=2).decode())
        else:
            self.stdout.write(report(statistics), ending="")
