"""manage.py backup_write FILE: write all tables and photos to one file."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from annotation.actions.backup.archive import backup_write
from annotation.management.progress import Progress
from annotation.pipeline.backup.archive import BackupError
from common.files.trouble import error_words


class Command(BaseCommand):
    help = "Write all tables and photos to one file, from which backup_restore restores them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="for example chainbox-monday.zip"
        )
        parser.add_argument("--force", action="store_true", help="overwrite FILE")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        progress = Progress(sys.stderr, what="rows and photos written")
        try:
            written = backup_write(path=file, force=options["force"], step=progress.step)
        except BackupError as error:
            raise CommandError(f"Nothing was backed up: {error}.") from error
        except OSError as error:
            raise CommandError(f"Nothing was backed up. {error_words(error)}") from error
        finally:
            progress.finish()
        manifest = written.manifest
        size = filesizeformat(file.stat().st_size).replace("\xa0", " ")
        self.stdout.write(
            f"{file} has {manifest.rows:,} rows of {len(manifest.tables)} tables and "
            f"{len(manifest.photos):,} photos, {size}."
        )
        problems = [
            *(f"{name} is not in the file storage" for name in manifest.missing),
            *(f"{name} is not the photo that was imported" for name in written.altered),
        ]
        if problems:
            raise CommandError(
                "The backup was written, but some photos are missing or damaged:\n"
                + "\n".join(problems)
            )
