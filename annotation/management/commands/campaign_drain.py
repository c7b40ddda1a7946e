"""manage.py campaign_drain: publish no more HITs, and let workers finish the rest."""

from annotation.management.supply_commands import SupplyCommand
from annotation.models import SupplyStatus


class Command(SupplyCommand):
    status = SupplyStatus.DRAINING
    help = (
        "Publish no more HITs of a launched campaign until campaign_resume. HITs that still wait "
        "for workers stay, as far as they are needed, so that the work under way can be completed. "
        "With --stage, only some stages are drained."
    )
