"""manage.py campaign_pause: nobody begins a HIT any more."""

from annotation.management.supply_commands import SupplyCommand
from annotation.models import SupplyStatus


class Command(SupplyCommand):
    status = SupplyStatus.PAUSED
    help = (
        "Take back every HIT of a launched campaign that waits for a worker, and publish none, "
        "until campaign_resume. What workers have accepted goes on: they can finish it, and it is "
        "counted and paid. With --stage only some stages are paused."
    )
