"""manage.py campaign_resume: publish HITs again."""

from annotation.management.supply_commands import SupplyCommand
from annotation.models import SupplyStatus


class Command(SupplyCommand):
    status = SupplyStatus.RUNNING
    help = (
        "Publish HITs of a paused or drained campaign again, as many as its open "
        "questions justify. With --stage, only some stages are resumed."
    )
