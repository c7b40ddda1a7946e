"""manage.py guides_import: import a folder of guides into a campaign."""

import argparse
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.work.guides import guides_check, guides_save_all
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.pipeline.work.guides import GuideError, guide_file
from annotation.selectors.work.guides import TOPICS
from common.files.toml_files import LARGEST_TOML, too_large


class Command(DatabaseCommand):
    help = (
        "Import guides for workers: guidelines, examples and test questions of the stages, and "
        "the consent text, one TOML file per topic. A changed file becomes a new version. If "
        "anything is wrong with any of them, none is imported. See docs/guides.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--dry-run", action="store_true", help="check only, import nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        sources = read_folder(options["folder"])
        try:
            if options["dry_run"]:
                guides_check(campaign=campaign, sources=sources)
                self.stdout.write(
                    f"{', '.join(sources)}: ready to import. Nothing was imported (--dry-run)."
                )
                return
            saved = guides_save_all(campaign=campaign, sources=sources)
        except GuideError as error:
            raise CommandError(f"{error}\nNothing was imported.") from error
        for guide in saved:
            what = "imported as" if guide.is_new else "unchanged since"
            self.stdout.write(f"{guide.row.topic} {what} version {guide.row.version}")


def read_folder(folder: Path) -> dict[str, str]:
    """Return the text of every topic for which the folder has a file."""
    if not folder.is_dir():
        raise CommandError(f"{folder} is not a folder.")
    known = {guide_file(topic): topic for topic in TOPICS}
    names = {path.name for path in folder.glob("*.toml")}
    if not names or names - known.keys():
        strange = ", ".join(sorted(names - known.keys())) or "no TOML file"
        raise CommandError(f"{folder} has {strange}; guides are named {', '.join(known)}.")
    return {topic: _read(folder / name) for name, topic in known.items() if name in names}


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_TOML + 1)
        if len(content) > LARGEST_TOML:
            raise CommandError(f"{path}: {too_large()}.")
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        raise CommandError(f"{path}: not UTF-8, from byte {error.start + 1:,} on.") from error
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}.") from error
