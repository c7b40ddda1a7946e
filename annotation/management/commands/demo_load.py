"""manage.py demo_load: the demo campaign, worked on by the simulated crowd."""

from pathlib import Path
from typing import Any

from django.core.management import call_command

import annotation
from annotation.management.database import DatabaseCommand
from annotation.models import Image

DEMO = Path(annotation.__file__).parent / "demo"
CAMPAIGN = "demo"


class Command(DatabaseCommand):
    help = (
        "Load the demo campaign: ten photos with five captions each. A simulated crowd works on "
        "it until nothing is left to ask. Doing it again changes nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if Image.objects.filter(campaign__name=CAMPAIGN).exists():
            self.stdout.write("The demo campaign is there already.")
            return
        call_command(
            "corpus_import",
            DEMO,
            campaign=CAMPAIGN,
            images=DEMO / "photos",
            gold=True,
            stdout=self.stdout,
        )
        call_command("crowd_simulate", campaign=CAMPAIGN, seed=1, stdout=self.stdout)
