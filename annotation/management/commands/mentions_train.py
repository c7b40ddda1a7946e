"""Learn to find mentions from a release."""

import argparse
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.pipeline.mentions import training
from annotation.pipeline.release.folder import Sentence, image_ids, read_sentences
from common.files.trouble import error_words


class Command(BaseCommand):
    help = "Train a mention finder on a release's train captions, and score it on val."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("release", type=Path, metavar="RELEASE_DIR")
        parser.add_argument(
            "--out",
            type=Path,
            metavar="DIR",
            help="where to write the model and the dictionaries (default: mentions in "
            "the application's data folder)",
        )

    def handle(self, *, release: Path, out: Path | None, **options: object) -> None:
        folder = out or Path(settings.CHAINBOX_VAR) / "mentions"
        try:
            self._train(release, folder)
        except OSError as error:
            raise CommandError(error_words(error)) from error
        except ValueError as error:
            raise CommandError(str(error)) from error

    def _train(self, release: Path, folder: Path) -> None:
        images = image_ids(release, "train")
        self.stdout.write(f"{len(images):,} train images")
        finder = training.train(_sentences(release, images), folder, report=self.stdout.write)
        self.stdout.write(f"Written to {folder}")
        if not (release / "val.txt").exists():
            self.stdout.write("The release has no val.txt, so the finder is not scored.")
            return
        score = training.score(finder, _sentences(release, image_ids(release, "val")))
        self.stdout.write(
            f"On the val captions, {score.gold:,} mentions:\n"
            f"  spans  precision {score.precision:.4f}  recall {score.recall:.4f}"
            f"  F1 {score.f1:.4f}\n"
            f"  exact types {score.type_share:.4f}"
            f"  (without notvisual {score.visual_type_share:.4f})"
        )


def _sentences(release: Path, images: list[str]) -> Iterator[Sentence]:
    for image in images:
        yield from read_sentences(release, image)
