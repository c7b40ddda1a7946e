"""One file of features: its format, and how it is written, completely or not at all.

A shard is, in this order, all little-endian:

    32 bytes   magic, rows, refused keys, dimensions, bytes of a number, bytes of the reasons
    48 bytes   for each row and then each refused key: SHA-256 of the image, 4 × int32 of the box
               (-1, -1, -1, -1: the whole image)
    padding    up to a multiple of 64
    features   rows × dimensions, float16 or float32
    reasons    JSON list of strings, why each refused key has no feature
"""

import os
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from common.files.whole import write_bytes
from grounding.pipeline.boxes import Rect
from grounding.pipeline.errors import GroundingError

SUFFIX = ".shard"
KEY = np.dtype([("image", "V32"), ("box", "<i4", 4)])
WHOLE = (-1, -1, -1, -1)

_HEADER = struct.Struct("<8sIIIIQ")
_MAGIC = b"CHBXSHD1"
_ALIGNMENT = 64
# Keys and reasons are read as a whole. Extraction writes a few thousand rows.
_MOST_KEYS = 1_000_000
_LONGEST_REASONS = 16 << 20


class StoreError(GroundingError):
    """A feature store cannot be used; the message names it, the cause and a remedy."""


class FeatureKey(NamedTuple):
    """What a feature describes: an image, by the SHA-256 of its file, and a box or all of it."""

    image: str
    box: Rect | None


class ShardHead(NamedTuple):
    """What a shard holds, without the features. `keys` is of dtype KEY: rows, then refused."""

    rows: int
    dimensions: int
    dtype: np.dtype[Any]
    keys: NDArray[np.void]
    reasons: tuple[str, ...]
    features_at: int


def packed_keys(keys: Sequence[FeatureKey]) -> NDArray[np.void]:
    """Return the keys as the files hold them: an array (len(keys),) of dtype KEY."""
    packed = np.zeros(len(keys), dtype=KEY)
    hashes = b"".join(bytes.fromhex(key.image) for key in keys)
    if len(hashes) != 32 * len(keys):
        raise StoreError("an image's hash is 64 hexadecimal digits, the SHA-256 of its file")
    packed["image"] = np.frombuffer(hashes, dtype="V32")
    if keys:
        packed["box"] = [WHOLE if key.box is None else key.box for key in keys]
    return packed


def unpacked_key(packed: np.void) -> FeatureKey:
    """Return one record of dtype KEY as a key."""
    box = tuple(int(number) for number in packed["box"])
    return FeatureKey(bytes(packed["image"]).hex(), None if box == WHOLE else Rect(*box))


def write_shard(
    path: Path,
    keys: NDArray[np.void],
    features: NDArray[np.float16] | NDArray[np.float32],
    refused: NDArray[np.void],
    reasons: Sequence[str],
) -> None:
    """Write a shard of features (len(keys), dimensions), completely or not at all.

    Several processes may write the same shard at once: each writes a temporary file, and the last
    to finish renames it to `path`.
    """
    told = msgspec.json.encode(list(reasons))
    head = _HEADER.pack(
        _MAGIC, len(keys), len(refused), features.shape[1], features.dtype.itemsize, len(told)
    )
    start = head + keys.tobytes() + refused.tobytes()
    content = np.ascontiguousarray(features).data
    write_bytes(path, [start, b"\0" * (-len(start) % _ALIGNMENT), content, told])


def read_head(path: Path) -> ShardHead:
    """Return what a shard holds, without its features; raise StoreError if it is damaged."""
    try:
        with path.open("rb") as file:
            head = file.read(_HEADER.size)
            if len(head) < _HEADER.size:
                raise _damaged(path)
            magic, rows, refused, dimensions, itemsize, told = _HEADER.unpack(head)
            if magic != _MAGIC or itemsize not in (2, 4):
                raise _damaged(path)
            if rows + refused > _MOST_KEYS or told > _LONGEST_REASONS:
                raise _damaged(path)
            start = _HEADER.size + (rows + refused) * KEY.itemsize
            features_at = start + -start % _ALIGNMENT
            reasons_at = features_at + rows * dimensions * itemsize
            if os.fstat(file.fileno()).st_size != reasons_at + told:
                raise _damaged(path)
            keys = np.frombuffer(file.read(start - _HEADER.size), dtype=KEY)
            reasons: tuple[str, ...] = ()
            if refused:
                file.seek(reasons_at)
                content = file.read(told)
                if content.count(b'"') > 2 * _MOST_KEYS:
                    raise _damaged(path)
                reasons = msgspec.json.decode(content, type=tuple[str, ...])
            if len(reasons) != refused:
                raise _damaged(path)
    except (msgspec.MsgspecError, RecursionError) as error:
        raise _damaged(path) from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}") from error
    dtype = np.dtype(np.float16 if itemsize == 2 else np.float32)
    return ShardHead(rows, dimensions, dtype, keys, reasons, features_at)


def map_features(path: Path, head: ShardHead) -> NDArray[Any]:
    """Return the features of a shard, (rows, dimensions), mapped from disk and not yet read."""
    shape = (head.rows, head.dimensions)
    if not head.rows:
        return np.empty(shape, dtype=head.dtype)
    return np.memmap(path, dtype=head.dtype, mode="r", offset=head.features_at, shape=shape)


def _damaged(path: Path) -> StoreError:
    return StoreError(
        f"{path}: this shard of features is damaged; delete it, and the next extraction will "
        "write it again"
    )
