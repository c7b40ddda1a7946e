"""manage.py image_withdraw: remove an image's photo and captions and leave a tombstone."""

import argparse
from typing import Any

from django.core.management.base import CommandError

from annotation.actions.corpus.images import image_withdraw
from annotation.management.campaigns import campaign_named
from annotation.management.database import DatabaseCommand
from annotation.models import Image


class Command(DatabaseCommand):
    help = (
        "Withdraw images (rights, privacy): remove their photos and captions for good, and ask "
        "nothing more about them. Their facts stay, so that they can be counted. "
        "This cannot be undone."
    )

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("names", nargs="+", metavar="IMAGE")
        parser.add_argument("--campaign", required=True, metavar="NAME")
        parser.add_argument("--reason", required=True, help="kept with the tombstone")

    def handle(self, *args: Any, **options: Any) -> None:
        campaign = campaign_named(options["campaign"])
        images = list(Image.objects.filter(campaign=campaign, name__in=options["names"]))
        unknown = sorted(set(options["names"]) - {image.name for image in images})
        if unknown:
            raise CommandError(
                f"Campaign {campaign.name!r} has no image {', '.join(unknown)}. Nothing was done."
            )
        for image in images:
            image_withdraw(image=image, reason=options["reason"])
            self.stdout.write(f"{image.name} withdrawn")
