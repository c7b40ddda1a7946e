"""Sharing the pass over the training pairs with other workers.

The worker that runs the experiment writes the encoder of the texts and the pairs of each part to
files, asks for the parts, and adds them up in their order. It gathers the remaining parts itself.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import repeat
from pathlib import Path

import msgspec

from common.clock import CLOCK_TOLERANCE_SECONDS
from common.files.whole import write_bytes
from grounding.pipeline.embedding.covariances import Covariances
from grounding.pipeline.embedding.training_pass import Pairs, gather_pairs
from grounding.pipeline.store.claims import tidy_folders
from grounding.pipeline.store.features import FeatureKey, FeatureKind, FeatureStore, opened
from grounding.pipeline.text.features import TextEncoder

# The parts of a pass are in a folder of this prefix in the store, beside the encoder's file.
PASS, ENCODER = "pass-", "encoder.npz"
# A worker that waits for parts touches the encoder's file. If it has not done so for this long,
# it waits no more. The clocks of two machines may differ.
SILENT_SECONDS = 600 + CLOCK_TOLERANCE_SECONDS

_PairsFile = tuple[list[FeatureKey], list[list[tuple[str, ...]]]]


class PassPart(msgspec.Struct, frozen=True):
    """A part of the pass over the training pairs, for another worker. Can be sent as JSON.

    `pairs` is a file with the keys of `items` images or regions in the store of `kind`, and their
    texts; `encoder` is the file that encodes texts; the part's covariances go to the file `made`.
    """

    store: str
    kind: FeatureKind
    pairs: str
    items: int
    encoder: str
    made: str


# Given the parts of a pass, yields for each in order whether another worker has gathered it.
SharePass = Callable[[Sequence[PassPart]], Iterator[bool]]


def shared_pass(
    store: FeatureStore,
    share_pass: SharePass | None,
    parts: Sequence[Pairs[FeatureKey]],
    encoder: TextEncoder,
) -> Iterator[Covariances | None]:
    """Yield the covariances of each part that others gather; their files exist only meanwhile."""
    if share_pass is None or len(parts) < 2:
        yield from repeat(None)
        return
    tidy_folders(store.root, PASS)
    # A slow worker may still write into the folder at the end; then it is tidied up another day.
    with tempfile.TemporaryDirectory(
        prefix=PASS, dir=store.root, ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        encoder.write(folder / ENCODER)
        wanted = []
        for number, pairs in enumerate(parts):
            file = folder / f"{number}.json"
            write_bytes(file, [msgspec.json.encode(pairs)], sync=False)
            wanted.append(
                PassPart(
                    store=str(store.root),
                    kind=store.kind,
                    pairs=str(file),
                    items=len(pairs.keys),
                    encoder=str(folder / ENCODER),
                    made=str(folder / f"{number}.npz"),
                )
            )
        for part, is_made in zip(wanted, share_pass(wanted), strict=True):
            yield Covariances.read(part.made) if is_made else None
            # At the paper's size each of these files has a gigabyte.
            Path(part.made).unlink(missing_ok=True)


def part_gather(part: PassPart) -> None:
    """Gather a part of a pass, unless it is there already or nobody waits for it."""
    made = Path(part.made)
    if made.exists() or not is_awaited(part):
        return
    keys, texts = msgspec.json.decode(Path(part.pairs).read_bytes(), type=_PairsFile)
    store = opened(Path(part.store), part.kind)
    found = gather_pairs(Pairs(keys, texts), store.read, TextEncoder.read(part.encoder))
    if is_awaited(part):
        found.write(made)


def is_awaited(part: PassPart) -> bool:
    """Tell whether a worker still waits for the part: it keeps touching the encoder's file."""
    try:
        return time.time() - Path(part.encoder).stat().st_mtime < SILENT_SECONDS
    except FileNotFoundError:
        return False
