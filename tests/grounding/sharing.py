"""An order carried out beside real workers, as a process: python -m tests.grounding.sharing.

Prints how many shards were left to do when the workers had done theirs.
"""

import os
import sys
from collections.abc import Sequence

import django
import msgspec


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from grounding.pipeline.plans import Shard
    from grounding.running import Order, network_of, run_order
    from grounding.tasks import shards_share

    order = msgspec.json.decode(sys.argv[1], type=Order)

    def share(shards: Sequence[Shard]) -> None:
        shards_share(order, shards, lambda what, done, total: None)
        _, store = network_of(order)
        left = [shard for shard in shards if not store.shard_path(shard.name).exists()]
        print(f"{len(left)} of {len(shards)} left")

    run_order(order, share=share)


if __name__ == "__main__":
    main()
