"""manage.py campaign_drain: add no HITs, and let the rest be worked off."""

from annotation.management.supply_commands import SupplyCommand
from annotation.models import SupplyStatus


class Command(SupplyCommand):
    status = SupplyStatus.DRAINING
    help = (
        "Publish no more HITs of a launched campaign, until campaign_resume. Those that wait stay, "
        "as far as they are needed, and are worked off: good for the end of a day. With --stage "
        "only some stages are drained."
    )
