"""A release format is one module and one line in the registry: shown with a small one."""

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.actions.corpus.imports import Take
from annotation.actions.release.releases import ReleaseBuildError, release_build
from annotation.pipeline.release.folder import image_ids, read_image
from annotation.pipeline.release.writers.registry import DEFAULT, FORMATS
from annotation.pipeline.release.writers.writer import (
    ReleaseFormat,
    ReleaseHead,
    ReleaseItem,
    WriteImage,
)
from common.files.whole import whole_file, write_text
from tests.corpora import campaign_with_images

pytestmark = pytest.mark.django_db


@contextmanager
def phrase_lines(folder: Path, head: ReleaseHead) -> Iterator[WriteImage]:
    """A header, a line an image while they come, a footer; then a manifest of the whole."""
    images: list[str] = []
    with whole_file(folder / "phrases.jsonl", sync=False) as stream:
        stream.write(json.dumps({"campaign": head.campaign}).encode() + b"\n")

        def write(item: ReleaseItem) -> None:
            phrases = sum(len(sentence.phrases) for sentence in item.image.sentences)
            row = {"image": item.image.image, "phrases": phrases, "split": item.split}
            stream.write(json.dumps(row).encode() + b"\n")
            images.append(item.image.image)

        yield write
        stream.write(b"{}\n")
    write_text(folder / "manifest.json", json.dumps(images), sync=False)


@pytest.fixture
def _phrase_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FORMATS, "lines", ReleaseFormat("one line an image", phrase_lines))


@pytest.mark.usefixtures("_phrase_lines")
def test_another_format_is_one_line_in_the_registry(tmp_path: Path) -> None:
    campaign = campaign_with_images(2, take=Take.ACCEPT)
    usual, lines = tmp_path / "usual", tmp_path / "lines"
    call_command("release_build", campaign=campaign.name, out=usual, stdout=io.StringIO())
    call_command(
        "release_build", campaign=campaign.name, out=lines, format="lines", stdout=io.StringIO()
    )
    head, *rows, end = (lines / "phrases.jsonl").read_text().splitlines()
    assert (json.loads(head), end) == ({"campaign": campaign.name}, "{}")
    for row, name in zip(map(json.loads, rows), image_ids(usual), strict=True):
        found = read_image(usual, name)
        assert row["image"] == name
        assert row["phrases"] == sum(len(sentence.phrases) for sentence in found.sentences)
    assert json.loads((lines / "manifest.json").read_text()) == image_ids(usual)
    assert {path.name for path in lines.iterdir()} == {
        *("phrases.jsonl", "manifest.json", "NOT_INCLUDED")
    }


@pytest.mark.usefixtures("_phrase_lines")
def test_the_command_offers_what_the_registry_has(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("release_build", "--help")
    assert "{entities,lines}" in capsys.readouterr().out
    with pytest.raises(CommandError, match="invalid choice: 'other'"):
        call_command("release_build", "--campaign", "a", "--out", "b", "--format", "other")


def test_a_format_that_fails_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextmanager
    def failing(folder: Path, head: ReleaseHead) -> Iterator[WriteImage]:
        with phrase_lines(folder, head) as write:
            yield write
        raise OSError("no room for the footer")

    monkeypatch.setitem(FORMATS, "failing", ReleaseFormat("fails at the end", failing))
    campaign = campaign_with_images(2, take=Take.ACCEPT)
    with pytest.raises(OSError, match="no room for the footer"):
        release_build(campaign=campaign, out=tmp_path / "out", format="failing")
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_format_is_refused(tmp_path: Path) -> None:
    campaign = campaign_with_images(1, take=Take.ACCEPT)
    with pytest.raises(ReleaseBuildError, match=f"choose one of {DEFAULT}"):
        release_build(campaign=campaign, out=tmp_path / "out", format="other")
