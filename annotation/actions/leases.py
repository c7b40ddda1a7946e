"""Leases: while a question is in somebody's sitting, nobody else gets it."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from annotation import models
from annotation.models import SittingStatus
from annotation.pipeline.questions import Stage
from annotation.pipeline.showing import encode_shown, shown
from annotation.selectors.clock import database_now
from annotation.selectors.sittings import Choice, questions_choose, settings_of

# How often a sitting that came out short, because others were quicker, tries again.
TRIES = 5


def leases_take(*, sitting: models.Sitting) -> int:
    """Fill a locked new sitting with questions and return how many it got.

    The database's constraint decides who gets what: never two live leases of one question.
    """
    wanted = settings_of(sitting.campaign).questions_per_hit[Stage(sitting.stage)]
    taken = tried = 0
    for _ in range(TRIES):
        chosen = questions_choose(
            sitting.campaign, Stage(sitting.stage), sitting.worker, wanted - taken
        )
        if not chosen:
            break
        # The numbers of what others got stay unused.
        taken = _insert(sitting, chosen, first=tried + 1)
        tried += len(chosen)
        if taken == wanted:
            break
    return taken


def _insert(sitting: models.Sitting, chosen: Sequence[Choice], *, first: int) -> int:
    rows = [
        models.SittingQuestion(
            sitting=sitting,
            number=number,
            image_id=choice.image_id,
            key=choice.question.key,
            shown=encode_shown(shown(choice.state, choice.question)),
        )
        for number, choice in enumerate(chosen, start=first)
    ]
    # In an order that all keep to, so that two who insert at once wait for each other at most once.
    rows.sort(key=lambda row: (row.image_id, row.key))
    models.SittingQuestion.objects.bulk_create(rows, ignore_conflicts=True)
    return sitting.questions.count()


def leases_release(*, sitting: models.Sitting, now: datetime) -> None:
    """Give all questions of a sitting back."""
    sitting.questions.filter(released_at=None).update(released_at=now)


@transaction.atomic
def leases_expire() -> None:
    """Release what anybody has kept for too long. Done by whoever comes by, in three statements.

    Sittings are locked before their questions, in one order, as everywhere: nobody deadlocks.
    """
    now = database_now()
    held = models.SittingQuestion.objects.filter(released_at=None).exclude(key="")
    # Finished ones too: the platform has not confirmed them in time. If it still does, their
    # answers are recorded all the same and count unless somebody else was quicker.
    over = list(
        models.Sitting.objects.filter(pk__in=held.values("sitting"), until__lte=now)
        .order_by("pk")
        .select_for_update()
        .values_list("pk", flat=True)
    )
    if over:
        models.Sitting.objects.filter(pk__in=over, status=SittingStatus.OPEN).update(
            status=SittingStatus.LAPSED
        )
        held.filter(sitting__in=over).update(released_at=now)
