"""manage.py crowd_check: compare the payments recorded here with the marketplace's."""

import argparse
import sys
from typing import Any

from django.core.management.base import CommandError

from annotation.crowd.audit import Totals, hit_differences, orphans
from annotation.crowd.client import crowd_client, dollars, is_configured
from annotation.crowd.errors import CrowdError
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.progress import with_progress
from annotation.models import CallStatus, Hit, OutboxCall


class Command(DatabaseCommand):
    help = (
        "Ask the marketplace about every HIT and compare its assignments, rewards and bonuses with "
        "those recorded here, to the cent. Changes nothing. Calls that are not sent yet, and news "
        "that has not arrived yet, show as differences. Exit status 1 if anything differs."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", metavar="NAME", help="only this one (default: all)")

    def handle(self, *args: Any, **options: Any) -> None:
        if not is_configured():
            raise CommandError(
                "No marketplace is set up. See CHAINBOX_CROWD_KEY_ID in CONTRIBUTING.md."
            )
        hits = Hit.objects.filter(hit_id__isnull=False).select_related("terms").order_by("pk")
        calls = OutboxCall.objects.filter(status__in=[CallStatus.WAITING, CallStatus.FAILED])
        if options["campaign"]:
            campaign = campaign_named(options["campaign"])
            hits, calls = hits.filter(campaign=campaign), calls.filter(campaign=campaign)
        waiting = calls.count()
        if waiting:
            self.stdout.write(
                f"{waiting:,} calls are waiting or have failed; this may cause differences below."
            )
        client = crowd_client()
        totals = Totals()
        differences = 0
        try:
            for hit in with_progress(
                hits.iterator(chunk_size=500),
                what="HITs checked",
                total=hits.count(),
                stream=sys.stderr,
            ):
                for difference in hit_differences(client, hit, totals):
                    differences += 1
                    self.stdout.write(f"HIT {hit.hit_id} (hit {hit.pk}): {difference}")
            if not options["campaign"]:
                for orphan in orphans(client):
                    differences += 1
                    self.stdout.write(orphan)
        except CrowdError as error:
            raise CommandError(f"The marketplace does not answer: {error}") from error
        paid = (
            f"{dollars(totals.their_cents)} paid there, {dollars(totals.our_cents)} recorded here"
        )
        if differences:
            raise CommandError(f"{differences:,} differences; {paid}.")
        self.stdout.write(
            f"{totals.hits:,} HITs, {totals.assignments:,} assignments: all agree; {paid}."
        )
