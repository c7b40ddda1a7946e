"""Launching a campaign: from then on its questions go to workers."""

from django.db import transaction

from annotation import models
from annotation.actions.crowd.supply import hits_plan
from annotation.models import SupplyStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.campaign.launch import launch_checks
from common.waking import wake

SUPPLY_TASK = "crowd_supply"


class LaunchRefusedError(ValueError):
    """Something is missing; `problems` lists all of it in plain words."""

    def __init__(self, *problems: str) -> None:
        super().__init__("; ".join(problems))
        self.problems = problems


@transaction.atomic
def campaign_launch(*, campaign: models.Campaign) -> None:
    """Begin to publish HITs of all stages, if nothing is missing."""
    # Only one launch runs at a time, and the settings cannot change during it.
    campaign = (
        models.Campaign.objects.select_for_update(of=("self",))
        .select_related("current_settings")
        .get(pk=campaign.pk)
    )
    if campaign.supplies.exists():
        raise LaunchRefusedError("it is already launched; you can pause, drain or resume it")
    problems = [problem for check in launch_checks(campaign) for problem in check.problems]
    if problems:
        raise LaunchRefusedError(*problems)
    models.StageSupply.objects.bulk_create(
        [
            models.StageSupply(campaign=campaign, stage=stage.value, status=SupplyStatus.RUNNING)
            for stage in Stage
        ]
    )
    hits_plan(campaign=campaign)
    # Plan again for anything that has changed since.
    wake(SUPPLY_TASK)
