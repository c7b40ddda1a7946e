"""manage.py demo_load: the demo campaign, worked on by the simulated crowd."""

from io import StringIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command

import annotation
from annotation.crowd.client import is_configured
from annotation.management.database import DatabaseCommand
from annotation.models import Fact, GoldQuestion, Guide, Image, StageSupply

DEMO = Path(annotation.__file__).parent / "demo"
CAMPAIGN = "demo"
# The same photos again, for people to try the tasks on.
OPEN_CAMPAIGN = "try it"
# For each image and answer. Two, as elsewhere, would be too few to launch with ten photos.
GOLD_PER_IMAGE = 6
# Enough money for the whole campaign, and a probation short enough for one person.
OPEN_SETTINGS = (
    "crowd.budget_cents=20000",
    "crowd.daily_budget_cents=20000",
    "crowd.probation_items=10",
    "crowd.probation_limit=20",
    "crowd.gold_needed=20",
)


class Command(DatabaseCommand):
    help = (
        "Load the demo: ten photos with five captions each, twice. On the campaign 'demo' a "
        "simulated crowd works until nothing is left to ask. The campaign 'try it' is launched "
        "and waits for workers. Both come with guides, examples, tests and gold questions. "
        "Running it again changes nothing."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        self._load(CAMPAIGN)
        if not Fact.objects.filter(image__campaign__name=CAMPAIGN).exists():
            call_command("crowd_simulate", campaign=CAMPAIGN, seed=1, stdout=self.stdout)
        # Something to run experiments on.
        release = Path(settings.CHAINBOX_RELEASES) / CAMPAIGN
        if not release.exists():
            call_command(
                "release_build", campaign=CAMPAIGN, out=release, photos=True, stdout=self.stdout
            )
        self._load(OPEN_CAMPAIGN)
        if not StageSupply.objects.filter(campaign__name=OPEN_CAMPAIGN).exists():
            call_command(
                "campaign_settings", *OPEN_SETTINGS, campaign=OPEN_CAMPAIGN, stdout=StringIO()
            )
            # Without a marketplace, as in a container, the campaign can be launched later.
            if is_configured():
                call_command("campaign_launch", campaign=OPEN_CAMPAIGN, stdout=self.stdout)

    def _load(self, campaign: str) -> None:
        if Image.objects.filter(campaign__name=campaign).exists():
            self.stdout.write(f"The campaign {campaign!r} already exists.")
        else:
            call_command(
                "corpus_import",
                DEMO,
                campaign=campaign,
                images=DEMO / "photos",
                gold=True,
                stdout=self.stdout,
            )
        # The campaign may be older than guides and gold questions; whatever somebody has edited or
        # retired stays.
        if not Guide.objects.filter(campaign__name=campaign).exists():
            call_command("guides_import", DEMO / "guides", campaign=campaign, stdout=self.stdout)
        if not GoldQuestion.objects.filter(campaign__name=campaign).exists():
            call_command(
                "gold_make",
                campaign=campaign,
                from_answer_key=True,
                per_image=GOLD_PER_IMAGE,
                stdout=self.stdout,
            )
