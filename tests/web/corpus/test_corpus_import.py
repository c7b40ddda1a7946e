"""corpus_import: checked first, imported once, resumed, and never half a file."""

import io
import json
import shutil
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from PIL import Image as Photo

from annotation.models import (
    AnswerKey,
    Campaign,
    Caption,
    Fact,
    Image,
    ImageStatus,
    Mention,
    OpenQuestion,
    StoredState,
)
from annotation.selectors.protocol.state import image_differences, images_with_facts, settings_by_id
from tests.processes import ROOT

pytestmark = pytest.mark.django_db

DEMO = ROOT / "annotation" / "demo"
TOKENS = "one.jpg#0\tA man in a red hat .\none.jpg#1\tA person walks .\ntwo.jpg#0\tTwo dogs run .\n"


def corpus_import(path: Path, **options: object) -> str:
    out = io.StringIO()
    call_command("corpus_import", path, stdout=out, stderr=out, campaign="c", **options)
    return out.getvalue()


def token_file(folder: Path, text: str = TOKENS) -> Path:
    path = folder / "captions.token"
    path.write_text(text, encoding="utf-8")
    return path


def everything() -> list[object]:
    tables = (Campaign, Image, Caption, Mention, AnswerKey, Fact, StoredState, OpenQuestion)
    return [list(table.objects.order_by("pk").values()) for table in tables]


def assert_clean() -> None:
    settings = settings_by_id()
    for image in images_with_facts(Image.objects.all()):
        assert image_differences(image, settings) == []


def test_captions_become_mentions_and_questions(tmp_path: Path) -> None:
    corpus_import(token_file(tmp_path))
    image = Image.objects.get(name="one")
    assert [caption.text for caption in image.captions.order_by("number")] == [
        "A man in a red hat .",
        "A person walks .",
    ]
    spans = image.mentions.order_by("number").values_list("caption", "start", "end", "types")
    assert list(spans) == [
        (1, 0, 2, "people"),
        (1, 3, 6, "clothing"),
        (2, 0, 2, "people"),
    ]
    keys = set(OpenQuestion.objects.filter(image=image).values_list("key", flat=True))
    assert "links/3-1/1" in keys
    assert_clean()


def test_a_second_import_changes_nothing(tmp_path: Path) -> None:
    corpus_import(DEMO, images=DEMO / "photos", gold=True)
    before = everything()
    text = corpus_import(DEMO, images=DEMO / "photos", gold=True)
    assert everything() == before
    assert "0 images added.\n10 already existed, unchanged." in text


def test_a_stopped_import_goes_on_where_it_was(tmp_path: Path) -> None:
    corpus_import(token_file(tmp_path, "".join(TOKENS.splitlines(keepends=True)[:2])))
    text = corpus_import(token_file(tmp_path))
    assert "1 images added.\n1 already existed, unchanged." in text
    assert Image.objects.count() == 2


def test_a_bad_row_is_named_and_nothing_is_imported(tmp_path: Path) -> None:
    path = token_file(tmp_path, TOKENS + "no tab here\n")
    out = io.StringIO()
    with pytest.raises(CommandError, match="nothing was imported"):
        call_command("corpus_import", path, campaign="c", stderr=out)
    assert f"{path}, line 4" in out.getvalue()
    assert not Image.objects.exists()
    assert not Campaign.objects.exists()


def test_skip_bad_imports_the_rest(tmp_path: Path) -> None:
    text = corpus_import(token_file(tmp_path, TOKENS + "no tab here\n"), skip_bad=True)
    assert "2 images added" in text
    assert "1 bad entries left out" in text


def test_a_dry_run_imports_nothing(tmp_path: Path) -> None:
    assert "2 images could be imported" in corpus_import(token_file(tmp_path), dry_run=True)
    assert not Campaign.objects.exists()


def test_another_caption_under_a_known_name_is_a_conflict(tmp_path: Path) -> None:
    corpus_import(token_file(tmp_path))
    before = everything()
    out = io.StringIO()
    changed = token_file(tmp_path, TOKENS.replace("Two dogs", "Three dogs"))
    with pytest.raises(CommandError, match="1 problems"):
        call_command("corpus_import", changed, campaign="c", stderr=out)
    assert "image two: already exists with a different caption 1" in out.getvalue()
    assert everything() == before


def test_a_truncated_photo_and_a_missing_one_are_problems(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    Photo.new("RGB", (64, 48), "red").save(photos / "one.jpg", quality=95)
    content = (photos / "one.jpg").read_bytes()
    (photos / "one.jpg").write_bytes(content[: len(content) // 2])
    out = io.StringIO()
    with pytest.raises(CommandError, match="2 problems, nothing was imported"):
        call_command("corpus_import", token_file(tmp_path), campaign="c", images=photos, stderr=out)
    assert "one.jpg" in out.getvalue()
    assert "two" in out.getvalue()
    assert not Image.objects.exists()


def test_photos_can_come_later_and_are_stored_once(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    Photo.new("RGB", (64, 48), "red").save(photos / "one.jpg")
    shutil.copy(photos / "one.jpg", photos / "two.jpg")
    corpus_import(token_file(tmp_path))
    assert Image.objects.get(name="one").width == 0
    text = corpus_import(token_file(tmp_path), images=photos)
    assert "2 existing images got their photo" in text
    files = set(Image.objects.values_list("file", flat=True))
    assert len(files) == 1
    assert default_storage.exists(files.pop())
    assert set(Image.objects.values_list("width", "height")) == {(64, 48)}
    assert_clean()


def test_a_photo_of_another_size_than_the_corpus_says_is_a_problem(tmp_path: Path) -> None:
    photos = tmp_path / "photos"
    shutil.copytree(DEMO / "photos", photos)
    Photo.new("RGB", (64, 48), "red").save(photos / "coffee.jpg")
    out = io.StringIO()
    with pytest.raises(CommandError, match="1 problems"):
        call_command("corpus_import", DEMO, campaign="c", images=photos, accept=True, stderr=out)
    assert "image coffee: the photo is 64×48, the corpus says" in out.getvalue()


def test_accept_is_finished_and_gold_starts_at_the_links() -> None:
    corpus_import(DEMO, accept=True)
    assert set(StoredState.objects.values_list("status", flat=True)) == {ImageStatus.FINISHED}
    assert not AnswerKey.objects.exists()
    call_command("corpus_import", DEMO, campaign="gold", gold=True, stdout=io.StringIO())
    gold = Image.objects.filter(campaign__name="gold")
    assert AnswerKey.objects.filter(image__in=gold).count() == 10
    assert not Fact.objects.filter(image__in=gold).exists()
    stages = OpenQuestion.objects.filter(image__in=gold).values_list("stage", flat=True)
    assert "links" in set(stages)
    assert_clean()


def test_gold_needs_a_corpus_that_has_it(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="needs a corpus with chains and boxes"):
        corpus_import(token_file(tmp_path), gold=True)


def test_a_file_of_no_known_format_says_which_there_are(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("nothing of the kind\n")
    with pytest.raises(CommandError, match="--format"):
        corpus_import(path)


def test_karpathy_and_coco_and_csv_come_to_the_same(tmp_path: Path) -> None:
    karpathy = tmp_path / "karpathy.json"
    karpathy.write_text(
        json.dumps(
            {
                "images": [
                    {
                        "filename": "one.jpg",
                        "split": "val",
                        "sentences": [{"raw": "A man in a red hat.", "tokens": []}],
                    }
                ]
            }
        )
    )
    coco = tmp_path / "coco.json"
    coco.write_text(
        json.dumps(
            {
                "images": [{"id": 7, "file_name": "one.jpg", "width": 64, "height": 48}],
                "annotations": [{"id": 1, "image_id": 7, "caption": "A man in a red hat."}],
            }
        )
    )
    table = tmp_path / "captions.csv"
    table.write_text("image,caption,split\none.jpg,A man in a red hat.,val\n")
    for name, path in {"karpathy": karpathy, "coco": coco, "csv": table}.items():
        call_command("corpus_import", path, campaign=name, stdout=io.StringIO())
    texts = Caption.objects.values_list("image__campaign__name", "text")
    assert sorted(texts) == [(name, "A man in a red hat .") for name in ("coco", "csv", "karpathy")]
