"""The product's own ways in, each as: read this, and return why it was refused."""

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

from django.core.management import CommandError, call_command

from annotation.crowd.polling import form_fields
from annotation.hits.notifications import NotificationError, events_read
from annotation.pipeline.corpus.pictures import PictureError, read_picture
from marketplace.rules.errors import RequestError
from marketplace.rules.questions import QuestionForm, parse_answer_key, parse_question

CAMPAIGN = "hostile"

Reader = Callable[[Path], str | None]


def command(name: str, *arguments: str, **options: Any) -> Reader:
    """Return a reader that gives the path to a command of ours."""

    def read(path: Path) -> str | None:
        told = io.StringIO()
        try:
            call_command(name, str(path), *arguments, **options, stdout=io.StringIO(), stderr=told)
        except CommandError as error:
            return f"{told.getvalue()}{error}"
        return None

    return read


def corpus(format: str | None = None, *flags: str) -> Reader:
    arguments = [f"--campaign={CAMPAIGN}", "--dry-run", *flags]
    if format is not None:
        arguments.append(f"--format={format}")
    return command("corpus_import", *arguments)


def corpus_with_photos(path: Path) -> str | None:
    """Import the captions of a folder with the photos beside them."""
    flags = (f"--campaign={CAMPAIGN}", f"--images={path.parent}", "--dry-run")
    return command("corpus_import", *flags)(path)


guides = command("guides_import", f"--campaign={CAMPAIGN}", "--dry-run")
gold = command("gold_import", f"--campaign={CAMPAIGN}", "--dry-run")
backup = command("backup_restore", "--dry-run")
release = command("release_stats")


def mentions(path: Path) -> str | None:
    return command("mentions_find")(path)


def picture(path: Path) -> str | None:
    try:
        read_picture(path)
    except PictureError as error:
        return str(error)
    return None


def question(path: Path) -> str | None:
    return _refusal(parse_question, path)


def answer_key(path: Path) -> str | None:
    # What the test asks matters only once the key has been read.
    return _refusal(lambda xml: parse_answer_key(xml, cast(QuestionForm, None)), path)


def submitted_form(path: Path) -> str | None:
    """Read what a marketplace says that a worker sent; of what is no form there are no fields."""
    return None if form_fields(path.read_text()) else "no fields"


def notification(path: Path) -> str | None:
    try:
        events_read(path.read_bytes())
    except NotificationError as error:
        return str(error)
    return None


def _refusal(parse: Callable[[str], object], path: Path) -> str | None:
    try:
        parse(path.read_text())
    except RequestError as error:
        return str(error)
    return None
