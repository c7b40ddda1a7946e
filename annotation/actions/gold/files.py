"""Gold questions from elsewhere: files that people write, and releases."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import msgspec
from django.db import transaction

from annotation import models
from annotation.actions.gold.gold_questions import Stored, batches, store_batch
from annotation.actions.gold.maker import Making, gold_of_images
from annotation.pipeline.corpus.corpus_image import CorpusImage, Problem, Problems
from annotation.pipeline.gold.files import GoldLine, GoldLineError, gold_of
from annotation.pipeline.gold.gold_question import Gold
from annotation.pipeline.gold.known_images import OtherImageError, known_release
from annotation.pipeline.gold.maker import PER_ANSWER
from annotation.pipeline.protocol.facts import FactRefusedError
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES

T = TypeVar("T")

LINES_AT_ONCE = 500
IMAGES_AT_ONCE = 100


class Imported(msgspec.Struct, frozen=True):
    """How many were added, how many already existed, and how many are bad.

    `problems` explains the first bad ones.
    """

    added: int
    known: int
    bad: int
    problems: tuple[Problem, ...]


def gold_import(
    *,
    campaign: models.Campaign,
    lines: Iterable[GoldLine | Problem],
    skip_bad: bool = False,
    dry_run: bool = False,
) -> Imported:
    """Store the questions of a file: all, or with `skip_bad` only the good ones.

    The whole file is read before the transaction: nobody should wait while it is parsed.
    """
    problems = Problems()
    read = list(_good(lines, problems))
    return _lines_store(campaign, read, problems, skip_bad=skip_bad, dry_run=dry_run)


@transaction.atomic
def _lines_store(
    campaign: models.Campaign,
    lines: list[GoldLine],
    problems: Problems,
    *,
    skip_bad: bool,
    dry_run: bool,
) -> Imported:
    stored = Stored()
    for batch in batches(lines, LINES_AT_ONCE):
        images = _images(campaign, {line.written.image for line in batch})
        golds: list[Gold] = []
        line_of: dict[tuple[str, str], GoldLine] = {}
        for line in batch:
            try:
                gold = gold_of(line.written, _find(images, line.written.image).stored_state.state)
            except GoldLineError as error:
                problems.add(line.problem(str(error)))
                continue
            golds.append(gold)
            line_of[gold.key, gold.answer] = line
        result = store_batch(campaign, golds, images)
        for refused in result.refused:
            line = line_of[refused.gold.key, refused.gold.answer]
            problems.add(line.problem(refused.why))
        stored += result
    return _finish(stored, problems, skip_bad=skip_bad, dry_run=dry_run)


def gold_import_release(
    *,
    campaign: models.Campaign,
    images: Iterable[CorpusImage | Problem],
    stages: Iterable[Stage] = GOLD_STAGES,
    most_per_answer: int | None = None,
    per_image: int = PER_ANSWER,
    skip_bad: bool = False,
    dry_run: bool = False,
    done: Callable[[], None] = lambda: None,
) -> Imported:
    """Make gold questions from a release, about those of its images that we have.

    It is a problem if one of them is a different image here. `done` is called after each image.
    The questions are made before the transaction, which only stores them.
    """
    problems = Problems()
    making = Making(campaign, tuple(stages), most_per_answer, per_image)
    made: list[list[Gold]] = []
    for batch in batches(_good(images, problems), IMAGES_AT_ONCE):
        if making.is_done:
            break
        ours = _images(campaign, {image.name for image in batch})
        there = gold_of_images([row.pk for row in ours.values()])
        golds: list[Gold] = []
        for image in batch:
            done()
            row = ours.get(image.name)
            if row is None or row.withdrawn_at is not None:
                continue
            try:
                known = known_release(row.stored_state.state, image)
            except (OtherImageError, FactRefusedError) as error:
                problems.add(Problem(f"image {image.name}", "", str(error)))
                continue
            golds += making.of_image([known], there[row.pk])
        making.random.shuffle(golds)
        made.append(golds)
    return _made_store(campaign, made, problems, skip_bad=skip_bad, dry_run=dry_run)


@transaction.atomic
def _made_store(
    campaign: models.Campaign,
    made: list[list[Gold]],
    problems: Problems,
    *,
    skip_bad: bool,
    dry_run: bool,
) -> Imported:
    stored = Stored()
    for golds in made:
        # The images as they are now: one may have been withdrawn, or its phrases changed, since.
        stored += store_batch(campaign, golds, _images(campaign, {gold.image for gold in golds}))
    return _finish(stored, problems, skip_bad=skip_bad, dry_run=dry_run)


def _finish(stored: Stored, problems: Problems, *, skip_bad: bool, dry_run: bool) -> Imported:
    """Leave everything as it was, if nothing is to be imported."""
    if dry_run or (problems.count and not skip_bad):
        transaction.set_rollback(True)
    return Imported(
        added=stored.added, known=stored.known, bad=problems.count, problems=tuple(problems.kept)
    )


def _good(items: Iterable[T | Problem], problems: Problems) -> Iterator[T]:
    """Pass on what could be read, and keep the rest."""
    for item in items:
        if isinstance(item, Problem):
            problems.add(item)
        else:
            yield item


def _images(campaign: models.Campaign, names: set[str]) -> dict[str, models.Image]:
    rows = models.Image.objects.filter(campaign=campaign, name__in=names)
    return {image.name: image for image in rows.select_related("stored_state")}


def _find(images: dict[str, models.Image], name: str) -> models.Image:
    image = images.get(name)
    if image is None:
        raise GoldLineError(f"the campaign has no image {name!r}")
    if image.withdrawn_at is not None:
        raise GoldLineError(f"image {name!r} was withdrawn")
    return image
