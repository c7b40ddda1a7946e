"""The commands mentions_train and mentions_find; they need no database."""

import io
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """A release of three images: two to train on, one to score on."""
    directory = tmp_path / "release"
    (directory / "Sentences").mkdir(parents=True)
    for image, animal in (("1", "zebu"), ("2", "yak"), ("3", "yak")):
        line = f"[/EN#1/animals A {animal}] eats [/EN#2/other the grass] .\n"
        (directory / "Sentences" / f"{image}.txt").write_text(line * 5, encoding="utf-8")
    (directory / "train.txt").write_text("1\n2\n", encoding="utf-8")
    (directory / "val.txt").write_text("3\n", encoding="utf-8")
    return directory


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_train_then_find_with_what_was_trained(release: Path, tmp_path: Path) -> None:
    folder = tmp_path / "trained"
    printed = run("mentions_train", str(release), "--out", str(folder))
    assert "10 captions with 20 mentions" in printed
    assert "F1 1.0000" in printed
    assert "exact types 1.0000" in printed

    captions = tmp_path / "captions.txt"
    captions.write_text("A yak eats the grass.\n\nA zebu eats the grass .\n", encoding="utf-8")
    assert run("mentions_find", str(captions), "--model", str(folder)) == (
        "[/EN#1/animals A yak] eats [/EN#2/other the grass] .\n"
        "\n"
        "[/EN#1/animals A zebu] eats [/EN#2/other the grass] .\n"
    )


def test_train_without_val_does_not_score(release: Path, tmp_path: Path) -> None:
    (release / "val.txt").unlink()
    printed = run("mentions_train", str(release), "--out", str(tmp_path / "trained"))
    assert "the finder is not scored" in printed


def test_train_on_something_else_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"not a release.*Sentences"):
        run("mentions_train", str(tmp_path), "--out", str(tmp_path / "trained"))
    assert not (tmp_path / "trained").exists()


def test_find_reads_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    typed = io.TextIOWrapper(io.BytesIO("\ufeffA man in blue .".encode()), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", typed)
    assert run("mentions_find") == "[/EN#1/people A man] in [/EN#2/clothing blue] .\n"


def test_find_says_what_is_wrong(tmp_path: Path) -> None:
    captions = tmp_path / "captions.txt"
    with pytest.raises(CommandError, match="there is no file"):
        run("mentions_find", str(captions))
    captions.write_bytes(b"A man .\nA caf\xe9 .\n")
    with pytest.raises(CommandError, match="line 2: not UTF-8"):
        run("mentions_find", str(captions))
    with pytest.raises(CommandError, match="not a folder of mention data"):
        run("mentions_find", str(captions), "--model", str(tmp_path))
