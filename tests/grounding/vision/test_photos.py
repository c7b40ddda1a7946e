"""Photos: found by id, hashed once, decoded as browsers show them; other files are refused."""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from grounding.pipeline.vision import photos as module
from grounding.pipeline.vision.photos import (
    PhotoError,
    PhotoGone,
    decode,
    find_photos,
    photo_table,
    read_photo,
)
from tests.grounding.small import make_release, picture

NAMES = ["image-000", "image-001", "image-002"]


def test_hashes_are_taken_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, folder = make_release(tmp_path, 3)
    store = tmp_path / "store"
    found, problems = find_photos(store, folder, NAMES)
    assert list(found) == NAMES
    assert not problems
    assert photo_table(store) == found
    read: list[str] = []
    real = module.read_content

    def watched(path: Path) -> bytes:
        read.append(path.name)
        return real(path)

    monkeypatch.setattr(module, "read_content", watched)
    assert find_photos(store, folder, NAMES)[0] == found
    assert read == []
    picture(7).save(folder / "image-001.jpg")
    again, _ = find_photos(store, folder, NAMES)
    assert read == ["image-001.jpg"]
    assert again["image-001"].sha256 != found["image-001"].sha256
    assert photo_table(store) == again


def test_what_other_releases_showed_stays_in_the_table(tmp_path: Path) -> None:
    _, folder = make_release(tmp_path, 3)
    find_photos(tmp_path / "store", folder, NAMES[:1])
    find_photos(tmp_path / "store", folder, NAMES[1:])
    assert sorted(photo_table(tmp_path / "store")) == NAMES


def test_a_table_may_be_as_large_as_the_limit_and_no_larger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = make_release(tmp_path, 1)
    found, _ = find_photos(tmp_path / "store", folder, NAMES[:1])
    size = (tmp_path / "store" / "photos.json").stat().st_size
    monkeypatch.setattr(module, "LARGEST_TABLE", size)
    assert photo_table(tmp_path / "store") == found
    monkeypatch.setattr(module, "LARGEST_TABLE", size - 1)
    with pytest.raises(PhotoError, match="it is too large"):
        photo_table(tmp_path / "store")


def test_a_missing_photo_is_a_problem_not_an_error(tmp_path: Path) -> None:
    _, folder = make_release(tmp_path, 2)
    (folder / "image-000.jpg").rename(folder / "image-000.JPEG")
    (folder / "image-002.png").mkdir()
    found, problems = find_photos(tmp_path / "store", folder, [*NAMES, "image-003"])
    assert found["image-000"].name == "image-000.JPEG"
    assert "image-002.png: cannot be read" in problems["image-002"]
    assert "there is no photo image-003 with the extension .jpg" in problems["image-003"]
    with pytest.raises(PhotoError, match="the folder of photos does not exist"):
        find_photos(tmp_path / "store", tmp_path / "nowhere", NAMES)


def test_jpg_goes_before_other_endings(tmp_path: Path) -> None:
    _, folder = make_release(tmp_path, 1)
    picture(5).save(folder / "image-000.png")
    found, _ = find_photos(tmp_path / "store", folder, NAMES[:1])
    assert found["image-000"].name == "image-000.jpg"


@pytest.mark.parametrize("orientation", range(1, 9))
def test_photos_are_turned_as_browsers_show_them(tmp_path: Path, orientation: int) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = tmp_path / "turned.png"
    picture(1).save(path, exif=exif)
    turned = decode(path.read_bytes())
    assert turned.size == ((400, 300) if orientation < 5 else (300, 400))
    corner = np.asarray(turned)[0, 0].tolist()
    pixels = np.asarray(picture(1))
    top_left = {
        1: pixels[0, 0],
        2: pixels[0, -1],
        3: pixels[-1, -1],
        4: pixels[-1, 0],
        5: pixels[0, 0],
        6: pixels[-1, 0],
        7: pixels[-1, -1],
        8: pixels[0, -1],
    }
    assert corner == top_left[orientation].tolist()


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "CMYK", "1"])
def test_photos_of_any_mode_become_rgb(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("photo.jpg" if mode == "CMYK" else "photo.png")
    picture(1).convert(mode).save(path)
    assert decode(path.read_bytes()).mode == "RGB"


def test_what_is_no_photo_is_refused_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture(1).save(tmp_path / "photo.jpg")
    whole = (tmp_path / "photo.jpg").read_bytes()
    for content, why in (
        (whole[: len(whole) // 2], "truncated or damaged"),
        (whole[:30], "truncated or damaged"),
        (b"GIF89a", "no JPEG, PNG or WebP"),
        (b"", "no JPEG, PNG or WebP"),
    ):
        with pytest.raises(PhotoError, match=why):
            decode(content)
    monkeypatch.setattr(module, "MAX_PIXELS", 400 * 300 - 1)
    with pytest.raises(PhotoError, match="400 × 300, which is more than 119,999 pixels"):
        decode(whole)


def test_a_file_that_is_too_large_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, folder = make_release(tmp_path, 2)
    size = (folder / "image-000.jpg").stat().st_size
    monkeypatch.setattr(module, "MAX_BYTES", size)
    assert len(module.read_content(folder / "image-000.jpg")) == size
    with open(folder / "image-001.jpg", "ab") as file:
        file.truncate(size + 1)
    found, problems = find_photos(tmp_path / "store", folder, NAMES[:2])
    assert list(found) == ["image-000"]
    assert problems == {"image-001": f"image-001.jpg: the file is larger than {size:,} bytes"}


def test_a_decompression_bomb_is_refused_before_it_is_decoded(tmp_path: Path) -> None:
    Image.new("1", (20_000, 20_000)).save(tmp_path / "bomb.png")
    content = (tmp_path / "bomb.png").read_bytes()
    assert len(content) < 100_000
    with pytest.raises(PhotoError, match="20000 × 20000"):
        decode(content)


def test_a_photo_that_changed_is_not_taken_for_what_it_was(tmp_path: Path) -> None:
    _, folder = make_release(tmp_path, 1)
    found, _ = find_photos(tmp_path / "store", folder, NAMES[:1])
    expected = found["image-000"].sha256
    assert read_photo(folder, "image-000.jpg", expected).size == (400, 300)
    picture(9).save(folder / "image-000.jpg")
    with pytest.raises(PhotoGone, match="has changed during the run"):
        read_photo(folder, "image-000.jpg", expected)
    os.unlink(folder / "image-000.jpg")
    with pytest.raises(PhotoGone, match="No such file"):
        read_photo(folder, "image-000.jpg", expected)
