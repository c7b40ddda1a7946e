"""Questions that no active worker may answer: marked, and sent to review after a while."""

from collections.abc import Collection
from datetime import datetime, timedelta

import msgspec
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from annotation import models
from annotation.actions.protocol.facts import decision_record, state_lock
from annotation.pipeline.engine import open_questions
from annotation.pipeline.protocol.facts import FactRefusedError, SendTo, Target
from annotation.pipeline.protocol.independence import may_answer
from annotation.pipeline.protocol.questions import Question, Stage, question_from_key
from annotation.pipeline.protocol.state import NOBODY, ImageState
from annotation.pipeline.review.doubts import chains_concerned
from annotation.selectors.work.starved_questions import (
    judges_of,
    questions_starved_since,
    questions_suspect,
    workers_active,
)
from common.clock import database_now

STARVED = "no qualified worker may answer its question"
# Each goes through the write path separately.
REVIEWS_AT_ONCE = 50


class Starved(msgspec.Struct, frozen=True):
    """How many questions were marked or freed, and how many chains went to review."""

    marked: int = 0
    freed: int = 0
    reviewed: int = 0


def starving_mark(*, campaign: models.Campaign, most: int = 1000) -> Starved:
    """Mark questions that no active, qualified worker may answer, and free those that one may.

    If nobody is qualified, there is nobody to wait for, and nothing is marked. A question that has
    starved for as long as the settings say goes to review.
    """
    now = database_now()
    active = workers_active(campaign, now)
    rows = [
        row
        for stage, workers in active.items()
        for row in questions_suspect(campaign, stage, workers, most)
    ]
    judges = judges_of(rows)
    starved: list[int] = []
    fed: list[int] = []
    for row in rows:
        question, state = question_from_key(row.key), row.image.stored_state.state
        workers = active[question.stage] - judges[row.image_id, row.key]
        (fed if _anybody(state, question, workers) else starved).append(row.pk)
    questions = models.OpenQuestion.objects.filter(campaign=campaign)
    unqualified = Q(starved_at__isnull=False) & ~Q(stage__in=[stage.value for stage in active])
    return Starved(
        marked=questions.filter(pk__in=starved, starved_at=None).update(starved_at=Now()),
        freed=questions.filter(Q(pk__in=fed, starved_at__isnull=False) | unqualified).update(
            starved_at=None
        ),
        reviewed=_review(campaign, active, now),
    )


def _anybody(state: ImageState, question: Question, workers: Collection[int]) -> bool:
    return any(may_answer(state, question, worker) for worker in workers)


def _review(campaign: models.Campaign, active: dict[Stage, set[int]], now: datetime) -> int:
    hours = campaign.settings.crowd.starved_hours
    rows = questions_starved_since(campaign, now - timedelta(hours=hours))
    return sum(_send(row, active) for row in rows[:REVIEWS_AT_ONCE])


@transaction.atomic
def _send(row: models.OpenQuestion, active: dict[Stage, set[int]]) -> bool:
    """Send the question's chain to review, unless its state has changed meanwhile."""
    question = question_from_key(row.key)
    try:
        state = state_lock(row.image_id).state
    except FactRefusedError:  # it was withdrawn
        return False
    workers = active.get(question.stage, set()) - judges_of([row])[row.image_id, row.key]
    if question not in open_questions(state) or _anybody(state, question, workers):
        return False
    chains = chains_concerned(state, question)
    if not chains:
        return False
    decision = SendTo(reviewer=NOBODY, chain=chains[0].number, target=Target.REVIEW, reason=STARVED)
    decision_record(image_id=row.image_id, decision=decision)
    return True
