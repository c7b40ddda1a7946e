"""The documentation's pictures of the task pages are made here, and must show what there is.

`make screenshots` writes them. Otherwise they are made anew and held against those in docs/images:
roughly, since other machines have other fonts.
"""

import os
from io import BytesIO
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image, ImageChops, ImageColor, ImageStat

from tests.browser.kit.desk import Desk
from tests.browser.kit.pages import ROOT
from tests.browser.kit.pictures import SCENES, SIX, WINDOW

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]

PICTURES = ROOT / "docs" / "images"
WRITE = bool(os.environ.get("CHAINBOX_WRITE_SCREENSHOTS"))
MOST_BYTES = 200_000
MOST_BYTES_IN_ALL = 2_000_000
# Mean difference of 255, of pictures so small that letters are gone. The same page has less than 1,
# in a serif font about 5; another page, even with the same photo, more than 7.
MOST_DIFFERENCE = 6.0
SMALL = 12
COLOURS, FREQUENT = 208, 80
# Boxes, and the first marks in light and in dark.
OURS = ("#d3121f", "#0b57d0", "#0a7d32", "#f7e463", "#ba93fb", "#f0d95a", "#a98bea", "#14693f")
# The overview: two columns of three.
COLUMN, GAP = 420, 16


def picture_path(name: str) -> Path:
    return PICTURES / f"task-{name}.png"


def opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        return picture.convert("RGB")


def reduced(picture: Image.Image) -> Image.Image:
    """Return the picture with few colours, as it is kept.

    Photos have most of the pixels, but the colours of boxes and marks must not become theirs.
    """
    colours = picture.convert("RGB")
    different, counts = np.unique(np.asarray(colours).reshape(-1, 3), axis=0, return_counts=True)
    ours = np.array([ImageColor.getrgb(name) for name in OURS])
    frequent = different[np.argsort(-counts)[: FREQUENT - len(ours)]]
    photos = np.array(colours.quantize(COLOURS - FREQUENT).getpalette() or []).reshape(-1, 3)
    return nearest(colours, np.concatenate([ours, frequent, photos]).astype(np.int64)[:COLOURS])


def nearest(picture: Image.Image, palette: npt.NDArray[np.int64]) -> Image.Image:
    """Give each pixel the nearest colour of the palette; Pillow's own way is only roughly that."""
    pixels = np.asarray(picture).reshape(-1, 3)
    different, place = np.unique(pixels, axis=0, return_inverse=True)
    found = np.empty(len(different), np.uint8)
    for start in range(0, len(different), 10_000):
        part = different[start : start + 10_000, None].astype(np.int64)
        found[start : start + 10_000] = ((part - palette) ** 2).sum(axis=2).argmin(axis=1)
    reduced = Image.fromarray(found[place.reshape(-1)].reshape(picture.height, picture.width), "P")
    reduced.putpalette(palette.astype(np.uint8).tobytes())
    return reduced


def difference(one: Image.Image, other: Image.Image) -> float:
    """Return how far two pictures are apart, from 0 to 255."""
    size = (one.width // SMALL, one.height // SMALL)
    small = [picture.convert("RGB").resize(size, Image.Resampling.BOX) for picture in (one, other)]
    mean = ImageStat.Stat(ImageChops.difference(*small)).mean
    return sum(mean) / len(mean)


def overview(pictures: dict[str, Image.Image]) -> Image.Image:
    """Return all six stages on one sheet."""
    first = pictures["links"]
    row = round(COLUMN * first.height / first.width)
    sheet = Image.new("RGB", (2 * COLUMN + 3 * GAP, 3 * row + 4 * GAP), "white")
    for number, name in enumerate(SIX):
        small = pictures[name].resize((COLUMN, row), Image.Resampling.LANCZOS)
        across, down = number % 2, number // 2
        sheet.paste(small, (GAP + across * (COLUMN + GAP), GAP + down * (row + GAP)))
    return sheet


@pytest.mark.parametrize("name", SCENES)
def test_the_picture_shows_the_page(desk: Desk, tmp_path: Path, name: str) -> None:
    desk.page.set_viewport_size({"width": WINDOW[0], "height": WINDOW[1]})
    desk.page.emulate_media(reduced_motion="reduce")
    fresh = Image.open(BytesIO(SCENES[name](desk)))
    if WRITE:
        reduced(fresh).save(picture_path(name), optimize=True)
    fresh.save(tmp_path / f"task-{name}.png")
    kept = opened(picture_path(name))
    assert fresh.size == kept.size, f"run make screenshots; see {tmp_path}"
    assert difference(fresh, kept) < MOST_DIFFERENCE, f"run make screenshots; see {tmp_path}"


def test_the_overview_shows_all_six() -> None:
    sheet = overview({name: opened(picture_path(name)) for name in SIX})
    if WRITE:
        reduced(sheet).save(picture_path("pages"), optimize=True)
    kept = opened(picture_path("pages"))
    assert sheet.size == kept.size, "run make screenshots"
    assert difference(sheet, kept) < MOST_DIFFERENCE, "run make screenshots"


def test_pictures_are_small_and_none_is_left_over() -> None:
    sizes = {path.name: path.stat().st_size for path in PICTURES.glob("task-*.png")}
    assert sizes.keys() == {picture_path(name).name for name in (*SCENES, "pages")}
    assert {name: size for name, size in sizes.items() if size > MOST_BYTES} == {}
    assert sum(sizes.values()) <= MOST_BYTES_IN_ALL


def test_another_page_would_be_seen() -> None:
    pages = [opened(picture_path(name)) for name in SCENES if name != "phone"]
    apart = [difference(one, other) for one in pages for other in pages if one is not other]
    assert min(apart) > MOST_DIFFERENCE
    blank = Image.new("RGB", pages[0].size, "white")
    assert min(difference(page, blank) for page in pages) > MOST_DIFFERENCE
