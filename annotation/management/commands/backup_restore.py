"""manage.py backup_restore FILE: restore a backup's tables and photos to an empty database."""

import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError

from annotation.actions.backup.restore import backup_restore
from annotation.management.progress import Progress
from annotation.pipeline.backup.archive import BackupError, Manifest, backup_open
from common.files.trouble import error_words


class Command(BaseCommand):
    help = "Restore a backup into an empty, migrated database, and check it with state_check."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "file", metavar="FILE", type=Path, help="a file written by backup_write"
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="check the whole file, restore nothing"
        )
        parser.add_argument(
            "--no-state-check",
            action="store_true",
            help="skip state_check at the end; run it yourself",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        progress = Progress(sys.stderr, what="rows and photos checked")
        try:
            with backup_open(file) as backup:
                manifest = backup.manifest
                progress.total = manifest.rows + len(manifest.photos)
                if options["dry_run"]:
                    backup.check(progress.step)
            if not options["dry_run"]:
                progress.total *= 2
                progress.what = "rows and photos checked, then restored"
                backup_restore(path=file, step=progress.step)
        except BackupError as error:
            raise CommandError(f"Nothing was restored: {error}.") from error
        except OSError as error:
            raise CommandError(f"Nothing was restored. {error_words(error)}") from error
        finally:
            progress.finish()
        done = "The backup is complete" if options["dry_run"] else "Restored"
        self.stdout.write(f"{done}: {_summary(manifest)}")
        for name in manifest.missing:
            self.stdout.write(
                f"{name} was missing from the file storage when the backup was written."
            )
        if not (options["dry_run"] or options["no_state_check"]):
            call_command("state_check", stdout=self.stdout, stderr=self.stderr)


def _summary(manifest: Manifest) -> str:
    return (
        f"{manifest.rows:,} rows of {len(manifest.tables)} tables and "
        f"{len(manifest.photos):,} photos, written on {manifest.written_at:%d %B %Y at %H:%M} UTC "
        f"by Chainbox {manifest.chainbox}."
    )
