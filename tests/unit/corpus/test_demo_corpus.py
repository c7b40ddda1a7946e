"""The demo corpus is complete and keeps the rules of the public release format."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image

DEMO = Path(__file__).resolve().parents[3] / "annotation" / "demo"
IMAGES = sorted(path.stem for path in (DEMO / "photos").glob("*.jpg"))
TYPES = {
    "people",
    "clothing",
    "bodyparts",
    "animals",
    "vehicles",
    "instruments",
    "scene",
    "other",
}
MENTION = re.compile(r"\[/EN#(\d+)/(\S+) ([^\]]+)\]")
SIDES = ("xmin", "ymin", "xmax", "ymax")


def caption_lines(image: str) -> list[str]:
    text = (DEMO / "Sentences" / f"{image}.txt").read_text(encoding="utf-8")
    assert text.endswith("\n")
    return text[:-1].split("\n")


def mentions_of(image: str) -> list[list[tuple[str, str]]]:
    """For each caption its mentions as (chain id, type), in reading order."""
    return [
        [(found.group(1), found.group(2)) for found in MENTION.finditer(line)]
        for line in caption_lines(image)
    ]


def visual_chains(image: str) -> set[str]:
    return {chain for caption in mentions_of(image) for chain, _ in caption if chain != "0"}


def annotation_of(image: str) -> ElementTree.Element:
    return ElementTree.parse(DEMO / "Annotations" / f"{image}.xml").getroot()


def names_of(entry: ElementTree.Element) -> list[str]:
    return [name.text or "" for name in entry.findall("name")]


def number(parent: ElementTree.Element, path: str) -> int:
    text = parent.findtext(path)
    assert text is not None, f"no {path}"
    return int(text)


def test_there_are_at_least_eight_photos_each_with_both_files() -> None:
    assert len(IMAGES) >= 8
    assert sorted(path.stem for path in (DEMO / "Sentences").iterdir()) == IMAGES
    assert sorted(path.stem for path in (DEMO / "Annotations").iterdir()) == IMAGES


def test_photos_are_small_enough_to_ship() -> None:
    paths = [DEMO / "photos" / f"{image}.jpg" for image in IMAGES]
    assert sum(path.stat().st_size for path in paths) < 1_500_000
    for path in paths:
        with Image.open(path) as photo:
            assert photo.format == "JPEG"
            assert max(photo.size) <= 800


@pytest.mark.parametrize("image", IMAGES)
def test_five_different_captions_with_well_formed_mentions(image: str) -> None:
    lines = caption_lines(image)
    assert len(lines) == len(set(lines)) == 5
    for line in lines:
        assert line.endswith(" .")
        assert "  " not in line
        assert line == line.strip()
        # Whatever is left after the mentions must hold no broken bracket.
        assert not set("[]#") & set(MENTION.sub("", line))
        assert MENTION.search(line)


@pytest.mark.parametrize("image", IMAGES)
def test_a_chain_has_one_type_and_at_most_one_mention_a_caption(image: str) -> None:
    type_of: dict[str, str] = {}
    for caption in mentions_of(image):
        visual = [(chain, kind) for chain, kind in caption if chain != "0"]
        assert all(kind == "notvisual" for chain, kind in caption if chain == "0")
        assert len({chain for chain, _ in visual}) == len(visual)
        for chain, kind in visual:
            assert kind in TYPES
            assert type_of.setdefault(chain, kind) == kind


@pytest.mark.parametrize("image", IMAGES)
def test_every_chain_has_objects_and_every_object_a_chain(image: str) -> None:
    named = [name for entry in annotation_of(image).findall("object") for name in names_of(entry)]
    assert set(named) == visual_chains(image)


@pytest.mark.parametrize("image", IMAGES)
def test_the_annotation_names_the_photo_and_its_size(image: str) -> None:
    annotation = annotation_of(image)
    assert annotation.findtext("filename") == f"{image}.jpg"
    with Image.open(DEMO / "photos" / f"{image}.jpg") as photo:
        assert photo.size == (number(annotation, "size/width"), number(annotation, "size/height"))
        assert len(photo.getbands()) == number(annotation, "size/depth")


@pytest.mark.parametrize("image", IMAGES)
def test_boxes_lie_inside_the_photo_and_are_listed_once(image: str) -> None:
    with Image.open(DEMO / "photos" / f"{image}.jpg") as photo:
        width, height = photo.size
    boxes = []
    for box in annotation_of(image).iter("bndbox"):
        xmin, ymin, xmax, ymax = (number(box, side) for side in SIDES)
        assert 1 <= xmin < xmax <= width
        assert 1 <= ymin < ymax <= height
        boxes.append((xmin, ymin, xmax, ymax))
    assert boxes
    # The same rectangle for several chains is one object with several names.
    assert len(boxes) == len(set(boxes))


@pytest.mark.parametrize("image", IMAGES)
def test_a_chain_is_either_boxed_or_flagged(image: str) -> None:
    boxed: set[str] = set()
    flagged: Counter[str] = Counter()
    for entry in annotation_of(image).findall("object"):
        names = names_of(entry)
        assert names
        assert len(names) == len(set(names))
        if entry.find("bndbox") is not None:
            boxed.update(names)
            continue
        assert len(names) == 1
        flags = (number(entry, "scene"), number(entry, "nobndbox"))
        assert set(flags) <= {0, 1}
        assert any(flags)
        flagged.update(names)
    assert not boxed & set(flagged)
    assert all(count == 1 for count in flagged.values())


@pytest.mark.parametrize("image", IMAGES)
def test_annotations_keep_the_public_layout(image: str) -> None:
    text = (DEMO / "Annotations" / f"{image}.xml").read_bytes()
    assert text.startswith(b"<annotation>\n\t<filename>")
    assert text.endswith(b"\t</object>\n</annotation>")
    assert b"\r" not in text


def test_chain_ids_are_unique_across_images_and_run_from_one() -> None:
    uses = Counter(chain for image in IMAGES for chain in visual_chains(image))
    assert all(count == 1 for count in uses.values())
    assert sorted(map(int, uses)) == list(range(1, len(uses) + 1))


def test_the_corpus_shows_every_kind_of_case() -> None:
    kinds = {kind for image in IMAGES for caption in mentions_of(image) for _, kind in caption}
    assert kinds == TYPES | {"notvisual"}
    entries = [entry for image in IMAGES for entry in annotation_of(image).findall("object")]
    flags = {
        (number(entry, "scene"), number(entry, "nobndbox"))
        for entry in entries
        if entry.find("bndbox") is None
    }
    assert flags == {(0, 1), (1, 0), (1, 1)}
    boxed = [names_of(entry) for entry in entries if entry.find("bndbox") is not None]
    assert any(len(names) > 1 for names in boxed)
    boxes_of_chain = Counter(name for names in boxed for name in names)
    assert any(count > 1 for count in boxes_of_chain.values())


def test_splits_cover_exactly_the_photos() -> None:
    listed: list[str] = []
    for split in ("train", "val", "test"):
        ids = (DEMO / f"{split}.txt").read_text(encoding="utf-8").splitlines()
        assert ids
        listed.extend(ids)
    assert sorted(listed) == IMAGES


def test_no_caption_is_unrelated() -> None:
    text = (DEMO / "UNRELATED_CAPTIONS").read_text(encoding="utf-8")
    assert text == "# format: <imageID> <sentence number>\n"


def test_every_photo_has_its_licence_and_source_written_down() -> None:
    text = (DEMO / "LICENCES.md").read_text(encoding="utf-8")
    for image in IMAGES:
        # One row with the licence, one row with the package.
        rows = [line for line in text.splitlines() if line.startswith(f"| `{image}` |")]
        assert len(rows) == 2
        assert re.search(r"public domain|CC0", rows[0], re.IGNORECASE)
