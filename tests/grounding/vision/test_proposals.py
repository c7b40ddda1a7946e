"""Proposals: thin edges, boxes inside the photo, kept on disk; boxes of a file."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from grounding.pipeline.boxes import Rect
from grounding.pipeline.vision import proposals as module
from grounding.pipeline.vision.photos import find_photos
from grounding.pipeline.vision.proposals import (
    EdgeBoxes,
    ProposalError,
    cached_proposals,
    thin_edges,
)
from grounding.pipeline.vision.regions import BoxFileError, chain_boxes, gold_regions, read_boxes
from tests.grounding.small import image_of, make_release, picture
from tests.grounding.vision.structured_forest import write_forest


@settings(max_examples=30, deadline=None)
@given(angle=st.floats(0, np.pi), contrast=st.integers(30, 200))
def test_a_straight_edge_is_thinned_to_a_line(angle: float, contrast: int) -> None:
    """Whatever its direction: no more than two pixels across, in one piece, and the right way."""
    rows, columns = np.indices((61, 61)) - 30
    side = columns * np.cos(angle) + rows * np.sin(angle)
    grey = np.clip(side, -0.5, 0.5) * contrast + 125
    edges, directions = thin_edges(np.repeat(grey[..., None], 3, axis=2).astype(np.uint8))
    inner = np.hypot(rows, columns) < 24
    strong = (edges > 0.5) & inner
    assert np.abs(side[strong]).max() < 1.6
    assert 48 / np.sqrt(2) - 4 < strong.sum() < 2 * 48 + 10
    turned = np.abs(directions[strong] - angle)
    assert np.minimum(turned, np.pi - turned).max() < 0.3


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10**6), width=st.integers(1, 60), height=st.integers(1, 60))
def test_edges_of_anything_are_between_0_and_1(seed: int, width: int, height: int) -> None:
    random = np.random.default_rng(seed)
    pixels = random.integers(0, 255, (height, width, 3), dtype=np.uint8)
    edges, directions = thin_edges(pixels)
    assert edges.shape == directions.shape == (height, width)
    assert edges.min() >= 0
    assert edges.max() <= 1
    assert directions.min() >= 0
    assert directions.max() <= np.float32(np.pi)


def test_a_blank_photo_has_no_edges_and_no_boxes() -> None:
    blank = Image.new("RGB", (200, 100), (90, 90, 90))
    assert not thin_edges(np.asarray(blank))[0].any()
    assert EdgeBoxes().propose(blank) == []
    assert EdgeBoxes().propose(blank.resize((2, 3))) == []


def test_the_same_photo_always_has_the_same_boxes() -> None:
    first = EdgeBoxes(50).propose(picture(3))
    shifted = []  # arrays in between change where in memory the next ones lie
    for size in range(1, 6):
        shifted.append(np.zeros(size * 1111, np.uint8))
        assert EdgeBoxes(50).propose(picture(3)) == first


@pytest.mark.parametrize("size", [(200, 150), (1500, 700)])
def test_boxes_lie_in_the_photo_and_find_its_things(size: tuple[int, int]) -> None:
    canvas = Image.new("RGB", size, (30, 90, 60))
    thing = Rect(size[0] // 4, size[1] // 4, size[0] // 2, size[1] // 2)
    canvas.paste((220, 40, 40), (thing.x0 - 1, thing.y0 - 1, thing.x1, thing.y1))
    boxes = EdgeBoxes(20).propose(canvas)
    assert 0 < len(boxes) <= 20
    assert len(set(boxes)) == len(boxes)
    for box in boxes:
        assert 1 <= box.x0 <= box.x1 <= size[0]
        assert 1 <= box.y0 <= box.y1 <= size[1]
    slack = size[0] / 25
    assert any(max(abs(a - b) for a, b in zip(box, thing, strict=True)) < slack for box in boxes)


def test_only_photos_longer_than_1000_pixels_are_made_smaller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole, longer = picture(3, (1000, 600)), picture(3, (1004, 600))
    boxes = [EdgeBoxes(20).propose(photo) for photo in (whole, longer)]
    monkeypatch.setattr(module, "LONGEST_SIDE", 10_000)
    unchanged = [EdgeBoxes(20).propose(photo) for photo in (whole, longer)]
    assert boxes[0] == unchanged[0]
    assert boxes[1] != unchanged[1]


def test_proposals_are_kept_on_disk(tmp_path: Path) -> None:
    _, folder = make_release(tmp_path, 3)
    (folder / "image-002.jpg").write_bytes(b"\xff\xd8\xff nothing")
    store = tmp_path / "store"
    names = [f"image-{number:03}" for number in range(3)]
    photos, _ = find_photos(store, folder, names)
    method = EdgeBoxes(15)
    first = cached_proposals(store, folder, photos, method)
    assert first["image-000"].tolist() == [
        list(box) for box in method.propose(Image.open(folder / "image-000.jpg"))
    ]
    assert first["image-002"].shape == (0, 4)
    for photo in folder.iterdir():
        photo.unlink()
    again = cached_proposals(store, folder, photos, method)
    for name in names:
        np.testing.assert_array_equal(first[name], again[name])
    assert not cached_proposals(store, folder, photos, EdgeBoxes(16))["image-000"].size


def test_the_edges_of_a_model_are_used_where_one_is_given(tmp_path: Path) -> None:
    write_forest(tmp_path / "model.yml.gz")
    pixels = np.full((120, 160, 3), 25, np.uint8)
    pixels[30:90, 50:110] = 230
    square = Rect(51, 31, 110, 90)
    photo = Image.fromarray(pixels)
    method = EdgeBoxes(20, tmp_path / "model.yml.gz")
    assert method.name.startswith("edgeboxes-1-forest-")
    best, *others = method.propose(photo)
    assert others
    assert all(abs(found - true) <= 6 for found, true in zip(best, square, strict=True))
    assert method.propose(photo)[0] == best
    # They are other edges than ours, and so are the boxes.
    assert method.propose(photo) != EdgeBoxes(20).propose(photo)


def test_a_model_that_is_none_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.yml.gz").write_bytes(b"nothing")
    with pytest.raises(ProposalError, match=r"model\.yml\.gz: not a structured-edge model"):
        EdgeBoxes(10, tmp_path / "model.yml.gz")
    with pytest.raises(ProposalError, match="0 proposals"):
        EdgeBoxes(0)


def test_gold_regions_are_boxes_and_unions(tmp_path: Path) -> None:
    release, _ = make_release(tmp_path, 1)
    image = image_of(release)
    assert chain_boxes(image)[3] == [Rect(200, 200, 260, 280), Rect(300, 210, 380, 290)]
    assert gold_regions(image) == [
        Rect(100, 50, 180, 280),
        Rect(120, 50, 160, 80),
        Rect(200, 200, 260, 280),
        Rect(300, 210, 380, 290),
        Rect(200, 200, 380, 290),
    ]


def test_boxes_of_a_file_keep_their_order(tmp_path: Path) -> None:
    table = tmp_path / "boxes.csv"
    table.write_text("image,x0,y0,x1,y1,score\na,5,6,7,8,0.9\nb,1,1,2,2,1\na,1,2,3,4,0.1\n")
    lines = tmp_path / "boxes.jsonl"
    lines.write_text(
        '{"image":"a","boxes":[[5,6,7,8],[1,2,3,4]]}\n\n{"image":"b","boxes":[[1,1,2,2]]}'
    )
    expected = {"a": [Rect(5, 6, 7, 8), Rect(1, 2, 3, 4)], "b": [Rect(1, 1, 2, 2)]}
    assert read_boxes(table) == read_boxes(lines) == expected


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("b.csv", "image,x0,y0\n", "line 1: the header lacks x1, y1"),
        ("b.csv", "image,x0,y0,x1,y1\na,1,2,3,4\na,1,2,x,4\n", "line 3: x0, y0, x1 and y1 are not"),
        ("b.csv", "image,x0,y0,x1,y1\na,1,2,3\n", "line 2: x0, y0, x1 and y1 are not"),
        ("b.csv", "image,x0,y0,x1,y1\na,5,2,3,4\n", "line 2: the box ends before"),
        ("b.csv", "image,x0,y0,x1,y1\na,0,2,3,4\n", "line 2: pixels are counted from 1"),
        ("b.jsonl", '{"image":"a","boxes":[[1,2,3]]}', "line 1: "),
        ("b.jsonl", "nonsense", "line 1: "),
        ("b.txt", "", "ends in .csv or .jsonl"),
    ],
)
def test_files_of_boxes_that_are_wrong_say_where(
    tmp_path: Path, name: str, text: str, why: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BoxFileError) as refusal:
        read_boxes(tmp_path / name)
    assert why in str(refusal.value)
    assert str(tmp_path / name) in str(refusal.value)
