"""manage.py guides_export: write a campaign's guides to a folder for editing."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.pipeline.work.guides import guide_file, shipped_source
from annotation.selectors.work.guides import TOPICS, guides_current
from common.files.trouble import error_words
from common.files.whole import make_folder, write_text


class Command(DatabaseCommand):
    help = (
        "Write the guides for a campaign's workers, one TOML file per topic, word for word as "
        "imported; where the campaign has none of its own, the shipped text. Edit the files "
        "and import them again with guides_import."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER", help="created if needed")
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--force", action="store_true", help="overwrite existing files")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        folder: Path = options["folder"]
        files = {topic: folder / guide_file(topic) for topic in TOPICS}
        there = [path.name for path in files.values() if path.exists()]
        if there and not options["force"]:
            raise CommandError(
                f"{folder} has {', '.join(there)} already. Nothing was written. Choose another "
                "folder, or overwrite the files with --force."
            )
        current = guides_current(campaign)
        try:
            make_folder(folder)
            for topic, path in files.items():
                row = current.get(topic)
                source = row.source if row else shipped_source(topic)
                write_text(path, source)
                origin = f"version {row.version}" if row else "the shipped text"
                self.stdout.write(f"{path}: {origin}")
        except OSError as error:
            raise CommandError(error_words(error)) from error
