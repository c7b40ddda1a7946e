"""Outside data is parsed before a transaction begins, so that no lock waits for a parser."""

import io
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from annotation import models
from annotation.actions.campaign.campaigns import campaign_create
from annotation.actions.corpus.imports import ImageToImport, Take, images_import
from annotation.actions.gold.files import gold_import
from annotation.actions.work.guides import guide_save
from annotation.pipeline.corpus.corpus_image import CorpusImage
from annotation.pipeline.corpus.importers import read_corpus
from annotation.pipeline.gold.files import GoldLine, read_gold
from annotation.pipeline.mentions.mention import MentionFinder

pytestmark = pytest.mark.django_db(transaction=True)

GUIDE = 'title = "Links"\nquestion = "The same?"\nguidelines = ["Look closely."]\n'


def noting(call: Callable[..., Any], noted: list[bool]) -> Callable[..., Any]:
    """Return a function that does the same and records whether a transaction is open."""

    def noted_call(*args: Any, **kwargs: Any) -> Any:
        noted.append(connection.in_atomic_block)
        return call(*args, **kwargs)

    return noted_call


def test_a_guide_is_parsed_before_the_transaction(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[bool] = []
    monkeypatch.setattr(tomllib, "loads", noting(tomllib.loads, noted))
    campaign = campaign_create(name="rides")
    guide_save(campaign=campaign, topic="links", source=GUIDE)
    assert noted
    assert not any(noted)


def test_gold_questions_are_read_before_the_transaction(tmp_path: Path) -> None:
    campaign = campaign_create(name="rides")
    line = {"stage": "links", "image": "no", "captions": [], "answer": "yes"}
    path = tmp_path / "gold.jsonl"
    path.write_text(f"{json.dumps(line)}\n" * 3)
    noted: list[bool] = []

    def lines() -> Any:
        for item in read_gold(path):
            noted.append(connection.in_atomic_block)
            assert isinstance(item, GoldLine)
            yield item

    imported = gold_import(campaign=campaign, lines=lines())
    assert noted == [False] * 3
    assert imported.bad == 3


def test_mentions_are_found_before_the_transaction(tmp_path: Path) -> None:
    campaign = campaign_create(name="rides")
    path = tmp_path / "captions.csv"
    path.write_text("image,caption\nnew.jpg,A man with a dog .\n")
    images = [item for item in read_corpus(path, "csv") if isinstance(item, CorpusImage)]
    noted: list[bool] = []

    class Noting(MentionFinder):
        def find(self, tokens: Any) -> Any:
            noted.append(connection.in_atomic_block)
            return super().find(tokens)

    images_import(
        campaign=campaign,
        batch=[ImageToImport(image=image) for image in images],
        take=Take.NOTHING,
        finder=Noting.load(),
    )
    assert noted == [False]
    assert models.Mention.objects.filter(image__name="new").count() == 2


def test_files_in_a_form_are_never_kept(tmp_path: Path, settings: Any) -> None:
    """The sign-in page reads a form from anybody; files in a form are skipped."""
    settings.FILE_UPLOAD_TEMP_DIR = str(tmp_path)
    settings.FILE_UPLOAD_MAX_MEMORY_SIZE = 1000
    for size, status in ((1_000_000, 200), (4_000_000, 400)):
        file = io.BytesIO(b"x" * size)
        file.name = "large.bin"
        reply = Client().post("/accounts/login/", {"username": "a", "password": "b", "file": file})
        assert reply.status_code == status
        if status == 200:
            assert reply.wsgi_request.POST["username"] == "a"
            assert not reply.wsgi_request.FILES
        assert list(tmp_path.iterdir()) == []
