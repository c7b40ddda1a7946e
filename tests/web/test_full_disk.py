"""A full disk, or a process killed while it writes: nothing half-written is taken for whole."""

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
from PIL import Image as Pillow

from annotation.models import Image
from tests.processes import ROOT, environment, wait_for
from tests.small_disk import SmallDisk, small_disk

pytestmark = pytest.mark.slow

MANAGE = (sys.executable, "manage.py")
KILLED_IN_THE_MIDDLE = """
import django, sys
django.setup()
from django.test.utils import override_settings
from annotation.actions.corpus import picture_store
from annotation.pipeline.pictures import Picture
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


@pytest.mark.django_db
def test_a_photo_whose_import_was_killed_is_whole_after_the_next(
    tmp_path: Path, settings: pytest.FixtureRequest
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

    settings.MEDIA_ROOT = media  # type: ignore[attr-defined]
    call_command(
        "corpus_import", token_file(tmp_path), campaign="c", images=tmp_path / "photos",
        stdout=StringIO(),
    )  # fmt: skip
    with default_storage.open(Image.objects.get().file) as stored:
        assert stored.read() == content


def written(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
