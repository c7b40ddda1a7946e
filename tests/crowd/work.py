"""A campaign with gold questions, and workers at its HITs, for tests of the requester."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.gold.gold_questions import gold_store
from annotation.actions.work.answers import sitting_finish
from annotation.actions.work.confirmations import Submitted, assignment_confirm
from annotation.actions.work.sittings import sitting_open
from annotation.hits.presentation import form_fields
from annotation.models import AssignmentStatus
from annotation.pipeline.gold.gold_question import Gold
from annotation.pipeline.protocol.questions import NO, YES, Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.pipeline.trust.standing import Trust
from annotation.pipeline.work.answers import Answer
from annotation.pipeline.work.display import Mark, Shown
from annotation.selectors.work.sittings import Claim
from common.clock import database_now
from tests.offers import offered, trusted
from tests.web.campaigns import small_campaign
from tests.web.work.task_pages import agree, an_answer, claim_of


def checked_campaign(
    folder: Path, images: int = 12, crowd: CrowdSettings | None = None
) -> models.Campaign:
    """Make a campaign whose Links stage has two gold questions an image.

    Who is trusted gets none of them, which would come by lot, unless `crowd` says otherwise.
    """
    names = [f"image-{number}" for number in range(images)]
    campaign = small_campaign(folder, names)
    gold_store(
        campaign=campaign,
        golds=[link_gold(name, answer) for name in names for answer in (YES, NO)],
    )
    campaign_settings_change(campaign=campaign, crowd=crowd or CrowdSettings(check_share=0.0))
    return models.Campaign.objects.select_related("current_settings").get(pk=campaign.pk)


def link_gold(image: str, answer: str) -> Gold:
    """A question about two phrases; which token ends the first tells the answers apart."""
    end = {YES: 2, NO: 3}[answer]
    shown = Shown((1, 2), (Mark(1, 1, 0, end, 1), Mark(3, 2, 0, 2, 2)))
    return Gold(stage=Stage.LINKS, image=image, shown=shown, answer=answer)


def right_answers(sitting: models.Sitting, wrong: Sequence[int] = ()) -> dict[int, Answer]:
    """Answer gold questions rightly, but for the numbers in `wrong`; others yes."""
    stage = Stage(sitting.stage)
    answers = {}
    for row in sitting.questions.select_related("gold").filter(released_at=None):
        answer = an_answer(stage)
        if row.gold is not None:
            known = row.gold.answer
            other = NO if known == YES else YES
            answer = Answer(answer=other if row.number in wrong else known, milliseconds=900)
        answers[row.number] = answer
    return answers


def sit(claim: Claim) -> models.Sitting:
    """Open a sitting that is there to be had; trust is whatever it was."""
    sitting = sitting_open(claim=claim).sitting
    assert sitting is not None
    return sitting


def submitted(
    claim: Claim, sitting: models.Sitting | None = None, at: datetime | None = None
) -> Submitted:
    """Return the marketplace's answer after the form was sent."""
    fields = form_fields(sitting) if sitting else {}
    return Submitted(
        assignment_id=claim.assignment_id,
        worker=claim.worker,
        status=AssignmentStatus.SUBMITTED,
        submitted_at=at or database_now(),
        fields=fields,
    )


def hit_of(claim: Claim) -> models.Hit:
    return models.Hit.objects.select_related("campaign__current_settings").get(hit_id=claim.hit_id)


def work(claim: Claim, answers: dict[int, Answer] | None = None, wrong: int = 0) -> models.Sitting:
    """One sitting from opening to confirmation, the first `wrong` checks answered wrongly."""
    sitting = sit(claim)
    if answers is None:
        checks = sitting.questions.filter(gold__isnull=False).order_by("number")
        answers = right_answers(sitting, list(checks.values_list("number", flat=True)[:wrong]))
    finished = sitting_finish(claim=claim, answers=answers)
    assignment_confirm(hit=hit_of(claim), submitted=submitted(claim, finished))
    finished.refresh_from_db()
    return finished


def turn(campaign: models.Campaign, worker: str, number: int, stage: Stage = Stage.LINKS) -> Claim:
    """Return the claim of a worker's next sitting, at a HIT of its own."""
    hit_id = f"HIT-{worker}-{stage.value}-{number}"
    offered(campaign, stage, hit_id, places=1)
    return claim_of(campaign, stage, worker, assignment_id=f"of-{hit_id}", hit_id=hit_id)


def newcomer(campaign: models.Campaign, name: str, stage: Stage = Stage.LINKS) -> Claim:
    """A worker who has agreed, and is on probation at the stage."""
    claim = turn(campaign, name, 0, stage)
    agree(claim)
    models.WorkerStanding.objects.filter(worker__name=name).delete()
    trusted(campaign, name, stage, Trust.PROBATION)
    return claim
