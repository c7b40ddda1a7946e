"""Keeping the state tables equal to the folded state: only what differs is written."""

from collections.abc import Iterable, Sequence

from django.db import transaction
from django.db.models.functions import Now

from annotation import models
from annotation.models.rows import box_row, chain_row, question_row, state_row, status_of
from annotation.pipeline.engine import open_questions
from annotation.pipeline.questions import Question
from annotation.pipeline.state import ImageState, chain_types, encode_state
from annotation.selectors.states import image_fold, settings_by_id

CHAIN_FIELDS = ["phase", "mentions", "types", "review", "public_id"]
BOX_FIELDS = ["chains", "x_min", "y_min", "x_max", "y_max", "status"]


def state_save(*, image: models.Image, before: ImageState, after: ImageState) -> None:
    """Write the difference between two states of a locked image, in a constant few statements."""
    models.StoredState.objects.filter(pk=image.pk).update(
        body=encode_state(after), facts=after.facts, status=status_of(after), updated_at=Now()
    )
    _chains_save(image.pk, before, after)
    _boxes_save(image.pk, before, after)
    _questions_save(image, open_questions(before), open_questions(after))


def state_replace(*, image: models.Image, state: ImageState) -> None:
    """Write a state anew, whatever the tables hold."""
    models.Chain.objects.filter(image=image).delete()
    models.Box.objects.filter(image=image).delete()
    models.OpenQuestion.objects.filter(image=image).delete()
    empty = ImageState(width=0, height=0, captions=(), mentions=())
    state_save(image=image, before=empty, after=state)


def rows_create(states: Iterable[tuple[models.Image, ImageState]]) -> None:
    """Write the states of new images, a statement per table."""
    pairs = list(states)
    models.StoredState.objects.bulk_create(state_row(s, image.pk) for image, s in pairs)
    models.Chain.objects.bulk_create(
        chain_row(s, chain, image.pk) for image, s in pairs for chain in s.chains
    )
    models.Box.objects.bulk_create(box_row(box, i.pk) for i, s in pairs for box in s.boxes)
    models.OpenQuestion.objects.bulk_create(
        question_row(q, image) for image, s in pairs for q in open_questions(s)
    )


def _chains_save(image_id: int, before: ImageState, after: ImageState) -> None:
    old = {c.number: (c, chain_types(before, c)) for c in before.chains}
    new = {c.number: (c, chain_types(after, c)) for c in after.chains}
    changed = [chain for number, (chain, types) in new.items() if old.get(number) != (chain, types)]
    if changed:
        models.Chain.objects.bulk_create(
            [chain_row(after, chain, image_id) for chain in changed],
            update_conflicts=True,
            unique_fields=["image", "number"],
            update_fields=CHAIN_FIELDS,
        )
    gone = old.keys() - new.keys()
    if gone:
        models.Chain.objects.filter(image_id=image_id, number__in=gone).delete()


def _boxes_save(image_id: int, before: ImageState, after: ImageState) -> None:
    old = set(before.boxes)
    changed = [box for box in after.boxes if box not in old]
    if changed:
        models.Box.objects.bulk_create(
            [box_row(box, image_id) for box in changed],
            update_conflicts=True,
            unique_fields=["image", "number"],
            update_fields=BOX_FIELDS,
        )
    gone = {b.number for b in before.boxes} - {b.number for b in after.boxes}
    if gone:
        models.Box.objects.filter(image_id=image_id, number__in=gone).delete()


def _questions_save(
    image: models.Image, before: Sequence[Question], after: Sequence[Question]
) -> None:
    closed = [q.key for q in before if q not in after]
    if closed:
        models.OpenQuestion.objects.filter(image_id=image.pk, key__in=closed).delete()
    opened = [q for q in after if q not in before]
    if opened:
        models.OpenQuestion.objects.bulk_create([question_row(q, image) for q in opened])


@transaction.atomic
def state_rebuild(*, image_id: int) -> None:
    """Fold an image's facts anew and store the result."""
    models.StoredState.objects.select_for_update().get(pk=image_id)
    image = models.Image.objects.get(pk=image_id)
    state_replace(image=image, state=image_fold(image, settings_by_id()))
