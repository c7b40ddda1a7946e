"""Raising doubts: judgments of workers who lost trust get a second opinion."""

import logging
from collections.abc import Sequence
from itertools import groupby

from annotation import models
from annotation.actions.protocol.facts import doubts_record
from annotation.pipeline.protocol.facts import Doubt, FactRefusedError

log = logging.getLogger(__name__)


def doubts_raise(*, most: int = 500) -> int:
    """Turn planned doubts into facts, image by image; return how many.

    A plan is deleted only when its doubt is a fact, and no doubt is stored twice: if a process dies
    in the middle, the next one does the rest.
    """
    planned = list(models.PendingDoubt.objects.order_by("image_id", "judgment")[:most])
    raised = 0
    for image_id, of_image in groupby(planned, key=lambda row: row.image_id):
        rows = list(of_image)
        try:
            raised += _raise(image_id, rows)
        except Exception:
            # A problem with one image must not hold back the doubts of others.
            log.exception("doubts of image %s could not be raised", image_id)
    return raised


def _raise(image_id: int, rows: Sequence[models.PendingDoubt]) -> int:
    """Raise the doubts of one image: all at once, or one by one if one of them is refused."""
    doubts = [Doubt(judgment=row.judgment, reason=row.reason) for row in rows]
    raised = len(rows)
    try:
        doubts_record(image_id=image_id, doubts=doubts)
    except FactRefusedError as error:
        if len(rows) > 1:
            return sum(_raise(image_id, [row]) for row in rows)
        # Nothing is asked any more about a withdrawn image.
        log.warning("image %s: a doubt is dropped: %s", image_id, error)
        raised = 0
    models.PendingDoubt.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return raised
