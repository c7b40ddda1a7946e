"""A full disk, or a process killed while it writes: no partial file is mistaken for a whole one."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from PIL import Image as Pillow
from pytest_django.fixtures import Settings

from annotation.models import Image
from annotation.pipeline.work.guides import guide_file, shipped_source
from annotation.selectors.work.guides import TOPICS
from tests.processes import ROOT, environment, wait_for
from tests.small_disk import SmallDisk, small_disk

pytestmark = pytest.mark.slow

DEMO = ROOT / "annotation" / "demo"
MANAGE = (sys.executable, "manage.py")
KILLED_IN_THE_MIDDLE = """
import django, sys
django.setup()
from django.test.utils import override_settings
from annotation.actions.corpus.imports import picture_store
from annotation.pipeline.corpus.pictures import Picture
from pathlib import Path
media, path, sha256, size = sys.argv[1:]
with override_settings(MEDIA_ROOT=media):
    picture_store(Picture(path=Path(path), format="JPEG", width=600, height=400, depth=3,
                          sha256=sha256, size_bytes=int(size)))
"""


def noisy_photo(path: Path, width: int = 600, height: int = 400) -> bytes:
    """Write a photo of a byte or more a pixel, since noise hardly compresses; return its bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    noise = Pillow.frombytes("RGB", (width, height), os.urandom(width * height * 3))
    noise.save(path, quality=90)
    return path.read_bytes()


def token_file(folder: Path, names: str = "one") -> Path:
    path = folder / "captions.token"
    path.write_text("".join(f"{name}.jpg#0\tA dog runs .\n" for name in names.split()))
    return path


class Site:
    """A site whose photos are on a disk of one megabyte; its database is elsewhere."""

    def __init__(self, folder: Path, disk: SmallDisk) -> None:
        self.disk = disk
        self.env = environment(
            CHAINBOX_VAR=str(folder / "var"), DATABASE_URL=f"sqlite:///{folder}/db.sqlite3"
        )

    def run(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        return self.disk.run([*MANAGE, *words], self.env)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with small_disk(tmp_path / "var" / "media") as disk:
        made = Site(tmp_path, disk)
        migrated = made.run("migrate", "--verbosity=0")
        assert migrated.returncode == 0, migrated.stderr
        yield made


def test_a_full_disk_is_a_message_and_the_next_import_stores_the_whole_photo(
    site: Site, tmp_path: Path
) -> None:
    content = noisy_photo(tmp_path / "photos" / "one.jpg")
    corpus = ("corpus_import", token_file(tmp_path), "--campaign=c", "--images")
    site.disk.fill(leave=len(content) // 2)
    failed = site.run(*corpus, tmp_path / "photos")
    assert failed.returncode == 1
    assert "Traceback" not in failed.stderr
    assert f"{hashlib.sha256(content).hexdigest()}.jpeg: the disk is full" in failed.stderr
    assert "Free some space" in failed.stderr
    assert site.disk.files() == []

    site.disk.empty()
    again = site.run(*corpus, tmp_path / "photos")
    assert again.returncode == 0, again.stderr
    (stored,) = site.disk.contents.rglob("*.jpeg")
    assert stored.read_bytes() == content
    assert site.run("files_check").returncode == 0
    stored.write_bytes(content[:-1])
    assert site.run("files_check").returncode == 1


@pytest.mark.django_db
def test_a_photo_whose_import_was_killed_is_whole_after_the_next(
    tmp_path: Path, settings: Settings
) -> None:
    content = noisy_photo(tmp_path / "photos" / "one.jpg", 1200, 800)
    media, pipe = tmp_path / "media", tmp_path / "pipe"
    os.mkfifo(pipe)
    sha256 = hashlib.sha256(content).hexdigest()
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED_IN_THE_MIDDLE, media, pipe, sha256, str(len(content))],
        env=environment(DJANGO_SETTINGS_MODULE="config.settings", CHAINBOX_VAR=str(tmp_path)),
        cwd=ROOT,
    )
    with pipe.open("wb") as stream:
        # Half of it, and no end: the process has written the first part and waits for the rest.
        stream.write(content[: len(content) // 2])
        stream.flush()
        wait_for(lambda: written(media) > 0, "the first bytes of the photo")
        process.kill()
        process.wait()
    assert 0 < written(media) < len(content)

    settings.MEDIA_ROOT = media
    call_command(
        "corpus_import", token_file(tmp_path), campaign="c", images=tmp_path / "photos",
        stdout=StringIO(),
    )  # fmt: skip
    with default_storage.open(Image.objects.get().file) as stored:
        assert stored.read() == content


def written(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk") as made:
        yield made


def refused(*words: str | Path) -> str:
    with pytest.raises(CommandError) as failed:
        call_command(str(words[0]), *(str(word) for word in words[1:]), stdout=StringIO())
    return str(failed.value)


@pytest.fixture
def campaigns() -> None:
    """The demo, once as finished annotation and once with gold questions."""
    quiet = StringIO()
    call_command(
        "corpus_import", DEMO, campaign="done", images=DEMO / "photos", accept=True, stdout=quiet
    )
    call_command("corpus_import", DEMO, campaign="gold", gold=True, stdout=quiet)
    call_command("gold_make", campaign="gold", from_answer_key=True, per_image=6, stdout=quiet)


# A backup reads in a transaction of its own.
@pytest.mark.django_db(transaction=True)
def test_no_command_leaves_half_a_file_on_a_full_disk(disk: SmallDisk, campaigns: None) -> None:
    place = str(disk.contents)
    disk.fill(leave=12_288)
    for file, words in (
        ("backup.zip", ["backup_write", f"{place}/backup.zip"]),
        ("release", ["release_build", "--campaign=done", "--photos", f"--out={place}/release"]),
        ("gold.jsonl", ["gold_export", f"{place}/gold.jsonl", "--campaign=gold"]),
    ):
        assert f"{place}/{file}: the disk is full. Free some space" in refused(*words)
        assert disk.files() == []
        assert not (disk.contents / "release").exists()


# A backup reads in a transaction of its own.
@pytest.mark.django_db(transaction=True)
def test_a_file_that_is_replaced_stays_as_it_was_on_a_full_disk(
    disk: SmallDisk, campaigns: None
) -> None:
    for name in ("backup.zip", "gold.jsonl"):
        (disk.contents / name).write_text("old")
    disk.fill(leave=4096)
    assert "the disk is full" in refused("backup_write", disk.contents / "backup.zip", "--force")
    refused("gold_export", disk.contents / "gold.jsonl", "--campaign=gold", "--force")
    for name in ("backup.zip", "gold.jsonl"):
        assert (disk.contents / name).read_text() == "old"
    assert disk.files() == ["backup.zip", "gold.jsonl"]


@pytest.mark.django_db
def test_of_several_files_those_that_are_there_are_whole(disk: SmallDisk, campaigns: None) -> None:
    disk.fill(leave=12_288)
    said = refused("guides_export", disk.contents, "--campaign=gold")
    assert "the disk is full. Free some space" in said
    there = [topic for topic in TOPICS if (disk.contents / guide_file(topic)).exists()]
    assert 0 < len(there) < len(TOPICS)
    assert disk.files() == sorted(guide_file(topic) for topic in there)
    for topic in there:
        written = (disk.contents / guide_file(topic)).read_text(encoding="utf-8")
        assert written == shipped_source(topic)


def test_a_model_that_its_library_cannot_write_is_not_taken_for_one(
    disk: SmallDisk, tmp_path: Path
) -> None:
    """The library that trains it does not look whether the disk has taken all."""
    sentences = tmp_path / "release" / "Sentences"
    sentences.mkdir(parents=True)
    line = "[/EN#1/animals A zebu] eats [/EN#2/other the grass] .\n"
    (sentences / "1.txt").write_text(line * 5)
    (tmp_path / "release" / "train.txt").write_text("1\n")
    disk.fill()
    said = refused("mentions_train", tmp_path / "release", "--out", disk.contents)
    assert said.startswith(f"{disk.contents}/chunker.crfsuite: the disk is full")
    assert disk.files() == []


@pytest.mark.django_db
def test_a_folder_that_may_not_be_written_to_is_told_in_words(campaigns: None) -> None:
    said = refused("gold_export", "/proc/gold.jsonl", "--campaign=gold")
    assert said.startswith("/proc/gold.jsonl: ")
    assert "Errno" not in said


ASKED = """
import django
django.setup()
from django.test import Client
client = Client(raise_request_exception=False)
answer = client.post(
    "/accounts/login/", {"username": "admin", "password": "a wrong one"}, HTTP_HOST="localhost"
)
print(answer.status_code, answer.content.decode())
from marketplace.tasks import marketplace_sweep
marketplace_sweep.apply()
print("swept")
"""


def test_a_full_disk_under_the_database_is_a_message_everywhere(tmp_path: Path) -> None:
    var = tmp_path / "var"
    with small_disk(var, size="8m") as disk:
        env = environment(CHAINBOX_VAR=str(var), DJANGO_SETTINGS_MODULE="config.settings")
        migrated = disk.run([*MANAGE, "migrate", "--verbosity=0"], env)
        assert migrated.returncode == 0, migrated.stderr
        lines = [f"{number}.jpg#0\tA dog runs .\n" for number in range(2000)]
        (tmp_path / "captions.token").write_text("".join(lines))
        disk.fill(leave=65_536)
        failed = disk.run(
            [*MANAGE, "corpus_import", tmp_path / "captions.token", "--campaign=c"], env
        )
        assert failed.returncode == 1
        assert failed.stderr.endswith(
            "error: The database's disk is full. Free some space on it and try again; nothing "
            "half-written was kept.\n"
        )
        assert "Traceback" not in failed.stderr
        disk.empty()
        disk.fill()
        asked = disk.run([sys.executable, "-c", ASKED], env)
        assert asked.stdout.startswith("507 The server could not write to its disk")
        assert asked.stdout.endswith("swept\n")
        assert "marketplace_sweep was not finished: The database's disk is full" in asked.stderr
