"""Sharing the pass over the training pairs: its parts go to other workers, and come back as files.

Who runs the experiment writes down how captions are encoded, asks for the parts, and takes them up
in their order. What nobody makes it makes itself.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path

import msgspec

from annotation.pipeline.release.folder import read_sentences
from common.clock import CLOCK_TOLERANCE_SECONDS
from grounding.pipeline.embedding.covariances import Covariances
from grounding.pipeline.store.claims import tidy_folders
from grounding.pipeline.store.features import FeatureKey, FeatureKind, FeatureStore, opened
from grounding.pipeline.text.features import TextEncoder
from grounding.pipeline.vision.photos import Photo
from grounding.recipes.image_sentence import Split, gather_pairs

# Where the parts of a pass are, in the store's folder, and what captions are encoded by.
PASS, ENCODER = "pass-", "encoder.npz"
# A runner that has given no sign for so long waits no more. It gives one by touching the encoder.
# The clocks of two machines may be apart.
SILENT_SECONDS = 600 + CLOCK_TOLERANCE_SECONDS


class PassPart(msgspec.Struct, frozen=True):
    """A part of the pass over the training pairs, for another worker. Can be sent as JSON.

    `images` are ids with the SHA-256 of the photo, by which its feature is found in the store of
    `kind`; `encoder` and `made` are files: what captions are encoded by, and where the part's
    covariances go.
    """

    release: str
    store: str
    kind: FeatureKind
    images: tuple[tuple[str, str], ...]
    encoder: str
    made: str


# Told the parts of a pass, whose encoder is written; yields whether each is made, in their order.
SharePass = Callable[[Sequence[PassPart]], Iterator[bool]]


def shared_pass(
    release: str,
    store: FeatureStore,
    photos: Mapping[str, Photo],
    share_pass: SharePass | None,
    parts: Sequence[Split],
    encoder: TextEncoder,
) -> Iterator[Covariances | None]:
    """Yield the parts of a pass that others make; their files are only there on the way."""
    if share_pass is None or len(parts) < 2:
        yield from repeat(None)
        return
    tidy_folders(store.root, PASS)
    # Somebody may still write into it when we are done with it: then it goes another day.
    with tempfile.TemporaryDirectory(
        prefix=PASS, dir=store.root, ignore_cleanup_errors=True
    ) as name:
        folder = Path(name)
        encoder.write(folder / ENCODER)
        wanted = [
            PassPart(
                release=release,
                store=str(store.root),
                kind=store.kind,
                images=tuple((image, photos[image].sha256) for image in part.images),
                encoder=str(folder / ENCODER),
                made=str(folder / f"{number}.npz"),
            )
            for number, part in enumerate(parts)
        ]
        for part, is_made in zip(wanted, share_pass(wanted), strict=True):
            yield Covariances.read(part.made) if is_made else None
            # One of them is a gigabyte at the paper's size.
            Path(part.made).unlink(missing_ok=True)


def part_gather(part: PassPart) -> None:
    """Make a part of a pass for whoever asked for it, unless it is there or nobody waits for it."""
    made = Path(part.made)
    if made.exists() or not is_awaited(part):
        return
    captions = {
        image: [sentence.tokens for sentence in read_sentences(Path(part.release), image)]
        for image, _ in part.images
    }
    hashes = dict(part.images)
    store = opened(Path(part.store), part.kind)
    found = gather_pairs(
        Split(tuple(hashes), captions),
        lambda images: store.read([FeatureKey(hashes[image], None) for image in images]),
        TextEncoder.read(part.encoder),
    )
    if is_awaited(part):
        found.write(made)


def is_awaited(part: PassPart) -> bool:
    """Tell whether somebody still waits for the part: its encoder is there and was touched."""
    try:
        return time.time() - Path(part.encoder).stat().st_mtime < SILENT_SECONDS
    except FileNotFoundError:
        return False
