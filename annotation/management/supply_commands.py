"""Code that campaign_pause, campaign_resume and campaign_drain share."""

import argparse
from typing import Any, ClassVar

from django.core.management.base import CommandError

from annotation.actions.crowd.supply import SupplyError, supply_set
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.models import SupplyStatus
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.crowd.supply import stage_supplies


class SupplyCommand(DatabaseCommand):
    """Changes the status of stages of a launched campaign."""

    status: ClassVar[SupplyStatus]

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument(
            "--stage",
            action="append",
            choices=[stage.value for stage in Stage],
            metavar="STAGE",
            help=f"only this stage, one of {', '.join(stage.value for stage in Stage)}; "
            "can be repeated (default: all)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        stages = [Stage(value) for value in options["stage"] or [stage.value for stage in Stage]]
        try:
            changes = supply_set(campaign=campaign, stages=stages, status=self.status)
        except SupplyError as error:
            raise CommandError(f"{error}.") from error
        self.stdout.write(
            f"{'stage':<14}{'status':<10}{'published':>10}{'taken back':>12}{'at work':>9}"
        )
        for row in stage_supplies(campaign):
            change = changes[row.stage]
            self.stdout.write(
                f"{row.stage.value:<14}{row.status or '-':<10}{change.publish:>10,}"
                f"{change.take_back:>12,}{row.at_work:>9,}"
            )
