"""manage.py state_check: check that the state tables are what the facts fold to."""

import argparse
import sys
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.protocol.state import state_rebuild
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.management.progress import with_progress
from annotation.models import Image
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from annotation.selectors.trust.standing import standing_differences


class Command(DatabaseCommand):
    help = (
        "Rebuild every image from its facts, and every worker's standing from its events, and "
        "compare the results with what is stored. "
        "Changes nothing unless --rebuild is given. "
        "Exit status 1 if anything differs."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--campaign", metavar="NAME", help="only this one (default: all)")
        parser.add_argument(
            "--rebuild",
            action="store_true",
            help="replace images that differ with what their facts give",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        images = Image.objects.all()
        campaign = campaign_named(options["campaign"]) if options["campaign"] else None
        if campaign is not None:
            images = images.filter(campaign=campaign)
        settings = settings_by_id()
        total = images.count()
        differing = rebuilt = 0
        for image in with_progress(
            images_with_facts(images), what="images checked", total=total, stream=sys.stderr
        ):
            differences = image_differences(image, settings)
            for difference in differences:
                self.stdout.write(
                    f"image {image.name} (campaign {image.campaign_id}): {difference}"
                )
            if differences:
                differing += 1
                if options["rebuild"] and image.withdrawn_at is None:
                    state_rebuild(image_id=image.pk)
                    rebuilt += 1
        if rebuilt:
            self.stdout.write(f"{rebuilt:,} states rebuilt from their facts")
        unfounded = 0
        for difference in standing_differences(campaign):
            self.stdout.write(f"worker {difference}")
            unfounded += 1
        if differing:
            raise CommandError(f"{differing:,} of {total:,} images differ from their facts.")
        if unfounded:
            raise CommandError(f"{unfounded:,} standings differ from their events.")
        self.stdout.write(f"{total:,} images: every stored state is what its facts fold to.")
