"""A program that runs an order beside real workers: python -m tests.grounding.shared_run.

It prints how many shards and which parts of the pass the workers left to it, then the correlations
that it found.
"""

import os
import sys
from collections.abc import Iterator, Sequence

import django
import msgspec


def main() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
    django.setup()
    from grounding.experiment import Order, network_of, run_order
    from grounding.passes import PassPart
    from grounding.pipeline.progress import silent
    from grounding.pipeline.store.plans import Shard
    from grounding.tasks import pass_share, shards_share

    order = msgspec.json.decode(sys.argv[1], type=Order)

    def share(shards: Sequence[Shard]) -> None:
        shards_share(order, shards, silent)
        _, store = network_of(order)
        left = [shard for shard in shards if not store.shard_path(shard.name).exists()]
        print(f"{len(left)} of {len(shards)} left")

    def share_pass(parts: Sequence[PassPart]) -> Iterator[bool]:
        for part, is_made in zip(parts, pass_share(parts, silent), strict=True):
            print(f"part of {part.items} images {'made' if is_made else 'left'}")
            yield is_made

    figures = run_order(order, share=share, share_pass=share_pass)
    print(msgspec.json.encode(figures.result.space.correlations.tolist()).decode())


if __name__ == "__main__":
    main()
