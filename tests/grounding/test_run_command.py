"""`python -m grounding run image_sentence` on a small release with photos made here."""

import json
import re
from pathlib import Path

import numpy
import pytest
from PIL import Image

from annotation.pipeline.release.folder import parse_sentence, write_splits
from grounding.__main__ import main

COLOURS = {
    "red": (220, 30, 30),
    "green": (30, 180, 40),
    "blue": (30, 50, 220),
    "white": (240, 240, 240),
}
KEYS = {"r1", "r5", "r10", "median_rank"}


def make_release(folder: Path, splits: dict[str, int]) -> list[str]:
    """Write photos of one colour with noise, and captions that name it; return the arguments."""
    random = numpy.random.default_rng(0)
    ids: dict[str, list[str]] = {}
    (folder / "release" / "Sentences").mkdir(parents=True)
    (folder / "photos").mkdir()
    for name, count in splits.items():
        for number in range(count):
            word = list(COLOURS)[number % len(COLOURS)]
            image = f"{name}{number}"
            noise = random.integers(-20, 20, (40, 50, 3))
            pixels = numpy.clip(numpy.array(COLOURS[word]) + noise, 0, 255).astype(numpy.uint8)
            Image.fromarray(pixels).save(folder / "photos" / f"{image}.jpg")
            lines = [f"[/EN#{number + 1}/other A {word} wall] .", f"It is {word} ."]
            assert all(parse_sentence(line) for line in lines)
            (folder / "release" / "Sentences" / f"{image}.txt").write_text("\n".join(lines) + "\n")
            ids.setdefault(name, []).append(image)
    write_splits(folder / "release", ids)
    return [
        *("run", "image_sentence", "--release", str(folder / "release")),
        *("--images", str(folder / "photos"), "--store", str(folder / "store")),
        *("--out", str(folder / "out"), "--vectors", "captions", "--crops", "whole"),
        *("--ridges", "0.1,1", "--powers", "0,1", "--components", "16"),
    ]


@pytest.mark.slow
def test_a_run_writes_its_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = make_release(tmp_path, {"train": 24, "val": 8})
    (tmp_path / "photos" / "val7.jpg").unlink()
    (tmp_path / "photos" / "train0.jpg").write_bytes(b"no photo at all")
    assert main(words) == 0
    printed = capsys.readouterr().out
    metrics = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert set(metrics) == {"val", "test"}
    assert metrics["test"] is None
    assert set(metrics["val"]) == {"image_to_sentence", "sentence_to_image"}
    assert all(set(way) == KEYS for way in metrics["val"].values())
    # Several photos share a colour, so captions can only distinguish colours, not photos.
    assert metrics["val"]["sentence_to_image"]["r5"] > 60
    settings = json.loads((tmp_path / "out" / "settings.json").read_text())
    assert settings["images"] == {"train": 23, "val": 7}
    assert settings["images_left_out"] == 2
    assert settings["chosen"]["ridge_x"] in (0.1, 1.0)
    assert len(settings["tried"]) == 8
    assert settings["words"]["missing"] == 0
    intervals = json.loads((tmp_path / "out" / "intervals.json").read_text())
    assert set(intervals["val"]["sentence_to_image"]["interval"]) == KEYS
    assert "2 images were left out because they have no usable photo." in printed
    assert "The release has no images in the split test." in printed
    assert re.search(r"^val    image to sentence +\d", printed, re.MULTILINE)
    assert "  95% interval" in printed
    assert "  by chance" in printed
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*.shard")}
    assert main([*words, "--seed", "0"]) == 0
    again = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert again == metrics
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "store").rglob("*.shard")}
    assert before == after != {}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ("no val", "has no images in val.txt"),
        ("no photos", "no image of train.txt has a photo here"),
        ("no vectors", "cannot be read: No such file"),
    ],
)
def test_what_is_missing_is_said_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], change: str, why: str
) -> None:
    words = make_release(tmp_path, {"train": 4} if change == "no val" else {"train": 4, "val": 2})
    if change == "no photos":
        for photo in (tmp_path / "photos").iterdir():
            photo.unlink()
    if change == "no vectors":
        words[words.index("captions")] = str(tmp_path / "vectors.bin")
    assert main(words) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert why in error
    assert error.count("\n") == 1


def test_numbers_that_make_no_sense_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    folders = ["--release", "r", "--images", "i", "--store", "s", "--out", "o", "--vectors", "v"]
    with pytest.raises(SystemExit):
        main(["run", "image_sentence", *folders, "--ridges", "0.1,-1"])
    assert "“0.1,-1” is not valid: give a number of at least 0" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(["run", "image_sentence", *folders, "--ridges", "much"])
    assert "--ridges" in capsys.readouterr().err
