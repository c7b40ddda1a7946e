"""The feature store: what goes in comes out, by what it is of; nothing half-written is seen."""

import os
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from grounding.pipeline.boxes import Rect
from grounding.pipeline.store.features import (
    FeatureKey,
    FeatureKind,
    FeatureStore,
    StoreError,
    kinds,
    opened,
)
from grounding.pipeline.store.shards import (
    packed_keys,
    read_head,
    unpacked_key,
    write_shard,
)

KIND = FeatureKind("toy-0123", "ten", "float32")


def image(name: str) -> str:
    return sha256(name.encode()).hexdigest()


def key(name: str, *box: int) -> FeatureKey:
    return FeatureKey(image(name), Rect(*box) if box else None)


def put(
    store: FeatureStore,
    name: str,
    keys: Sequence[FeatureKey],
    features: NDArray[Any],
    refused: Sequence[tuple[FeatureKey, str]] = (),
) -> None:
    store.create()
    write_shard(
        store.shard_path(name),
        packed_keys(keys),
        features.astype(store.kind.dtype),
        packed_keys([one for one, _ in refused]),
        [reason for _, reason in refused],
    )


boxes = st.none() | st.builds(Rect, *[st.integers(-(2**31) + 1, 2**31 - 1)] * 4)
keys_strategy = st.lists(
    st.builds(FeatureKey, st.sampled_from([image(name) for name in "abc"]), boxes),
    min_size=1,
    max_size=40,
    unique=True,
)


@settings(max_examples=40, deadline=None)
@given(keys=keys_strategy, data=st.data(), dtype=st.sampled_from(["float16", "float32"]))
def test_what_goes_in_comes_out(keys: list[FeatureKey], data: st.DataObject, dtype: str) -> None:
    numbers = np.random.default_rng(len(keys)).normal(size=(len(keys), 5)).astype(dtype)
    cut = data.draw(st.integers(0, len(keys)))
    asked = data.draw(st.lists(st.integers(0, len(keys) - 1), max_size=60))
    with tempfile.TemporaryDirectory() as folder:
        store = FeatureStore(Path(folder), KIND._replace(dtype=dtype), 5)
        put(store, "one", keys[:cut], numbers[:cut])
        store.refresh()
        put(store, "two", keys[cut:], numbers[cut:])
        store.refresh()
        for opened_store in (store, opened(Path(folder))):
            read = opened_store.read([keys[position] for position in asked])
            assert read.dtype == np.float32
            np.testing.assert_array_equal(read, numbers[asked].astype(np.float32))
            assert all(opened_store.has(one) for one in keys)
            assert not opened_store.has(FeatureKey(image("d"), None))


@given(keys=keys_strategy)
def test_keys_survive_packing(keys: list[FeatureKey]) -> None:
    assert [unpacked_key(packed) for packed in packed_keys(keys)] == keys


def test_keys_whose_fingerprints_collide_are_told_apart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "grounding.pipeline.store.features._fingerprints",
        lambda keys: np.zeros(len(keys), np.uint64),
    )
    store = FeatureStore(tmp_path, KIND, 1)
    keys = [key("a", n, n, n, n) for n in range(1, 6)]
    put(store, "one", keys, np.arange(5.0)[:, None])
    store.refresh()
    assert store.read(keys[::-1]).ravel().tolist() == [4, 3, 2, 1, 0]
    assert not store.has(key("a", 9, 9, 9, 9))


def test_a_missing_feature_is_named(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, KIND, 2)
    put(store, "one", [key("a")], np.ones((1, 2)), [(key("b"), "b.jpg: it is truncated")])
    store.refresh()
    with pytest.raises(StoreError, match=f"box 1,2,3,4 .* {image('a')} .*1 others.*extract it"):
        store.read([key("a"), key("a", 1, 2, 3, 4), key("c")])
    with pytest.raises(StoreError, match=r"whole image .* it cannot have one: b.jpg: it is trunc"):
        store.read([key("b")])


def test_more_shards_than_may_be_open_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grounding.pipeline.store.features.MAPS_OPEN", 3)
    store = FeatureStore(tmp_path, KIND, 2)
    keys = [key(str(number)) for number in range(20)]
    for number, one in enumerate(keys):
        put(store, f"shard-{number}", [one], np.full((1, 2), number))
    store.refresh()
    assert store.read(keys)[:, 0].tolist() == list(range(20))
    assert len(store._maps) == 3


@pytest.mark.parametrize("cut", [0, 10, 40, 100, -1])
def test_a_damaged_shard_is_refused_with_what_to_do(tmp_path: Path, cut: int) -> None:
    store = FeatureStore(tmp_path, KIND, 2)
    put(store, "one", [key("a")], np.ones((1, 2)))
    path = store.shard_path("one")
    path.write_bytes(path.read_bytes()[:cut])
    with pytest.raises(StoreError, match=r"one\.shard: .* is damaged; delete it"):
        store.refresh()


def test_the_same_shard_written_twice_is_harmless(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, KIND, 2)
    put(store, "one", [key("a")], np.ones((1, 2)))
    before = store.shard_path("one").read_bytes()
    store.refresh()
    put(store, "one", [key("a")], np.ones((1, 2)))
    assert store.shard_path("one").read_bytes() == before
    assert store.read([key("a")]).tolist() == [[1, 1]]
    assert os.listdir(store.shards_folder) == ["one.shard"]


def test_features_start_where_the_processor_likes_it(tmp_path: Path) -> None:
    store = FeatureStore(tmp_path, KIND, 3)
    put(store, "one", [key("a"), key("b")], np.ones((2, 3)))
    assert read_head(store.shard_path("one")).features_at % 64 == 0


def test_kinds_are_kept_apart(tmp_path: Path) -> None:
    other = KIND._replace(crops="whole")
    put(FeatureStore(tmp_path, KIND, 2), "one", [key("a")], np.ones((1, 2)))
    put(FeatureStore(tmp_path, other, 4), "one", [key("a")], np.zeros((1, 4)))
    assert kinds(tmp_path) == [(KIND, 2), (other, 4)]
    assert opened(tmp_path, other).read([key("a")]).shape == (1, 4)
    with pytest.raises(StoreError, match=r"name one of .* toy-0123\.ten\.float32"):
        opened(tmp_path)
    with pytest.raises(StoreError, match=r"no features of kind toy-0123.none.float16"):
        opened(tmp_path, FeatureKind("toy-0123", "none", "float16"))
    with pytest.raises(StoreError, match="2 numbers each, not 9"):
        FeatureStore(tmp_path, KIND, 9)


@pytest.mark.parametrize("kind", [KIND._replace(crops="../x"), KIND._replace(dtype="float64")])
def test_kinds_that_cannot_be_are_refused(tmp_path: Path, kind: FeatureKind) -> None:
    with pytest.raises(StoreError):
        FeatureStore(tmp_path, kind, 2)
