"""Find the mentions of captions."""

import argparse
import sys
from pathlib import Path
from typing import IO

from django.core.management.base import BaseCommand, CommandError

from annotation.pipeline.captions import tokenise
from annotation.pipeline.corpus.importers.checks import LONGEST_CAPTION
from annotation.pipeline.corpus.importers.rows import LONGEST_LINE
from annotation.pipeline.mentions.mention import MENTION_DATA, MentionFinder, to_brackets
from common.files.trouble import error_words


class Command(BaseCommand):
    help = "Read captions, one per line, and print them with their mentions in brackets."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "file",
            nargs="?",
            type=Path,
            metavar="FILE",
            help="captions, tokenised or not, in UTF-8 (default: standard input)",
        )
        parser.add_argument(
            "--model",
            type=Path,
            default=MENTION_DATA,
            metavar="DIR",
            help="a folder written by mentions_train (default: the one shipped with Chainbox)",
        )

    def handle(self, *, file: Path | None, model: Path, **options: object) -> None:
        if file is not None and not file.is_file():
            raise CommandError(f"there is no file {file}")
        try:
            finder = MentionFinder.load(model)
            if file is None:
                self._find(finder, sys.stdin.buffer, "standard input")
            else:
                with file.open("rb") as lines:
                    self._find(finder, lines, str(file))
        except OSError as error:
            raise CommandError(error_words(error)) from error
        except ValueError as error:
            raise CommandError(str(error)) from error

    def _find(self, finder: MentionFinder, lines: IO[bytes], name: str) -> None:
        number = 0
        while line := lines.readline(LONGEST_LINE):
            number += 1
            try:
                text = line.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as error:
                raise ValueError(f"{name}, line {number}: not UTF-8 text") from error
            if len(text) > LONGEST_CAPTION:
                raise ValueError(
                    f"{name}, line {number}: the caption has more than {LONGEST_CAPTION:,} "
                    "characters"
                )
            tokens = tokenise(text)
            # Every caption keeps its line, even an empty one.
            self.stdout.write(to_brackets(tokens, finder.find(tokens)))
