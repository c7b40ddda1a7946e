"""manage.py files_check: check that every stored photo is the one that was imported."""

import argparse
import sys
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat

from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.progress import with_progress
from annotation.selectors.corpus.photo_files import (
    StoredPhoto,
    images_with_photos,
    photo_problem,
    photos_stored,
)
from common.files.trouble import error_words
from common.files.whole import partials

# If a hundred images show a photo, naming a few is enough.
MOST_IMAGES = 3


class Command(DatabaseCommand):
    help = (
        "Read every photo in the file storage and compare it with the hash recorded when it "
        "was imported. List each photo that is missing, damaged or unreadable, with the images "
        "that show it. Changes nothing unless --tidy is given. Exit status 1 if any photo is "
        "missing or damaged. To restore photos, import the same corpus again with --images; intact "
        "photos stay as they are. Run it after the disk was full, after moving the files, "
        "and before a backup that you keep. See docs/backup.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", metavar="NAME", help="only this one (default: all)")
        parser.add_argument(
            "--tidy",
            action="store_true",
            help="remove half-written files of processes that were killed more than a day ago",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        images = images_with_photos()
        if options["campaign"]:
            images = images.filter(campaign=campaign_named(options["campaign"]))
        total = images.values("file").distinct().count()
        bad = 0
        for photo in with_progress(
            photos_stored(images), what="photos checked", total=total, stream=sys.stderr
        ):
            problem = photo_problem(photo.file, photo.sha256)
            if problem is not None:
                self.stdout.write(f"{photo.file} {problem} ({_shown_by(photo)})")
                bad += 1
        self._leftovers(tidy=options["tidy"])
        if bad:
            raise CommandError(
                f"{bad:,} of {total:,} photos are not as they were imported. To restore them, run "
                "corpus_import again for each campaign named above, with the same corpus and "
                "--images; or copy them from a backup into "
                f"{settings.MEDIA_ROOT}. Then run files_check again."
            )
        self.stdout.write(f"{total:,} photos: every one is as it was imported.")

    def _leftovers(self, *, tidy: bool) -> None:
        """Report half-written files, or remove them."""
        found = list(partials(Path(settings.MEDIA_ROOT)))
        if not found:
            return
        size = filesizeformat(sum(path.stat().st_size for path in found)).replace("\xa0", " ")
        count = f"{len(found):,} half-written file{'' if len(found) == 1 else 's'} ({size})"
        if not tidy:
            self.stdout.write(f"{count} of killed processes can be removed with --tidy.")
            return
        for path in found:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise CommandError(error_words(error)) from error
        self.stdout.write(f"{count} of killed processes removed.")


def _shown_by(photo: StoredPhoto) -> str:
    """Return the images that show a photo."""
    named = [f"image {name} of campaign {campaign!r}" for campaign, name in photo.images]
    more = len(named) - MOST_IMAGES
    return ", ".join(named[:MOST_IMAGES]) + (f" and {more:,} more" if more > 0 else "")
