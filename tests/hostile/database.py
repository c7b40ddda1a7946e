"""An empty database in memory, which forks inherit, with one campaign in it."""

from django.core.management import call_command

from annotation.actions.campaign.campaigns import campaign_create
from tests.hostile.readers import CAMPAIGN


def prepare_campaign() -> None:
    call_command("migrate", verbosity=0)
    campaign_create(name=CAMPAIGN)
