"""Raising doubts: judgments of workers who lost trust get a second opinion."""

import logging
from itertools import groupby

from annotation import models
from annotation.actions.facts import doubts_record
from annotation.pipeline.facts import Doubt, FactRefusedError

log = logging.getLogger(__name__)


def doubts_raise(*, most: int = 500) -> int:
    """Turn planned doubts into facts, image by image; return how many.

    A plan goes only once its doubt is a fact, and a doubt is not doubled: whoever dies in the
    middle leaves the rest to the next.
    """
    planned = list(models.PendingDoubt.objects.order_by("image_id", "judgment")[:most])
    raised = 0
    for image_id, of_image in groupby(planned, key=lambda row: row.image_id):
        rows = list(of_image)
        doubts = [Doubt(judgment=row.judgment, reason=row.reason) for row in rows]
        try:
            doubts_record(image_id=image_id, doubts=doubts)
            raised += len(rows)
        except FactRefusedError as error:
            # Of an image that was withdrawn nothing is asked any more.
            log.warning("image %s: doubts are dropped: %s", image_id, error)
        models.PendingDoubt.objects.filter(pk__in=[row.pk for row in rows]).delete()
    return raised
