"""Checking drawers: their boxes by Quality, their "none needed" by the chain's outcome."""

from collections import defaultdict

from annotation import models
from annotation.actions.protocol.judgments import Hearing
from annotation.actions.trust.standing import trust_notes
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.trust.drawing_checks import drawing_checks
from annotation.pipeline.trust.standing import Checked, Event
from annotation.selectors.trust.standing import drawing_key, drawings_of


def drawings_check(*, campaign: models.Campaign, hearing: Hearing) -> None:
    """Record for drawers whether these judgments show their drawings right or wrong.

    Each drawing is checked once. Judgments of workers we do not trust check nobody.
    """
    touched: dict[int, set[int]] = defaultdict(set)
    for one in hearing.heard:
        stage = one.judgment.question.stage
        believed = one.recorded.counted and not one.doubted
        # A second opinion is about the first judge, not about the drawer.
        if believed and not one.judgment.question.doubted and spec_of(stage).is_about_boxes:
            touched[one.image_id].add(one.recorded.number)
    if not touched:
        return
    drawings = drawings_of(touched)
    by_drawer: dict[int, dict[str, Event]] = defaultdict(dict)
    for image_id, judged in touched.items():
        for check in drawing_checks(hearing.states[image_id], drawings[image_id], judged):
            key = drawing_key(image_id, check.drawing.number)
            by_drawer[check.drawing.worker][key] = Checked(right=check.right)
    for worker in models.Worker.objects.filter(pk__in=by_drawer).order_by("pk"):
        trust_notes(
            campaign=campaign, worker=worker, stage=Stage.DRAWING, events=by_drawer[worker.pk]
        )
