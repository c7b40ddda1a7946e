"""What all importers have in common, and how a format is guessed."""

from pathlib import Path

import pytest

from annotation.pipeline.corpus.importers import (
    FORMATS,
    CorpusError,
    guess_format,
    read_corpus,
)
from tests.unit.corpus.corpus_files import make_release, read, write


@pytest.mark.parametrize("format", FORMATS)
def test_missing_file(tmp_path: Path, format: str) -> None:
    with pytest.raises(CorpusError, match=r"nowhere: (there is no such|this is not a release)"):
        list(read_corpus(tmp_path / "nowhere", format))


@pytest.mark.parametrize("format", ["flickr30k", "karpathy", "coco", "csv"])
def test_folder_in_place_of_a_file(tmp_path: Path, format: str) -> None:
    with pytest.raises(CorpusError, match="this is a folder, not a file"):
        list(read_corpus(tmp_path, format))


@pytest.mark.parametrize(
    ("format", "start"), [("flickr30k", b"1.jpg#0\tA\n"), ("csv", b"image,caption\n")]
)
def test_text_that_is_not_utf8_or_has_no_lines(tmp_path: Path, format: str, start: bytes) -> None:
    with pytest.raises(CorpusError, match="corpus, line 2: this is not UTF-8 text"):
        list(read_corpus(write(tmp_path, start + b"1.jpg#0\tcaf\xe9\n"), format))
    with pytest.raises(CorpusError, match="corpus, line 2: the line is longer than a megabyte"):
        list(read_corpus(write(tmp_path, start + b"a" * (2**20 + 1)), format))


@pytest.mark.parametrize(
    ("format", "content"),
    [
        ("flickr30k", "\n"),
        ("csv", "image,caption\n"),
        ("karpathy", "{}"),
        ("karpathy", '{"images": {"a": 1}}'),
        ("coco", '{"images": [], "annotations": []}'),
    ],
)
def test_nothing_to_import_is_a_problem(tmp_path: Path, format: str, content: str) -> None:
    assert read(write(tmp_path, content), format) == (
        [],
        [("", f"no images were found; is {format} the right format?")],
    )


def test_formats_that_are_not_there(tmp_path: Path) -> None:
    path = write(tmp_path, "1.jpg#0\tA\n")
    with pytest.raises(CorpusError, match="“vg” is not a format; the formats are flickr30k, "):
        read_corpus(path, "vg")
    with pytest.raises(CorpusError, match="the format flickr30k has no chains and boxes"):
        read_corpus(path, "flickr30k", with_annotation=True)


@pytest.mark.parametrize(
    ("name", "content", "format"),
    [
        ("results.token", "bad line\n1.jpg#0\tA man\n", "flickr30k"),
        ("a.csv", "anything", "csv"),
        ("a.TSV", "anything", "csv"),
        ("captions.txt", "image,caption\n1.jpg,A man\n", "csv"),
        ("a.json", '{"images": [{"a": {"annotations": 1}, "sentences": []}]}', "karpathy"),
        ("a", '\n {"info": {}, "images": [{"id": 1}], "annotations": []}', "coco"),
        ("b", '{"annotations": [], "images": [{"sentences": 1}]}', "coco"),
    ],
)
def test_guess_format(tmp_path: Path, name: str, content: str, format: str) -> None:
    assert guess_format(write(tmp_path, content, name)) == format


@pytest.mark.parametrize("start", ["", " \n", "\ufeff", "\ufeff\n"])
def test_guess_json_by_its_first_brace(tmp_path: Path, start: str) -> None:
    content = start + '{"images": [{"sentences": []}]}'
    assert guess_format(write(tmp_path, content, "corpus")) == "karpathy"


def test_guess_entities(tmp_path: Path) -> None:
    assert guess_format(make_release(tmp_path)) == "entities"


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.txt", "A man\n"), ("a.txt", ""), ("a.json", '{"images": []}'), ("a.json", "[1]")],
)
def test_unknown_format_names_the_option(tmp_path: Path, name: str, content: str) -> None:
    path = write(tmp_path, content, name)
    with pytest.raises(CorpusError, match="unclear") as error:
        guess_format(path)
    assert "--format, one of flickr30k, karpathy, coco, csv, entities" in str(error.value)
    with pytest.raises(CorpusError, match="the folder has no subfolder Sentences"):
        guess_format(tmp_path)


@pytest.mark.parametrize("name", ["nowhere", "nowhere.csv", "nowhere.json"])
def test_guess_format_of_a_missing_file(tmp_path: Path, name: str) -> None:
    with pytest.raises(CorpusError, match="there is no such file"):
        guess_format(tmp_path / name)
