"""manage.py corpus_import: import captions, photos and perhaps annotation into a campaign."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from annotation.actions.campaign.campaigns import CampaignError, campaign_create
from annotation.actions.corpus.imports import (
    CorpusConflictError,
    ImageToImport,
    Imported,
    Take,
    conflicts,
    images_import,
    tables_analyse,
)
from annotation.actions.corpus.photos import PhotoChangedError
from annotation.management.database import DatabaseCommand
from annotation.management.progress import Progress
from annotation.models import Campaign, Image
from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem, Problems
from annotation.pipeline.corpus.importers import FORMATS, CorpusError, guess_format, read_corpus
from annotation.pipeline.corpus.pictures import Picture, PictureError, find_picture, read_picture
from annotation.pipeline.mentions.mention import MENTION_DATA, MentionFinder
from annotation.pipeline.protocol.facts import FactRefusedError
from annotation.selectors.corpus.photo_files import photo_problem

BATCH = 200
LARGE_IMPORT = 1000


class Command(DatabaseCommand):
    help = (
        "Import a captioned corpus into a campaign, which is created if needed. The file "
        "is read twice: first to check it, then to import it. If anything is wrong, nothing is "
        "imported, unless --skip-bad leaves the bad entries out. Importing again changes nothing, "
        "except that photos which files_check reports as missing or damaged are restored from "
        "--images. An interrupted import continues where it stopped. See docs/importing.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", type=Path, metavar="PATH", help="the corpus: a file or folder")
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--format", choices=FORMATS, help="default: guessed from the file")
        parser.add_argument("--images", type=Path, metavar="DIR", help="the folder with the photos")
        parser.add_argument(
            "--mentions",
            type=Path,
            metavar="DIR",
            default=MENTION_DATA,
            help="a folder written by mentions_train (default: the one shipped with Chainbox)",
        )
        taking = parser.add_mutually_exclusive_group()
        taking.add_argument(
            "--gold",
            action="store_true",
            help="keep the corpus's chains and boxes as an answer key; annotate from scratch",
        )
        taking.add_argument(
            "--accept",
            action="store_true",
            help="accept the corpus's chains and boxes as finished annotation",
        )
        parser.add_argument("--skip-bad", action="store_true", help="leave bad entries out")
        parser.add_argument("--dry-run", action="store_true", help="check only, import nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self._import(options)
        except (CorpusError, CampaignError, CorpusConflictError, FactRefusedError) as error:
            raise CommandError(str(error)) from error
        except PhotoChangedError as error:
            raise CommandError(f"{error}. Import again.") from error

    def _import(self, options: dict[str, Any]) -> None:
        path: Path = options["path"]
        take = Take.GOLD if options["gold"] else Take.ACCEPT if options["accept"] else Take.NOTHING
        format_ = options["format"] or guess_format(path)
        if take is not Take.NOTHING and format_ != "entities":
            raise CommandError(
                f"--{take.value} needs a corpus with chains and boxes (format entities); "
                f"{path} has format {format_}."
            )
        if options["images"] is not None and not options["images"].is_dir():
            raise CommandError(f"--images: {options['images']} is not a folder.")
        campaign = (
            Campaign.objects.select_related("current_settings")
            .filter(name=options["campaign"])
            .first()
        )
        check = _Check(path, format_, take, options["images"], campaign)
        check.run()
        self._report(check.problems)
        if check.problems.count and not options["skip_bad"]:
            raise CommandError(
                f"{check.problems.count:,} problems, nothing was imported. Fix them, or leave "
                "the bad entries out with --skip-bad."
            )
        if options["dry_run"]:
            self.stdout.write(
                f"{check.good:,} images could be imported (format {format_}); nothing was "
                "imported (--dry-run)."
            )
            return
        if campaign is None:
            campaign = campaign_create(name=options["campaign"])
            self.stdout.write(f"Campaign {campaign.name!r} created.")
        imported = self._write(campaign, check, MentionFinder.load(options["mentions"]))
        if imported.added >= LARGE_IMPORT:
            tables_analyse()
        self.stdout.write(f"{imported.added:,} images added.")
        if imported.pictured:
            self.stdout.write(f"{imported.pictured:,} existing images got their photo.")
        if imported.healed:
            self.stdout.write(
                f"{imported.healed:,} had a missing or damaged photo, which was restored."
            )
        if imported.unchanged:
            self.stdout.write(f"{imported.unchanged:,} already existed, unchanged.")
        if check.problems.count:
            self.stdout.write(f"{check.problems.count:,} bad entries left out.")

    def _report(self, problems: Problems) -> None:
        for problem in problems.kept:
            self.stderr.write(str(problem))
        if problems.count > len(problems.kept):
            self.stderr.write(f"… and {problems.count - len(problems.kept):,} more")

    def _write(self, campaign: Campaign, check: "_Check", finder: MentionFinder) -> Imported:
        progress = Progress(sys.stderr, what="images imported", total=check.good)
        imported = Imported()
        items = (
            ImageToImport(image=image, picture=check.pictures.get(image.name))
            for image in check.images()
            if image.name not in check.bad
        )
        for batch in batches(items):
            imported += images_import(
                campaign=campaign, batch=batch, take=check.take, finder=finder
            )
            progress.step(len(batch))
        progress.finish()
        return imported


class _Check:
    """The first reading: finds every problem, and what the second reading can rely on."""

    def __init__(
        self, path: Path, format_: str, take: Take, photos: Path | None, campaign: Campaign | None
    ) -> None:
        self.path = path
        self.format = format_
        self.take = take
        self.photos = photos
        self.campaign = campaign
        self.problems = Problems()
        self.bad: set[str] = set()
        self.pictures: dict[str, Picture] = {}
        self.good = 0
        # What an earlier import verified and stored: the photo's file and hash, by image.
        self._stored = {
            name: (file, sha256)
            for name, file, sha256 in Image.objects.filter(campaign=campaign)
            .exclude(file="")
            .values_list("name", "file", "sha256")
        }

    def images(self) -> Iterator[CorpusImage]:
        for item in self._read():
            if isinstance(item, CorpusImage):
                yield item

    def run(self) -> None:
        progress = Progress(sys.stderr, what="images checked")
        for batch in batches(self._good_items()):
            if self.campaign is not None:
                for image, why in conflicts(campaign=self.campaign, batch=batch, take=self.take):
                    self._is_bad(image, why)
            for image in batch:
                if self.photos is not None and image.name not in self.bad:
                    self._check_picture(image, self.photos)
            progress.step(len(batch))
            self.good += sum(image.name not in self.bad for image in batch)
        progress.finish()

    def _read(self) -> Iterator[CorpusImage | Problem]:
        return read_corpus(self.path, self.format, with_annotation=self.take is not Take.NOTHING)

    def _good_items(self) -> Iterator[CorpusImage]:
        for item in self._read():
            if isinstance(item, Problem):
                self.problems.add(item)
            else:
                yield item

    def _check_picture(self, image: CorpusImage, photos: Path) -> None:
        file, sha256 = self._stored.get(image.name, ("", ""))
        problem = photo_problem(file, sha256) if file else None
        # A photo that is stored and intact is not decoded again.
        if file and problem is None:
            return
        try:
            picture = read_picture(
                find_picture(photos, image.filename),
                max_memory=settings.CHAINBOX_PHOTO_MEGABYTES * 2**20,
            )
        except PictureError as error:
            self._is_bad(image, str(error))
            return
        size = (picture.width, picture.height)
        if image.width and size != (image.width, image.height):
            self._is_bad(
                image,
                f"the photo is {picture.width}×{picture.height}, "
                f"the corpus says {image.width}×{image.height}",
            )
            return
        if file and picture.sha256 != sha256:
            self._is_bad(
                image,
                f"its stored photo {problem}, and {picture.path} cannot replace it because it is a "
                "different photo",
            )
            return
        self.pictures[image.name] = picture

    def _is_bad(self, image: CorpusImage, why: str) -> None:
        self.bad.add(image.name)
        self.problems.add(Problem(file=str(self.path), place=f"image {image.name}", why=why))


def batches(items: Iterable[Any]) -> Iterator[list[Any]]:
    batch: list[Any] = []
    for item in items:
        batch.append(item)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch
