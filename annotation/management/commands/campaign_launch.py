"""manage.py campaign_launch: check that nothing is missing, and begin to publish HITs."""

import argparse
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.campaign.launch import LaunchRefusedError, campaign_launch
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.selectors.campaign.launch import launch_checks
from annotation.selectors.crowd.supply import stage_supplies


class Command(DatabaseCommand):
    help = (
        "Check that a campaign has everything that workers need: photos, tests, a consent text, "
        "gold questions, a budget and a marketplace. Then begin to publish HITs of all stages. If "
        "anything is missing, nothing is published, and each problem is printed with its remedy. "
        "To see what the campaign will cost, run campaign_estimate. See docs/trust.md."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--dry-run", action="store_true", help="check only, publish nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        if campaign.supplies.exists():
            raise CommandError(
                f"{campaign.name!r} is already launched. Use campaign_pause, campaign_drain or "
                "campaign_resume."
            )
        checks = launch_checks(campaign)
        for check in checks:
            self.stdout.write(f"{'ok ' if check.is_fine else 'NO '} {check.what}: {check.found}")
            for problem in check.problems:
                self.stdout.write(f"      {problem}")
            for fix in check.fixes:
                self.stdout.write(f"      → {fix}")
        lacking = sum(len(check.problems) for check in checks)
        if lacking:
            problems = "1 problem" if lacking == 1 else f"{lacking} problems"
            raise CommandError(f"{problems}: {campaign.name!r} is not launched.")
        if options["dry_run"]:
            self.stdout.write("The campaign is ready to launch. Nothing was published (--dry-run).")
            return
        try:
            campaign_launch(campaign=campaign)
        except LaunchRefusedError as error:
            raise CommandError(f"{campaign.name!r} is not launched: {error}.") from error
        rows = stage_supplies(campaign)
        hits = ", ".join(f"{row.stage.value} {row.creating}" for row in rows if row.creating)
        self.stdout.write(
            f"{campaign.name!r} is launched. HITs being published: {hits or 'none yet'}."
        )
