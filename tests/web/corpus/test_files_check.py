"""files_check finds every photo that has changed since its import; the next import restores it."""

import io
import os
import time
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from PIL import Image as Pillow
from pytest_django.fixtures import Settings

from annotation.actions.corpus.images import image_withdraw
from annotation.actions.corpus.photos import PhotoChangedError, picture_store
from annotation.models import Image
from annotation.pipeline.corpus.pictures import read_picture

pytestmark = pytest.mark.django_db

NAMES = ("one", "two", "three")


@pytest.fixture
def corpus(tmp_path: Path, settings: Settings) -> Path:
    """Three images with photos of their own, imported into the campaign "c"."""
    settings.MEDIA_ROOT = tmp_path / "media"
    (tmp_path / "photos").mkdir()
    for number, name in enumerate(NAMES):
        Pillow.new("RGB", (60 + number, 40), "red").save(tmp_path / "photos" / f"{name}.jpg")
    lines = [f"{name}.jpg#0\tA dog runs .\n" for name in NAMES]
    (tmp_path / "captions.token").write_text("".join(lines))
    imported(tmp_path)
    return tmp_path


def imported(folder: Path, campaign: str = "c") -> str:
    out = io.StringIO()
    call_command(
        "corpus_import", folder / "captions.token", campaign=campaign, images=folder / "photos",
        stdout=out, stderr=out,
    )  # fmt: skip
    return out.getvalue()


def checked(**options: object) -> tuple[str, str]:
    """Return the output of files_check, and its error."""
    out = io.StringIO()
    try:
        call_command("files_check", stdout=out, **options)
    except CommandError as error:
        return out.getvalue(), str(error)
    return out.getvalue(), ""


def stored(name: str) -> Path:
    return Path(default_storage.path(Image.objects.filter(name=name)[0].file))


def test_whole_photos_pass(corpus: Path) -> None:
    assert checked() == ("3 photos: every one is as it was imported.\n", "")


def test_what_is_missing_or_damaged_is_named_and_put_back(corpus: Path) -> None:
    contents = {name: stored(name).read_bytes() for name in NAMES}
    stored("one").unlink()
    stored("two").write_bytes(contents["two"][:100])
    # As large as before, with one bit another.
    stored("three").write_bytes(contents["three"][:-1] + bytes([contents["three"][-1] ^ 1]))
    said, failed = checked()
    for name, problem in (
        ("one", "is missing"),
        ("two", "is damaged: its 100 bytes are not those of the photo that was imported"),
        ("three", f"is damaged: its {len(contents['three'])} bytes are not those"),
    ):
        line = next(line for line in said.splitlines() if stored(name).name in line)
        assert problem in line
        assert f"(image {name} of campaign 'c')" in line
    assert failed.startswith("3 of 3 photos are not as they were imported. To restore them, run ")
    assert "corpus_import" in failed

    assert "3 had a missing or damaged photo, which was restored." in imported(corpus)
    assert {name: stored(name).read_bytes() for name in NAMES} == contents
    assert checked()[1] == ""
    assert "put back" not in imported(corpus)


def test_an_empty_photo_and_one_that_cannot_be_read(corpus: Path) -> None:
    stored("one").write_bytes(b"")
    file = stored("two")
    file.unlink()
    file.mkdir()
    said, failed = checked()
    assert f"{stored('one').name} is damaged: it is empty" in said
    assert f"{file.name} cannot be read: Is a directory" in said
    assert failed.startswith("2 of 3 photos")


def test_a_new_image_with_a_photo_that_is_stored_but_damaged_gets_the_whole_one(
    corpus: Path,
) -> None:
    content = stored("two").read_bytes()
    stored("two").write_bytes(content[:200])
    imported(corpus, campaign="another")
    assert stored("two").read_bytes() == content


def test_another_photo_does_not_replace_a_damaged_one(corpus: Path) -> None:
    stored("two").write_bytes(b"half")
    Pillow.new("RGB", (61, 40), "blue").save(corpus / "photos" / "two.jpg")
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 problems"):
        call_command(
            "corpus_import", corpus / "captions.token", campaign="c", images=corpus / "photos",
            stderr=out,
        )  # fmt: skip
    assert "image two: its stored photo is damaged" in out.getvalue()
    assert "because it is a different photo" in out.getvalue()
    assert stored("two").read_bytes() == b"half"


def test_a_photo_that_changes_between_check_and_import_is_not_stored(corpus: Path) -> None:
    path = corpus / "new.jpg"
    Pillow.new("RGB", (99, 40), "blue").save(path)
    picture = read_picture(path)
    Pillow.new("RGB", (99, 40), "green").save(path)
    before = sorted((corpus / "media").rglob("*"))
    with pytest.raises(PhotoChangedError, match=r"new\.jpg"):
        picture_store(picture)
    assert [path for path in sorted((corpus / "media").rglob("*")) if path.is_file()] == [
        path for path in before if path.is_file()
    ]


def test_one_campaign_of_several_and_a_photo_of_many_images(corpus: Path) -> None:
    for number in range(4):
        imported(corpus, campaign=f"again {number}")
    stored("one").unlink()
    said, failed = checked(campaign="again 2")
    assert "(image one of campaign 'again 2')" in said
    assert failed.startswith("1 of 3 photos")
    said, failed = checked()
    assert said.count(" is missing ") == 1
    assert "image one of campaign 'again 1' and 2 more)" in said


def test_withdrawn_photos_are_not_missed(
    corpus: Path, django_capture_on_commit_callbacks: object
) -> None:
    assert callable(django_capture_on_commit_callbacks)
    with django_capture_on_commit_callbacks(execute=True):
        image_withdraw(image=Image.objects.get(name="one"), reason="asked to")
    assert not stored("one").exists()
    assert checked() == ("2 photos: every one is as it was imported.\n", "")


def test_leftovers_of_killed_processes_are_told_of_and_removed(corpus: Path) -> None:
    left = stored("one").with_name(f".{stored('one').name}.0123.partial")
    left.write_bytes(b"half")
    assert "half-written" not in checked()[0]
    yesterday = time.time() - 25 * 3600
    os.utime(left, (yesterday, yesterday))
    assert "1 half-written file (4 bytes) of killed processes can be removed" in checked()[0]
    assert left.exists()
    assert "1 half-written file (4 bytes) of killed processes removed" in checked(tidy=True)[0]
    assert not left.exists()
    assert stored("one").exists()


def test_the_help_says_what_to_do_next(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("files_check", "--help")
    text = " ".join(capsys.readouterr().out.split())
    assert "import the same corpus again with --images" in text
    assert "Exit status 1" in text
