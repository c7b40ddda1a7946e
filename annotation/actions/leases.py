"""Leases: while a question is in somebody's sitting, nobody else gets it."""

from collections.abc import Sequence
from datetime import datetime

from annotation import models
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.questions import Stage
from annotation.pipeline.showing import encode_shown, shown
from annotation.selectors.sittings import Choice, questions_choose, settings_of

# How often a sitting that came out short, because others were quicker, tries again.
TRIES = 3


def leases_take(*, sitting: models.Sitting) -> int:
    """Fill a locked new sitting with questions and return how many it got.

    The database's constraint decides who gets what: never two live leases of one question.
    """
    wanted = settings_of(sitting.campaign).questions_per_hit[Stage(sitting.stage)]
    taken = 0
    for _ in range(TRIES):
        chosen = questions_choose(
            sitting.campaign, Stage(sitting.stage), sitting.worker, wanted - taken
        )
        if not chosen:
            break
        taken = _insert(sitting, taken, chosen)
        if taken == wanted:
            break
    return taken


def _insert(sitting: models.Sitting, taken: int, chosen: Sequence[Choice]) -> int:
    rows = [
        models.SittingQuestion(
            sitting=sitting,
            number=number,
            image_id=choice.image_id,
            key=choice.question.key,
            shown=encode_shown(shown(choice.state, choice.question)),
        )
        for number, choice in enumerate(chosen, start=taken + 1)
    ]
    # In an order that all keep to, so that two who insert at once wait for each other at most once.
    rows.sort(key=lambda row: (row.image_id, row.key))
    models.SittingQuestion.objects.bulk_create(rows, ignore_conflicts=True)
    return sitting.questions.count()


def leases_release(*, sitting: models.Sitting, now: datetime) -> None:
    """Give all questions of a sitting back."""
    sitting.questions.filter(released_at=None).update(released_at=now)


def leases_expire(*, now: datetime) -> None:
    """Release what anybody has kept for too long: two statements, whatever there is.

    A sitting that is being worked with at this moment is passed over.
    """
    over = models.Sitting.objects.filter(
        kind=SittingKind.WORK, status=SittingStatus.OPEN, until__lte=now
    ).select_for_update(skip_locked=True)
    models.Sitting.objects.filter(pk__in=over.values("pk")).update(status=SittingStatus.LAPSED)
    # Of finished ones too: the platform has not confirmed them in time. If it still does, the
    # answers are recorded all the same and count unless somebody else was quicker.
    leases = (
        models.SittingQuestion.objects.filter(released_at=None, sitting__until__lte=now)
        .exclude(key="")
        .select_for_update(skip_locked=True)
    )
    models.SittingQuestion.objects.filter(pk__in=leases.values("pk")).update(released_at=now)
