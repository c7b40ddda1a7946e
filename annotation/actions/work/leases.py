"""Leases: while a question is in somebody's sitting, nobody else gets it."""

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet
from django.utils.crypto import salted_hmac

from annotation import models
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.gold.mix import checks_wanted, mix
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Trust
from annotation.pipeline.work.display import encode_shown, shown
from annotation.selectors.gold.gold_questions import gold_for
from annotation.selectors.work.sittings import (
    Choice,
    questions_choose,
    sitting_questions,
)
from common.clock import database_now

# How often a sitting tries again if it got too few questions because others were quicker.
TRIES = 5


def leases_take(*, sitting: models.Sitting, trust: Trust) -> list[models.SittingQuestion]:
    """Fill a locked new sitting with questions, gold questions among them; return them.

    The database's constraint decides who gets what: never two live leases of one question. If
    there is nothing to ask that counts, a trusted worker gets no gold questions either.
    """
    stage = Stage(sitting.stage)
    settings = sitting.campaign.settings
    size = settings.questions_per_hit[stage]
    # The rules are public, so random choices need a secret.
    seed = salted_hmac("chainbox.mixing", str(sitting.pk), algorithm="sha256").hexdigest()
    checks = checks_wanted(stage, trust, size, settings.crowd, seed)
    gold = gold_for(sitting.campaign, stage, sitting.known_worker, checks, seed) if checks else []
    # Where gold questions run out, trusted workers get real ones instead; nobody else.
    choosing = _Choosing(sitting)
    wanted = size - (len(gold) if trust is Trust.TRUSTED else checks)
    chosen = choosing.choose(wanted, {one.image_id for one in gold})
    if not chosen and trust is Trust.TRUSTED:
        return []
    leases = [_lease(sitting, choice) for choice in chosen]
    rows = mix(leases, [_check(sitting, one) for one in gold], seed)
    for number, row in enumerate(rows, start=1):
        row.number = number
    return _insert(choosing, rows) if rows else []


class _Choosing:
    """Choosing for one sitting. Overdue sittings of others are released at most once.

    A second release would lock sittings while those of the first are still locked, and so break the
    locking order.
    """

    def __init__(self, sitting: models.Sitting) -> None:
        self.sitting = sitting
        self._has_expired = False

    def choose(self, wanted: int, images: Collection[int]) -> list[Choice]:
        """Choose this many questions, about images that are new to the sitting if possible."""
        if not wanted:
            return []
        chosen = self._choose(wanted, images)
        if len(chosen) == wanted or self._has_expired:
            return chosen
        self._has_expired = True
        leases_expire()
        # Even if there was nothing to release: another process may have done it while we waited.
        return self._choose(wanted, images)

    def _choose(self, wanted: int, images: Collection[int]) -> list[Choice]:
        sitting = self.sitting
        stage = Stage(sitting.stage)
        return questions_choose(sitting.campaign, stage, sitting.known_worker, wanted, images)


def _lease(sitting: models.Sitting, choice: Choice, number: int = 0) -> models.SittingQuestion:
    return models.SittingQuestion(
        sitting=sitting,
        number=number,
        image_id=choice.image_id,
        key=choice.question.key,
        shown=encode_shown(shown(choice.state, choice.question)),
    )


def _check(sitting: models.Sitting, gold: models.GoldQuestion) -> models.SittingQuestion:
    return models.SittingQuestion(
        sitting=sitting,
        image_id=gold.image_id,
        gold=gold,
        checked_worker=sitting.known_worker,
        shown=encode_shown(gold.gold.shown),
    )


def _insert(
    choosing: _Choosing, rows: Sequence[models.SittingQuestion]
) -> list[models.SittingQuestion]:
    """Put questions into a sitting; replace those that another sitting got meanwhile."""
    sitting = choosing.sitting
    questions: list[models.SittingQuestion] = []
    for _ in range(TRIES):
        # In one fixed order: two simultaneous inserts wait for each other at most once.
        models.SittingQuestion.objects.bulk_create(
            sorted(rows, key=lambda row: (row.image_id, row.key)), ignore_conflicts=True
        )
        questions = sitting_questions(sitting)
        # A gold question that the worker just got in another sitting is not replaced.
        leased = {(question.image_id, question.key) for question in questions}
        lost = [row.number for row in rows if row.key and (row.image_id, row.key) not in leased]
        chosen = choosing.choose(len(lost), {question.image_id for question in questions})
        if not chosen:
            break
        # At the end, workers would know that these are not gold questions.
        rows = [
            _lease(sitting, choice, number) for choice, number in zip(chosen, lost, strict=False)
        ]
    return questions


def leases_release(*, sitting: models.Sitting, now: datetime) -> None:
    """Give all questions of a sitting back."""
    sitting.questions.filter(released_at=None).update(released_at=now)


@transaction.atomic
def sittings_lapse(*, sittings: QuerySet[models.Sitting]) -> int:
    """End open sittings and give their questions back; return how many there were.

    Sittings are locked before their questions, in one order, as everywhere: nobody deadlocks.
    """
    numbers = list(
        sittings.filter(status=SittingStatus.OPEN)
        .order_by("pk")
        .select_for_update(of=("self",))
        .values_list("pk", flat=True)
    )
    if numbers:
        models.Sitting.objects.filter(pk__in=numbers).update(status=SittingStatus.LAPSED)
        models.SittingQuestion.objects.filter(sitting__in=numbers, released_at=None).update(
            released_at=database_now()
        )
    return len(numbers)


@transaction.atomic
def leases_expire() -> int:
    """Release overdue sittings; return how many there were.

    Called by the sweeper, and by a sitting that finds too few questions.
    """
    now = database_now()
    held = models.SittingQuestion.objects.filter(released_at=None)
    # Finished ones too: the platform has not confirmed them in time. If it still does, their
    # answers are recorded all the same and count unless somebody else was quicker.
    over = list(
        models.Sitting.objects.filter(
            kind=SittingKind.WORK, confirmed_at=None, until__lte=now, pk__in=held.values("sitting")
        )
        .exclude(status=SittingStatus.LAPSED)
        .order_by("pk")
        .select_for_update()
        .values_list("pk", flat=True)
    )
    if over:
        models.Sitting.objects.filter(pk__in=over, status=SittingStatus.OPEN).update(
            status=SittingStatus.LAPSED
        )
        held.filter(sitting__in=over).update(released_at=now)
    return len(over)
