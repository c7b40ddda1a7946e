"""`python -m grounding extract`: killed and resumed, shared, and told in plain words."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grounding.__main__ import build_parser, main
from grounding.pipeline.store.features import FeatureKey, opened
from grounding.pipeline.text.relation_finders import relation_finder
from grounding.pipeline.vision.photos import photo_table
from grounding.pipeline.vision.regions import gold_regions
from tests.data.conftest import data_folder
from tests.grounding.small import contents, image_of, make_release
from tests.processes import ROOT, environment, wait_for
from tests.small_disk import small_disk

IMAGES = 48


def words(folder: Path, store: str, *more: str) -> list[str]:
    return [
        "extract",
        *("--release", str(folder / "release"), "--images", str(folder / "photos")),
        *("--store", str(folder / store), "--crops", "whole", "--regions", "none"),
        *("--device", "cpu", "--shard-items", "4", *more),
    ]


def start(folder: Path, store: str, *more: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "grounding", *words(folder, store, *more)],
        cwd=ROOT,
        env=environment(OMP_NUM_THREADS="1"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process: subprocess.Popen[str]) -> str:
    told, errors = process.communicate(timeout=300)
    assert process.returncode == 0, errors
    return told


def made(told: str) -> int:
    found = re.search(r"this run extracted ([\d,]+)\.", told)
    return int(found[1].replace(",", "")) if found else 0


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("extraction")
    make_release(folder, IMAGES)
    (folder / "photos" / "image-020.jpg").write_bytes(b"\xff\xd8\xff cut short")
    (folder / "photos" / "image-021.jpg").unlink()
    return folder


@pytest.fixture(scope="module")
def undisturbed(folder: Path) -> dict[str, bytes]:
    told = finish(start(folder, "undisturbed", "--threads", "2"))
    assert made(told) == IMAGES - 2
    return contents(folder / "undisturbed")


@pytest.mark.slow
def test_regions_of_augmented_phrases_are_extracted(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some = ("--limit", "2", "--shard-items", "100", "--regions", "gold")
    assert main(words(folder, "augmented", *some)) == 0
    assert made(capsys.readouterr().out) > 0
    assert main(words(folder, "augmented", *some, "--relations", "grammar")) == 0
    find = relation_finder("grammar")
    images = [image_of(folder / "release", number) for number in (0, 1)]
    further = [set(gold_regions(i, find)) - set(gold_regions(i)) for i in images]
    assert sum(map(len, further)) > 0
    assert made(capsys.readouterr().out) == sum(map(len, further))
    assert main(words(folder, "augmented", "--relations", "grammar")) == 1
    assert "--relations adds to the gold regions" in capsys.readouterr().err


@pytest.mark.slow
def test_killed_and_resumed_the_store_is_the_same(
    folder: Path, undisturbed: dict[str, bytes]
) -> None:
    def shards() -> int:
        return len(list((folder / "killed").glob("*/shards/*.shard")))

    process = start(folder, "killed", "--threads", "1")
    try:
        wait_for(lambda: shards() >= 2 or process.poll() is not None, "two shards", seconds=200)
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert process.returncode == -signal.SIGKILL
    before = shards()
    assert 2 <= before < 12
    assert contents(folder / "killed") != undisturbed
    told = finish(start(folder, "killed", "--threads", "1"))
    assert 0 < made(told) <= IMAGES - 2 - 3 * before
    assert contents(folder / "killed") == undisturbed


@pytest.mark.slow
def test_two_workers_make_the_same_store_as_one(
    folder: Path, undisturbed: dict[str, bytes]
) -> None:
    workers = [start(folder, "shared", "--threads", "1") for _ in range(2)]
    told = [finish(worker) for worker in workers]
    assert contents(folder / "shared") == undisturbed
    assert sum(map(made, told)) >= IMAGES - 2


@pytest.mark.slow
def test_the_command_tells_what_it_did(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--limit", "24", "--dtype", "float32")
    assert main(words(folder, "told", *few)) == 0
    told = capsys.readouterr().out
    assert "22 features of 1280 numbers." in told
    assert "23 were missing; this run extracted 22." in told
    assert "2 could not be used (all are listed in" in told
    assert "image-020.jpg: the file is truncated or damaged" in told
    assert "there is no photo image-021" in told
    assert main(words(folder, "told", *few)) == 0
    assert "The store has all these features already." in capsys.readouterr().out
    store = opened(folder / "told")
    listed = (store.folder / "unreadable.txt").read_text(encoding="utf-8").splitlines()
    assert listed[0].startswith("image-020.jpg: ")
    assert len(listed) == 2
    table = photo_table(folder / "told")
    assert store.has(FeatureKey(table["image-000"].sha256, None))
    assert store.read([FeatureKey(table["image-001"].sha256, None)]).shape == (1, 1280)


@pytest.mark.slow
def test_regions_of_each_kind(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    boxes = folder / "boxes.csv"
    boxes.write_text("image,x0,y0,x1,y1\nimage-000,1,1,50,60\nimage-000,5,5,90,90\n")

    def made_with(*more: str) -> int:
        assert main(words(folder, "regions", "--limit", "1", *more)) == 0
        return made(capsys.readouterr().out)

    assert made_with("--regions", "gold") == 1 + 5
    assert made_with("--regions", "proposals", "--proposals", "7") == 7
    assert made_with("--regions", "proposals", "--boxes", str(boxes)) == 2
    assert made_with("--regions", "none") == 0


@pytest.mark.slow
def test_real_photos(tmp_path: Path, public_dataset: Path) -> None:
    """Boxes of the public release are features of its real photos."""
    photos = data_folder() / "photos"
    if not photos.is_dir():
        pytest.skip(f"the photos are not there: no {photos}")
    name = sorted(photos.glob("*.jpg"))[0].stem
    release = tmp_path / "release"
    for part, ending in (("Sentences", "txt"), ("Annotations", "xml")):
        (release / part).mkdir(parents=True)
        (release / part / f"{name}.{ending}").symlink_to(public_dataset / part / f"{name}.{ending}")
    status = main(
        [
            *("extract", "--release", str(release), "--images", str(photos)),
            *("--store", str(tmp_path / "store"), "--crops", "whole", "--device", "cpu"),
        ]
    )
    assert status == 0
    assert len(opened(tmp_path / "store")) > 1


def test_errors_say_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_release(tmp_path, 1)
    assert main(words(tmp_path, "store", "--backbone", "vgg61")) == 1
    assert "error: unknown backbone “vgg61”" in capsys.readouterr().err
    assert main(words(tmp_path, "store", "--weights", str(tmp_path / "none.pth"))) == 1
    assert "none.pth: the file of weights does not exist" in capsys.readouterr().err
    assert main(words(tmp_path / "elsewhere", "store")) == 1
    assert "this is not a release" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(words(tmp_path, "store", "--limit", "0"))
    assert "0 is not 1 or more" in capsys.readouterr().err


def test_help_needs_neither_django_nor_torch() -> None:
    program = (
        "import sys; from grounding.__main__ import build_parser; build_parser().format_help();"
        "print([name for name in ('django', 'torch', 'celery', 'cv2') if name in sys.modules])"
    )
    told = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == "[]"


def test_the_page_names_every_option() -> None:
    page = (ROOT / "docs" / "features.md").read_text(encoding="utf-8")
    [commands] = [action for action in build_parser()._actions if action.dest == "command"]
    assert isinstance(commands.choices, dict)
    options = {
        text
        for action in commands.choices["extract"]._actions
        for text in action.option_strings
        if text.startswith("--") and text != "--help"
    }
    told = set(re.findall(r"--[a-z]+(?:-[a-z]+)*", page))
    assert told == options


@pytest.mark.slow
def test_a_full_disk_is_a_message_and_the_next_run_goes_on(
    folder: Path, undisturbed: dict[str, bytes], tmp_path: Path
) -> None:
    with small_disk(tmp_path / "disk", size="2m") as disk:
        command = [sys.executable, "-m", "grounding"]
        command += words(folder, str(disk.folder), "--threads", "1")
        disk.fill(leave=40_000)
        stopped = disk.run(command, environment(OMP_NUM_THREADS="1"))
        assert stopped.returncode == 1
        assert re.search(r"^error: \S+\.shard: the disk is full\. Free", stopped.stderr, re.M)
        assert "Traceback" not in stopped.stderr
        assert not [name for name in disk.files() if name.endswith(".partial")]
        disk.empty()
        again = disk.run(command, environment(OMP_NUM_THREADS="1"))
        assert again.returncode == 0, again.stderr
        assert contents(disk.contents) == undisturbed
