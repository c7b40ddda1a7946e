"""Keeping gold questions good and numerous, by how workers answer them."""

from collections.abc import Collection
from secrets import token_hex

import msgspec
from django.db.models.functions import Now

from annotation import models
from annotation.actions.gold.gold_questions import gold_make
from annotation.actions.gold.maker import Counts
from annotation.models import SupplyStatus
from annotation.pipeline.gold.gold_question import GoldAnswer, is_disputed, is_leaked
from annotation.pipeline.gold.upkeep import still_holds, wanted_per_answer
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES, spec_of
from annotation.selectors.gold.gold_questions import gold_available
from annotation.selectors.gold.upkeep import (
    gold_answered,
    gold_most_seen,
    gold_runs,
    gold_shaken,
)

LEAKED = "leaked"
DISPUTED = "disputed"
OUTDATED = "no longer sure"
# New ones are made from this many random images in one run; the next run comes soon.
TOP_UP_IMAGES = 100


class Reviewed(msgspec.Struct, frozen=True):
    """How many were retired and why, and which were made because there were too few."""

    leaked: int
    disputed: int
    outdated: int
    added: Counts


def gold_review(*, campaign: models.Campaign) -> Reviewed:
    """Retire leaked, disputed or no longer sure questions; make more for stages that run low.

    In a constant few statements, however many workers and questions there are.
    """
    crowd = campaign.settings.crowd
    leaked, disputed = _by_answers(campaign, crowd)
    outdated = [
        row.pk
        for row in gold_shaken(campaign)
        if not still_holds(row.gold, row.image.stored_state.state)
    ]
    return Reviewed(
        disputed=_retire(disputed, DISPUTED),
        leaked=_retire(leaked, LEAKED),
        outdated=_retire(outdated, OUTDATED),
        added=gold_top_up(campaign=campaign),
    )


def gold_top_up(*, campaign: models.Campaign) -> Counts:
    """Make gold questions for launched stages in which some answer has too few."""
    supplies = models.StageSupply.objects.filter(campaign=campaign)
    launched = set(supplies.exclude(status=SupplyStatus.PAUSED).values_list("stage", flat=True))
    stages = [stage for stage in GOLD_STAGES if stage.value in launched]
    if not stages:
        return {}
    needed = campaign.settings.crowd.gold_needed
    available, seen = gold_available(campaign), gold_most_seen(campaign)
    wanted = {
        stage: wanted_per_answer(needed, seen.get(stage, 0), len(spec_of(stage).answers))
        for stage in stages
    }
    low = {
        stage: count
        for stage, count in wanted.items()
        if any(available.get(stage, {}).get(answer, 0) < count for answer in spec_of(stage).answers)
    }
    if not low:
        return {}
    return gold_make(
        campaign=campaign,
        stages=low,
        most_per_answer=max(low.values()),
        most_images=TOP_UP_IMAGES,
        lot=token_hex(8),
    )


def _by_answers(campaign: models.Campaign, crowd: CrowdSettings) -> tuple[list[int], list[int]]:
    disputed: list[int] = []
    often: list[int] = []
    for answered in gold_answered(campaign):
        answers = [GoldAnswer(right=True, accuracy=1)] * answered.right
        answers += [GoldAnswer(right=False, accuracy=1)] * answered.wrong
        if is_disputed(answers):
            disputed.append(answered.gold)
        elif answered.right >= crowd.gold_leak_answers:
            often.append(answered.gold)
    runs = gold_runs(campaign, often)
    return [gold for gold in often if is_leaked(runs.get(gold, []), crowd)], disputed


def _retire(golds: Collection[int], reason: str) -> int:
    if not golds:
        return 0
    return models.GoldQuestion.objects.filter(pk__in=golds, retired_at=None).update(
        retired_at=Now(), retired_reason=reason
    )
