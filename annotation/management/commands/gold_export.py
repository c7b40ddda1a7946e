"""manage.py gold_export: a campaign's gold questions, as gold_import reads them."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.gold import add_stages
from annotation.pipeline.gold.files import write_gold
from annotation.selectors.gold.gold_questions import gold_with_captions
from common.files.trouble import error_words
from common.files.whole import whole_file


class Command(DatabaseCommand):
    help = (
        "Write the gold questions that a campaign uses to a file, one per line as JSON, "
        "to be inspected, edited, or imported elsewhere with gold_import. The file contains all "
        "the answers: keep it away from workers."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--force", action="store_true", help="overwrite an existing file")
        add_stages(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        path: Path = options["file"]
        written = 0
        try:
            with whole_file(path, replace=options["force"]) as file:
                for row in gold_with_captions(campaign, options["stages"]):
                    captions = {c.number: c.text.split(" ") for c in row.image.captions.all()}
                    file.write(f"{write_gold(row.gold, captions)}\n".encode())
                    written += 1
        except FileExistsError:
            raise CommandError(
                f"{path} already exists. Choose another file, or overwrite it with --force."
            ) from None
        except OSError as error:
            raise CommandError(error_words(error)) from error
        self.stdout.write(f"{path}: {written:,} gold questions.")
