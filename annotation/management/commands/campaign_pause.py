"""manage.py campaign_pause: take back the HITs that nobody has accepted."""

from annotation.management.supply_commands import SupplyCommand
from annotation.models import SupplyStatus


class Command(SupplyCommand):
    status = SupplyStatus.PAUSED
    help = (
        "Take back every HIT of a launched campaign that no worker has accepted, and publish none, "
        "until campaign_resume. Workers can finish the HITs they have accepted, which are counted "
        "and paid. With --stage, only some stages are paused."
    )
