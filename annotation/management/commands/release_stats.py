"""manage.py release_stats DIR: what a release holds, beside the paper's numbers."""

import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TextIO, TypeVar

import msgspec
from django.core.management.base import BaseCommand, CommandError

from annotation.pipeline.release import ReleaseError, image_ids, read_image, read_unrelated
from annotation.pipeline.statistics import DatasetStatistics, dataset_statistics
from annotation.pipeline.statistics_report import report

Item = TypeVar("Item")

QUIET_SECONDS = 2.0
# A terminal's line is replaced often; a log gets a line now and then.
TERMINAL_SECONDS = 0.2
LOG_SECONDS = 10.0


def with_progress(
    items: Iterable[Item],
    *,
    total: int,
    stream: TextIO,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[Item]:
    """Yield `items`, telling `stream` how far it is once that takes more than two seconds."""
    terminal = stream.isatty()
    pause = TERMINAL_SECONDS if terminal else LOG_SECONDS
    due = clock() + QUIET_SECONDS
    shown = False
    try:
        for number, item in enumerate(items, start=1):
            yield item
            now = clock()
            if now >= due:
                line = f"{number:,} of {total:,} images read"
                stream.write(f"\r{line}" if terminal else f"{line}\n")
                stream.flush()
                due = now + pause
                shown = True
    finally:
        if terminal and shown:
            stream.write("\r\x1b[K")
            stream.flush()


def release_statistics(directory: str, *, progress: TextIO) -> DatasetStatistics:
    """Count the release in `directory`."""
    images = image_ids(directory)
    return dataset_statistics(
        with_progress(
            (read_image(directory, image) for image in images), total=len(images), stream=progress
        ),
        unrelated=read_unrelated(directory),
    )


class Command(BaseCommand):
    help = "Print the statistics of a directory in the public format beside the paper's."
    # A release is files only: this command works without any database.
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("directory", metavar="DIR", help="with Sentences/ and Annotations/")
        parser.add_argument("--json", action="store_true", help="print the counts as JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            # Django's own stderr ends every write with a line end, so it cannot replace a line.
            statistics = release_statistics(options["directory"], progress=sys.stderr)
        except ReleaseError as error:
            raise CommandError(str(error)) from error
        if options["json"]:
            encoded = msgspec.json.encode(statistics)
            self.stdout.write(msgspec.json.format(encoded, indent=2).decode())
        else:
            self.stdout.write(report(statistics), ending="")
