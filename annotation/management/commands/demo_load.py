"""manage.py demo_load: the demo campaign, worked on by the simulated crowd."""

from pathlib import Path
from typing import Any

from django.core.management import call_command

import annotation
from annotation.management.database import DatabaseCommand
from annotation.models import GoldQuestion, Guide, Image

DEMO = Path(annotation.__file__).parent / "demo"
CAMPAIGN = "demo"
# Of an image and answer: two, as elsewhere, would be too few of ten photos for a launch.
GOLD_PER_IMAGE = 6


class Command(DatabaseCommand):
    help = (
        "Load the demo campaign: ten photos with five captions each. A simulated crowd works on "
        "it until nothing is left to ask. With it come guides: examples and test questions for "
        "every stage, and verification questions made of the answer key. Doing it again changes "
        "nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        if Image.objects.filter(campaign__name=CAMPAIGN).exists():
            self.stdout.write("The demo campaign is there already.")
            # It may be from before there were guides or verification questions; what somebody
            # has edited or retired stays.
            if not Guide.objects.filter(campaign__name=CAMPAIGN).exists():
                self._guides()
            if not GoldQuestion.objects.filter(campaign__name=CAMPAIGN).exists():
                self._gold()
            return
        call_command(
            "corpus_import",
            DEMO,
            campaign=CAMPAIGN,
            images=DEMO / "photos",
            gold=True,
            stdout=self.stdout,
        )
        self._guides()
        self._gold()
        call_command("crowd_simulate", campaign=CAMPAIGN, seed=1, stdout=self.stdout)

    def _guides(self) -> None:
        call_command("guides_import", DEMO / "guides", campaign=CAMPAIGN, stdout=self.stdout)

    def _gold(self) -> None:
        call_command(
            "gold_make",
            campaign=CAMPAIGN,
            from_answer_key=True,
            per_image=GOLD_PER_IMAGE,
            stdout=self.stdout,
        )
