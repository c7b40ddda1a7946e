"""The feature store: features on disk, found by photo and box, never all in memory.

One folder holds one kind of feature: same backbone with the same weights, same crops, same
precision. It contains shards (`shards.py`). Opening the store reads which features they hold; the
features themselves are read on demand.
"""

import re
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from common.files.whole import make_folder, write_bytes
from grounding.pipeline.store.shards import (
    SUFFIX,
    FeatureKey,
    StoreError,
    map_features,
    packed_keys,
    read_head,
    unpacked_key,
)

__all__ = ["DTYPES", "FeatureKey", "FeatureKind", "FeatureStore", "StoreError", "kinds", "opened"]

DTYPES = ("float16", "float32")
# Python keeps a file open for each map, and the usual limit is 1,024 open files.
MAPS_OPEN = 128
KIND_FILE = "kind.json"
LARGEST_KIND_FILE = 1 << 16

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_MISSING = -1


class FeatureKind(NamedTuple):
    """How features were made. `backbone` names network and weights, as `Backbone.name` does."""

    backbone: str
    crops: str
    dtype: str

    @property
    def folder(self) -> str:
        return ".".join(self)


class _KindFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    backbone: str
    crops: str
    dtype: str
    dimensions: int


class FeatureStore:
    """The features of one kind. `dimensions` is the length of each.

    Other processes may add to the store while it is open; `refresh` finds what is new.
    """

    def __init__(self, root: Path, kind: FeatureKind, dimensions: int) -> None:
        _check_kind(kind, dimensions)
        self.root = Path(root)
        self.kind = kind
        self.dimensions = dimensions
        self.folder = self.root / kind.folder
        self.shards_folder = self.folder / "shards"
        self._check_folder()
        self._names: list[str] = []
        self._known: set[str] = set()
        self._fingerprints: NDArray[np.uint64] = np.empty(0, np.uint64)
        self._places: NDArray[np.int64] = np.empty(0, np.int64)
        self._refused: dict[FeatureKey, str] = {}
        self._maps: OrderedDict[int, tuple[NDArray[np.void], NDArray[Any]]] = OrderedDict()
        self.refresh()

    def __len__(self) -> int:
        """Return the number of features."""
        return len(self._places)

    @property
    def refused(self) -> dict[FeatureKey, str]:
        """Why some keys have no feature: the photo cannot be decoded, or the box is outside."""
        return dict(self._refused)

    def shard_path(self, name: str) -> Path:
        return self.shards_folder / f"{name}{SUFFIX}"

    def create(self) -> None:
        """Create the store's folder, if it does not exist."""
        make_folder(self.shards_folder)
        about = self.folder / KIND_FILE
        if not about.exists():
            content = msgspec.json.encode(_KindFile(*self.kind, dimensions=self.dimensions))
            write_bytes(about, [content + b"\n"])

    def refresh(self) -> None:
        """Add the shards that were written since the store was opened."""
        names = sorted(path.stem for path in self.shards_folder.glob(f"*{SUFFIX}"))
        new = [name for name in names if name not in self._known]
        fingerprints, places = [self._fingerprints], [self._places]
        for name in new:
            path = self.shard_path(name)
            head = read_head(path)
            if (head.dimensions, str(head.dtype)) != (self.dimensions, self.kind.dtype):
                raise StoreError(
                    f"{path}: holds {head.dtype} features of {head.dimensions} numbers, but this "
                    f"store's have {self.dimensions} of {self.kind.dtype}; move it to another store"
                )
            number = len(self._names)
            fingerprints.append(_fingerprints(head.keys[: head.rows]))
            places.append((np.int64(number) << 32) + np.arange(head.rows, dtype=np.int64))
            for key, reason in zip(head.keys[head.rows :], head.reasons, strict=True):
                self._refused.setdefault(unpacked_key(key), reason)
            self._names.append(name)
            self._known.add(name)
        if new:
            together = np.concatenate(fingerprints)
            order = np.argsort(together, kind="stable")
            self._fingerprints = together[order]
            self._places = np.concatenate(places)[order]

    def has(self, key: FeatureKey) -> bool:
        return bool(self.locate([key])[0] != _MISSING)

    def locate(self, keys: Sequence[FeatureKey] | NDArray[np.void]) -> NDArray[np.int64]:
        """Return the place of each feature, (len(keys),), for `rows`; -1 if the store lacks it.

        Keep the places if the same features are read repeatedly. `keys` may also be the array
        that `packed_keys` returns.
        """
        packed = keys if isinstance(keys, np.ndarray) else packed_keys(keys)
        found = np.full(len(packed), _MISSING, np.int64)
        wanted = _fingerprints(packed)
        at = np.searchsorted(self._fingerprints, wanted)
        open_ones = np.arange(len(packed))
        # Two keys may, very rarely, share a fingerprint: then the next entry is tried.
        while len(open_ones):
            inside = at[open_ones] < len(self._fingerprints)
            open_ones = open_ones[inside]
            same = self._fingerprints[at[open_ones]] == wanted[open_ones]
            open_ones = open_ones[same]
            places = self._places[at[open_ones]]
            matching = self._keys_at(places) == packed[open_ones]
            found[open_ones[matching]] = places[matching]
            open_ones = open_ones[~matching]
            at[open_ones] += 1
        return found

    def rows(self, places: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return the features at these places, (len(places), dimensions)."""
        if len(places) and places.min() < 0:
            raise StoreError("the store lacks one of the requested features; check with `locate`")
        features = np.empty((len(places), self.dimensions), np.float32)
        for shard, positions in _by_shard(places):
            features[positions] = self._map(shard)[1][places[positions] & 0xFFFFFFFF]
        return features

    def read(self, keys: Sequence[FeatureKey]) -> NDArray[np.float32]:
        """Return the features of these keys, (len(keys), dimensions), in their order."""
        places = self.locate(keys)
        missing = np.flatnonzero(places == _MISSING)
        if len(missing):
            raise self._missing([keys[position] for position in missing.tolist()])
        return self.rows(places)

    def _missing(self, keys: Sequence[FeatureKey]) -> StoreError:
        first = keys[0]
        what = "the whole image" if first.box is None else f"box {','.join(map(str, first.box))}"
        others = f" (and {len(keys) - 1:,} others)" if len(keys) > 1 else ""
        reason = self._refused.get(first)
        why = f"it cannot have one: {reason}" if reason else "extract it first"
        return StoreError(
            f"{self.folder}: there is no feature for {what} of the image with the SHA-256 "
            f"{first.image}{others}; {why}"
        )

    def _keys_at(self, places: NDArray[np.int64]) -> NDArray[np.void]:
        keys = np.empty(len(places), dtype=packed_keys([]).dtype)
        for shard, positions in _by_shard(places):
            keys[positions] = self._map(shard)[0][places[positions] & 0xFFFFFFFF]
        return keys

    def _map(self, shard: int) -> tuple[NDArray[np.void], NDArray[Any]]:
        """Return keys and features of a shard, mapped."""
        if shard in self._maps:
            self._maps.move_to_end(shard)
            return self._maps[shard]
        path = self.shard_path(self._names[shard])
        head = read_head(path)
        self._maps[shard] = head.keys, map_features(path, head)
        if len(self._maps) > MAPS_OPEN:
            self._maps.popitem(last=False)
        return self._maps[shard]

    def _check_folder(self) -> None:
        about = self.folder / KIND_FILE
        if about.exists() and _read_kind(about)[1] != self.dimensions:
            raise StoreError(
                f"{about}: these features have {_read_kind(about)[1]} numbers each, not "
                f"{self.dimensions}"
            )


def kinds(root: Path) -> list[tuple[FeatureKind, int]]:
    """Return the kinds of features in a store, with their dimensions, sorted by name."""
    return sorted(_read_kind(path) for path in Path(root).glob(f"*/{KIND_FILE}"))


def opened(root: Path, kind: FeatureKind | None = None) -> FeatureStore:
    """Open an existing store; without `kind` it must hold only one kind."""
    present = dict(kinds(root))
    names = ", ".join(one.folder for one in present) or "none"
    if kind is None:
        if len(present) != 1:
            raise StoreError(f"{root}: name one of the kinds of features in this store: {names}")
        [kind] = present
    if kind not in present:
        raise StoreError(f"{root}: there are no features of kind {kind.folder}; there are: {names}")
    return FeatureStore(root, kind, present[kind])


def _read_kind(path: Path) -> tuple[FeatureKind, int]:
    try:
        with path.open("rb") as file:
            content = file.read(LARGEST_KIND_FILE + 1)
        told = msgspec.json.decode(content[:LARGEST_KIND_FILE], type=_KindFile)
    except (OSError, msgspec.MsgspecError, RecursionError) as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error
    return FeatureKind(told.backbone, told.crops, told.dtype), told.dimensions


def _check_kind(kind: FeatureKind, dimensions: int) -> None:
    for part in kind:
        if not _NAME.fullmatch(part):
            raise StoreError(f"“{part}” cannot be part of a folder's name: use letters, digits, -")
    if kind.dtype not in DTYPES:
        raise StoreError(f"features are {' or '.join(DTYPES)}, not {kind.dtype}")
    if dimensions < 1:
        raise StoreError(f"a feature cannot have {dimensions} numbers")


def _fingerprints(keys: NDArray[np.void]) -> NDArray[np.uint64]:
    """Return a nearly unique number for each key, (len(keys),), to search by."""
    first_bytes = np.ascontiguousarray(keys["image"]).view("<u8").reshape(len(keys), 4)[:, 0]
    mixed = first_bytes.astype(np.uint64)
    for corner in keys["box"].T:
        mixed ^= corner.astype(np.uint32).astype(np.uint64)
        mixed *= np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return mixed


def _by_shard(places: NDArray[np.int64]) -> Iterable[tuple[int, NDArray[np.intp]]]:
    """Yield each shard in `places`, with the positions that it has there."""
    if not len(places):
        return
    shards = places >> 32
    order = np.argsort(shards, kind="stable")
    starts = np.flatnonzero(np.diff(shards[order])) + 1
    for positions in np.split(order, starts):
        yield int(shards[positions[0]]), positions
