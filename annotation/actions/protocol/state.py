"""Keeping the state tables equal to the folded state: only what differs is written."""

from collections.abc import Iterable, Sequence

import msgspec
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotation import models
from annotation.models.rows import box_row, chain_row, question_rows, state_row
from annotation.pipeline.engine import open_questions
from annotation.pipeline.protocol.state import ImageState, chain_types
from annotation.selectors.protocol.state import image_fold, settings_by_id

CHAIN_FIELDS = ["phase", "mentions", "types", "review", "public_id"]
BOX_FIELDS = ["chains", "x_min", "y_min", "x_max", "y_max", "status"]


class Changed(msgspec.Struct, frozen=True):
    """An image's state before and after some facts."""

    image: models.Image
    before: ImageState
    after: ImageState


def states_save(changes: Sequence[Changed]) -> None:
    """Write what has changed in locked images, in a constant few statements for all of them."""
    if not changes:
        return
    rows = [state_row(change.after, change.image.pk) for change in changes]
    for row in rows:
        row.updated_at = Now()
    models.StoredState.objects.bulk_update(rows, ["body", "facts", "status", "updated_at"])
    _chains_save(changes)
    _boxes_save(changes)
    _questions_save(changes)


def state_replace(*, image: models.Image, state: ImageState) -> None:
    """Replace a state, whatever the tables contain."""
    models.Chain.objects.filter(image=image).delete()
    models.Box.objects.filter(image=image).delete()
    models.OpenQuestion.objects.filter(image=image).delete()
    empty = ImageState(width=0, height=0, captions=(), mentions=())
    states_save([Changed(image=image, before=empty, after=state)])


def rows_create(states: Iterable[tuple[models.Image, ImageState]]) -> None:
    """Write the states of new images, a statement per table."""
    pairs = list(states)
    models.StoredState.objects.bulk_create(state_row(s, image.pk) for image, s in pairs)
    models.Chain.objects.bulk_create(
        chain_row(s, chain, image.pk) for image, s in pairs for chain in s.chains
    )
    models.Box.objects.bulk_create(box_row(box, i.pk) for i, s in pairs for box in s.boxes)
    models.OpenQuestion.objects.bulk_create(
        row for image, s in pairs for row in question_rows(open_questions(s), image, s)
    )


def _chains_save(changes: Sequence[Changed]) -> None:
    rows: list[models.Chain] = []
    gone = Q()
    for change in changes:
        before, after, image_id = change.before, change.after, change.image.pk
        old = {c.number: (c, chain_types(before, c)) for c in before.chains}
        new = {c.number: (c, chain_types(after, c)) for c in after.chains}
        rows += [
            chain_row(after, chain, image_id)
            for number, (chain, types) in new.items()
            if old.get(number) != (chain, types)
        ]
        gone |= _numbered(image_id, old.keys() - new.keys())
    if rows:
        models.Chain.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["image", "number"],
            update_fields=CHAIN_FIELDS,
        )
    if gone:
        models.Chain.objects.filter(gone).delete()


def _boxes_save(changes: Sequence[Changed]) -> None:
    rows: list[models.Box] = []
    gone = Q()
    for change in changes:
        old = set(change.before.boxes)
        rows += [box_row(box, change.image.pk) for box in change.after.boxes if box not in old]
        numbers = {box.number for box in change.after.boxes}
        gone |= _numbered(change.image.pk, {box.number for box in old} - numbers)
    if rows:
        models.Box.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["image", "number"],
            update_fields=BOX_FIELDS,
        )
    if gone:
        models.Box.objects.filter(gone).delete()


def _questions_save(changes: Sequence[Changed]) -> None:
    """Close and open questions, and update those that stay with their image's changes."""
    rows: list[models.OpenQuestion] = []
    gone = Q()
    for change in changes:
        before, after = open_questions(change.before), open_questions(change.after)
        closed = [question.key for question in before if question not in after]
        if closed:
            gone |= Q(image_id=change.image.pk, key__in=closed)
        rows += question_rows(after, change.image, change.after)
    if gone:
        models.OpenQuestion.objects.filter(gone).delete()
    if rows:
        models.OpenQuestion.objects.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["image", "key"],
            update_fields=["left", "kept_out"],
        )


def _numbered(image_id: int, numbers: set[int]) -> Q:
    return Q(image_id=image_id, number__in=numbers) if numbers else Q()


@transaction.atomic
def state_rebuild(*, image_id: int) -> None:
    """Fold an image's facts again and store the result."""
    models.StoredState.objects.select_for_update().get(pk=image_id)
    image = models.Image.objects.get(pk=image_id)
    state_replace(image=image, state=image_fold(image, settings_by_id()))
