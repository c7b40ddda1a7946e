"""Workers at task pages, for tests: claims, consent and answers."""

from typing import Any

from msgspec.structs import replace

from annotation import models
from annotation.actions.work.sittings import consent_give, sitting_open
from annotation.models import SittingKind
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.stage_spec import spec_of
from annotation.pipeline.work.answers import Answer
from annotation.selectors.work.guides import consent_guide
from annotation.selectors.work.sittings import Claim
from tests.acceptances import accepted
from tests.offers import offered, trusted

LINKS_TEST = """
[[test]]
image = "first"
captions = [{ number = 1, phrases = ["a man"] }, { number = 2, phrases = ["the guy"] }]
answer = "yes"
why = "There is one man."

[[test]]
image = "second"
captions = [{ number = 1, phrases = ["a horse"] }, { number = 2, phrases = ["the guy"] }]
answer = "no"
why = "A horse is no guy."
"""
LINKS_EXAMPLES = LINKS_TEST.replace("[[test]]", "[[examples]]")
BOX = Rect(5, 6, 24, 35)


def claim_of(
    campaign: models.Campaign,
    stage: Stage = Stage.LINKS,
    worker: str = "A1",
    **changes: Any,
) -> Claim:
    """Return a worker's claim on a HIT of ours, which they have accepted."""
    kind = changes.get("kind", SittingKind.WORK)
    fields = {
        "kind": kind,
        "assignment_id": f"of-{worker}",
        "hit_id": f"HIT-{campaign.pk}-{stage.value}-{kind}",
        "acceptance": accepted(),
    } | changes
    offered(campaign, stage, fields["hit_id"], kind)
    return Claim(campaign=campaign.pk, stage=stage, worker=worker, **fields)


def agree(claim: Claim) -> None:
    """Let the claim's worker agree to the consent text as it is, and be trusted to work."""
    campaign = models.Campaign.objects.get(pk=claim.campaign)
    row = consent_guide(campaign).row
    consent_give(claim=claim, version=row.version if row else 1)
    if claim.kind == SittingKind.WORK:
        for stage in Stage:
            trusted(campaign, claim.worker, stage)


def opened(claim: Claim) -> models.Sitting:
    """Open a sitting that is there to be had."""
    agree(claim)
    sitting = sitting_open(claim=claim).sitting
    assert sitting is not None
    return sitting


def an_answer(stage: Stage, **changes: Any) -> Answer:
    """Return the first answer of a stage, with all its required parts."""
    answer = Answer(answer=spec_of(stage).answers[0], milliseconds=1500)
    if stage is Stage.DRAWING:
        answer = replace(answer, rect=BOX, way="drag")
    return replace(answer, **changes)


def all_answers(sitting: models.Sitting, **changes: Any) -> dict[int, Answer]:
    return {
        question.number: an_answer(Stage(sitting.stage), **changes)
        for question in sitting.questions.filter(released_at=None)
    }


def keys(sitting: models.Sitting) -> list[tuple[int, str]]:
    """Return the questions of a sitting, as (image, key)."""
    live = sitting.questions.filter(released_at=None)
    return list(live.order_by("number").values_list("image_id", "key"))
