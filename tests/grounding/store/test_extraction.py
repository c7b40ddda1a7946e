"""Plans and extraction: the same bytes however the work is done, and nothing is done twice."""

import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch import nn

from annotation.pipeline.release.folder import read_image
from grounding.pipeline.boxes import Rect
from grounding.pipeline.store.claims import claim
from grounding.pipeline.store.extraction import (
    ExtractionError,
    extract,
    extract_shard,
    open_store,
)
from grounding.pipeline.store.features import FeatureKey, FeatureStore
from grounding.pipeline.store.plans import Shard, plan
from grounding.pipeline.store.shards import packed_keys, write_shard
from grounding.pipeline.vision.backbones import Backbone
from grounding.pipeline.vision.crops import crops_of
from grounding.pipeline.vision.photos import Photo, find_photos
from grounding.pipeline.vision.regions import gold_regions
from tests.grounding.small import contents, make_release, picture, small_backbone

BACKBONE = small_backbone()


class Setting:
    """A release with photos, and stores to extract into."""

    def __init__(self, folder: Path, count: int = 12) -> None:
        self.folder = folder
        self.release, self.photos_folder = make_release(folder, count)
        self.names = [f"image-{number:03}" for number in range(count)]

    def photos(self, store: FeatureStore) -> dict[str, Photo]:
        return find_photos(store.root, self.photos_folder, self.names)[0]

    def store(self, name: str, dtype: str = "float32") -> FeatureStore:
        return open_store(self.folder / name, BACKBONE, "ten", dtype)

    def plan(self, store: FeatureStore, items: int = 10) -> list[Shard]:
        def regions(image: str) -> list[Rect]:
            return gold_regions(read_image(self.release, image))

        return plan(store, self.photos(store), regions, shard_items=items)

    def run(self, name: str, threads: int = 1) -> FeatureStore:
        store = self.store(name)
        extract(store, self.photos_folder, self.plan(store), BACKBONE, threads=threads)
        return store


@pytest.fixture
def setting(tmp_path: Path) -> Setting:
    return Setting(tmp_path)


def test_features_are_those_of_the_crops(setting: Setting) -> None:
    store = setting.run("store")
    photos = setting.photos(store)
    box = Rect(200, 200, 380, 290)
    with Image.open(setting.photos_folder / "image-004.jpg") as photo:
        expected = [
            BACKBONE.features(crops_of(photo.convert("RGB"), each, "ten", 56)).mean(axis=0)
            for each in (None, box)
        ]
    found = store.read([FeatureKey(photos["image-004"].sha256, each) for each in (None, box)])
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
    assert len(store) == 12 * 6


def test_the_store_is_the_same_with_any_number_of_threads(setting: Setting) -> None:
    one, many = setting.run("one", threads=1), setting.run("many", threads=4)
    assert contents(one.root) == contents(many.root)
    assert len(list(one.shards_folder.iterdir())) == 6


def test_shards_may_be_made_in_any_order_by_anybody(setting: Setting) -> None:
    whole = setting.run("whole")
    store = setting.store("pieces")
    shards = setting.plan(store)
    for shard in random.Random(1).sample(shards, len(shards)):
        sent = msgspec.json.decode(msgspec.json.encode(shard), type=Shard)
        for _ in range(2):  # two workers on the same shard
            store.shard_path(shard.name).unlink(missing_ok=True)
            extract_shard(store, setting.photos_folder, sent, BACKBONE)
    assert contents(store.shards_folder) == contents(whole.shards_folder)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_whoever_plans_later_gets_the_same_shards(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Whatever has been finished, what is left is cut as before."""
    store = open_store(tmp_path_factory.mktemp("store"), BACKBONE, "ten", "float32")
    sizes = data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=15))
    photos = {str(n): Photo(f"{n}.jpg", 1, 1, f"{n:064x}") for n in range(len(sizes))}

    def regions(image: str) -> list[Rect]:
        return [Rect(n + 1, 1, 20, 20) for n in range(sizes[int(image)])]

    items = data.draw(st.integers(1, 9))
    shards = plan(store, photos, regions, shard_items=items)
    assert sum(shard.items for shard in shards) == sum(sizes) + len(sizes)
    done = data.draw(st.sets(st.sampled_from(shards)))
    for shard in done:
        write_zeros(store, shard)
    store.refresh()
    left = [shard for shard in shards if shard not in done]
    assert plan(store, photos, regions, shard_items=items) == left


def write_zeros(store: FeatureStore, shard: Shard) -> None:
    write_shard(
        store.shard_path(shard.name),
        shard.keys(),
        np.zeros((shard.items, store.dimensions), np.float32),
        packed_keys([]),
        [],
    )


def test_after_a_crash_only_the_rest_is_made(setting: Setting) -> None:
    whole = setting.run("whole")
    store = setting.store("crashed")
    shards = setting.plan(store)
    for number in (4, 1):
        extract_shard(store, setting.photos_folder, shards[number], BACKBONE)
    yesterday = time.time() - 25 * 3600
    for half in (
        store.shards_folder / f".{shards[2].name}.shard.0123.partial",
        store.folder / ".unreadable.txt.0123.partial",
        store.root / ".photos.json.0123.partial",
    ):
        half.write_bytes(b"half")
        os.utime(half, (yesterday, yesterday))
    (store.folder / "claims").mkdir()
    for number in (1, 2):
        (store.folder / "claims" / shards[number].name).touch()
    store = setting.store("crashed")
    left = setting.plan(store)
    assert left == [shard for number, shard in enumerate(shards) if number not in (1, 4)]
    done = extract(store, setting.photos_folder, left, BACKBONE)
    assert done.features == sum(shard.items for shard in left)
    assert contents(store.root) == contents(whole.root)
    assert setting.plan(store) == []


def test_more_images_later_cost_only_themselves(setting: Setting) -> None:
    names = setting.names
    setting.names = names[2:5] + names[6:9]
    setting.run("store")
    setting.names = names
    store = setting.store("store")
    shards = setting.plan(store)
    assert sum(shard.items for shard in shards) == 6 * 6
    extract(store, setting.photos_folder, shards, BACKBONE)
    assert len(store) == 12 * 6
    whole = setting.run("whole")
    keys = [
        FeatureKey(photo.sha256, box)
        for name, photo in setting.photos(store).items()
        for box in (None, *gold_regions(read_image(setting.release, name)))
    ]
    np.testing.assert_allclose(store.read(keys), whole.read(keys), rtol=1e-4, atol=1e-6)


def test_two_images_with_the_same_photo_share_their_features(setting: Setting) -> None:
    content = (setting.photos_folder / "image-000.jpg").read_bytes()
    (setting.photos_folder / "image-007.jpg").write_bytes(content)
    assert len(setting.run("store")) == 11 * 6


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:1000])


def replace_by_text(path: Path) -> None:
    path.write_text("this is no photo")


def replace_by_bomb(path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(path, format="PNG")


@pytest.mark.parametrize(
    ("damage", "why"),
    [
        (truncate, "image-003.jpg: the file is truncated or damaged"),
        (replace_by_text, "image-003.jpg: this is no JPEG, PNG or WebP"),
        (replace_by_bomb, "image-003.jpg: it is 20000 × 20000"),
    ],
)
def test_photos_that_cannot_be_used_are_listed_and_left_out(
    setting: Setting, damage: Callable[[Path], None], why: str
) -> None:
    damage(setting.photos_folder / "image-003.jpg")
    store = setting.store("store")
    done = extract(store, setting.photos_folder, setting.plan(store), BACKBONE)
    assert len(store) == done.features == 11 * 6
    assert len(done.refused) == 1
    assert done.refused[0].startswith(why)
    assert set(setting.store("store").refused.values()) == set(done.refused)
    assert setting.plan(store) == []  # and not tried again, as long as the file is the same
    picture(50).save(setting.photos_folder / "image-003.jpg")
    extract(store, setting.photos_folder, setting.plan(store), BACKBONE)
    assert len(store) == 12 * 6


def test_a_photo_that_vanishes_is_tried_again_next_time(setting: Setting) -> None:
    store = setting.store("store")
    shards = setting.plan(store)
    hidden = setting.photos_folder / "image-005.jpg"
    hidden.rename(setting.folder / "elsewhere.jpg")
    done = extract(store, setting.photos_folder, shards, BACKBONE)
    assert done.failed == ["image-005.jpg: cannot be read: No such file or directory"]
    assert len(store) == 11 * 6
    (setting.folder / "elsewhere.jpg").rename(hidden)
    assert sum(shard.items for shard in setting.plan(store)) == 6
    extract(store, setting.photos_folder, setting.plan(store), BACKBONE)
    assert len(store) == 12 * 6


def test_a_box_outside_the_photo_is_listed(setting: Setting) -> None:
    picture(3, (250, 300)).save(setting.photos_folder / "image-003.jpg")
    store = setting.run("store")
    assert len(store) == 12 * 6 - 1
    assert list(store.refused.values()) == [
        "image-003.jpg: box 300,210,380,290 lies outside the 250×300 photo"
    ]


def test_a_shard_that_another_worker_has_claimed_is_waited_for(
    setting: Setting, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = setting.store("store")
    shards = setting.plan(store)
    release = claim(store, shards[1].name)
    assert release is not None
    assert claim(store, shards[1].name) is None
    waits = []

    def other_worker_finishes(workers: object) -> None:
        waits.append(len(list(store.shards_folder.iterdir())))
        extract_shard(setting.store("store"), setting.photos_folder, shards[1], BACKBONE)
        release()

    monkeypatch.setattr("grounding.pipeline.store.extraction._Workers.wait", other_worker_finishes)
    done = extract(store, setting.photos_folder, shards, BACKBONE)
    assert waits == [len(shards) - 1]
    assert done.features == sum(shard.items for shard in shards) - shards[1].items
    assert contents(store.root) == contents(setting.run("whole").root)


def test_numbers_that_float16_cannot_hold_are_an_error(setting: Setting) -> None:
    class Large(nn.Module):
        def forward(self, batch: torch.Tensor) -> torch.Tensor:
            return batch.mean(dim=(2, 3)).abs() * 1e6 + 1e6

    backbone = Backbone("large", Large(), dimensions=3, side=56, device="cpu")
    store = open_store(setting.folder / "large", backbone, "whole", "float16")
    with pytest.raises(ExtractionError, match="float16 cannot hold; use float32"):
        extract(store, setting.photos_folder, setting.plan(store), backbone)
    assert list(store.shards_folder.iterdir()) == []
    # Others need not wait for what has failed here.
    for shard in setting.plan(store):
        release = claim(store, shard.name)
        assert release is not None
        release()


def test_progress_counts_every_item(setting: Setting) -> None:
    store = setting.store("store")
    counts: list[int] = []
    extract(store, setting.photos_folder, setting.plan(store), BACKBONE, progress=counts.append)
    assert sum(counts) == 12 * 6


def test_an_unknown_crop_policy_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ExtractionError, match="unknown crop policy “nine”; choose one of ten"):
        open_store(tmp_path, BACKBONE, "nine", "float32")
