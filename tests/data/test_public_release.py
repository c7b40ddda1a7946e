"""The public dataset, read and written: the files of all its 30,783 images come out the same."""

import os
from pathlib import Path

import msgspec
import pytest

from annotation.pipeline.geometry import Rect
from annotation.pipeline.release.folder import (
    SPLITS,
    ReleasedImage,
    format_annotation,
    image_ids,
    read_image,
    read_release,
    read_splits,
    read_unrelated,
    write_image,
    write_splits,
)
from annotation.pipeline.release.statistics import dataset_statistics
from annotation.pipeline.release.statistics_report import PAPER_TOTALS, PAPER_TYPES

pytestmark = [pytest.mark.slow, pytest.mark.long]

# Edited by hand: some of their objects have other white space than tabs.
UNUSUAL = {
    "2286236765",
    "104835889",
    "102617084",
    "6813821371",
    "1029802110",
    "102575576",
    "2142232919",
}


def has_indents(image: ReleasedImage) -> bool:
    boxes, unboxed = image.boxes, image.unboxed
    return any(box.indents for box in boxes) or any(chain.indents for chain in unboxed)


def test_every_file_is_written_as_it_was_read(public_dataset: Path, tmp_path: Path) -> None:
    encoder, decoder = msgspec.msgpack.Encoder(), msgspec.msgpack.Decoder(ReleasedImage)
    images = 0
    final_line_ends = 0
    unusual = set()
    for image in read_release(public_dataset):
        images += 1
        if has_indents(image):
            unusual.add(image.image)
        # Through bytes and back: what is written comes from the fields and from nothing else.
        write_image(tmp_path, decoder.decode(encoder.encode(image)))
        for name in (f"Sentences/{image.image}.txt", f"Annotations/{image.image}.xml"):
            written = tmp_path / name
            before, after = (public_dataset / name).read_bytes(), written.read_bytes()
            if before != after:
                assert written.suffix == ".xml"
                assert before == after + b"\n", name
                final_line_ends += 1
            os.unlink(written)
    assert images == 30783
    assert final_line_ends <= 9
    assert unusual == UNUSUAL


def test_a_moved_box_changes_only_its_lines(public_dataset: Path) -> None:
    for name in ["1000092795", "1029802110", *image_ids(public_dataset, "val")[:50]]:
        image = read_image(public_dataset, name)
        before = format_annotation(image).split("\n")
        for number, box in enumerate(image.boxes):
            rect = Rect(1, 1, image.width, image.height)
            boxes = list(image.boxes)
            boxes[number] = msgspec.structs.replace(box, rect=rect)
            moved = msgspec.structs.replace(image, boxes=tuple(boxes))
            after = format_annotation(moved).split("\n")
            changed = [
                n for n, pair in enumerate(zip(before, after, strict=True)) if len({*pair}) > 1
            ]
            first = _lines_before_corners(image, number)
            pairs = zip(_corners(box.rect), _corners(rect), strict=True)
            assert changed == [first + n for n, (old, new) in enumerate(pairs) if old != new]


def _corners(rect: Rect) -> tuple[int, int, int, int]:
    return rect.xmin, rect.ymin, rect.xmax, rect.ymax


def _lines_before_corners(image: ReleasedImage, number: int) -> int:
    """Seven lines of head; a box has eight lines and its names, two of them before the names."""
    earlier = sum(8 + len(box.chains) for box in image.boxes[:number])
    return 7 + earlier + 2 + len(image.boxes[number].chains)


def test_splits_are_read_and_written(public_dataset: Path, tmp_path: Path) -> None:
    splits = read_splits(public_dataset)
    assert {split: len(images) for split, images in splits.items()} == {"train": 29783, "val": 1000}
    write_splits(tmp_path, splits)
    for split in SPLITS[:2]:
        name = f"{split}.txt"
        assert (tmp_path / name).read_bytes() == (public_dataset / name).read_bytes()
    unrelated = read_unrelated(public_dataset)
    assert unrelated["129602216"] == (5,)


def test_statistics_agree_with_the_paper(public_dataset: Path) -> None:
    s = dataset_statistics(read_release(public_dataset), unrelated=read_unrelated(public_dataset))
    assert (s.images, s.captions, s.mentions, s.chains) == (30783, 153915, 512496, 236546)
    assert (s.boxes, s.notvisual_phrases, s.chains_without_mention) == (267436, 29752, 138)
    # The test images are missing here, so the paper's counts are compared per image.
    scale = PAPER_TOTALS["images"] / s.images
    for total, paper in (
        (s.captions, PAPER_TOTALS["captions"]),
        (s.chains, PAPER_TOTALS["chains"]),
        (s.boxes, PAPER_TOTALS["boxes"]),
    ):
        assert total * scale == pytest.approx(paper, rel=0.002)
    for t in s.types:
        chains, mentions_per_chain, boxes_per_chain, share_of_images = PAPER_TYPES[t.type]
        assert t.chains * scale == pytest.approx(chains, rel=0.004)
        assert t.mentions / t.chains == pytest.approx(mentions_per_chain, abs=0.015)
        assert t.boxes / t.chains == pytest.approx(boxes_per_chain, abs=0.015)
        assert 100 * t.images / s.images == pytest.approx(share_of_images, abs=0.15)
    pairs = sum(t.chains for t in s.types)
    assert sum(t.mentions for t in s.types) / pairs == pytest.approx(2.25, abs=0.01)
    assert sum(t.boxes for t in s.types) / pairs == pytest.approx(1.27, abs=0.01)
    assert s.chains_with_several_mentions / s.chains == pytest.approx(0.486, abs=0.002)
    assert s.chains_with_one_box / s.chains == pytest.approx(0.591, abs=0.001)
    assert s.chains_with_several_boxes / s.chains == pytest.approx(0.200, abs=0.001)
    assert s.mention_words / s.mentions == pytest.approx(2.35, abs=0.01)
