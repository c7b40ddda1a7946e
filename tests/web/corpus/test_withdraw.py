"""image_withdraw: photo and captions gone for good, facts countable, nothing else touched."""

import io
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.actions.protocol.facts import judgments_record
from annotation.models import Caption, Fact, Image, Mention, OpenQuestion, StoredState
from annotation.pipeline.protocol.facts import FactRefusedError, Judgment
from annotation.pipeline.protocol.questions import YES, Question, Stage
from annotation.pipeline.release.folder import image_ids
from tests.processes import ROOT

DEMO = ROOT / "annotation" / "demo"


@pytest.mark.django_db
def test_a_withdrawn_image_leaves_only_a_tombstone(
    tmp_path: Path, django_capture_on_commit_callbacks: object
) -> None:
    quiet = io.StringIO()
    for campaign in ("demo", "twin"):
        call_command(
            "corpus_import",
            DEMO,
            campaign=campaign,
            images=DEMO / "photos",
            gold=True,
            stdout=quiet,
        )
    call_command("crowd_simulate", campaign="demo", stdout=quiet)
    image = Image.objects.get(campaign__name="demo", name="coffee")
    twin = Image.objects.get(campaign__name="twin", name="coffee")
    assert twin.file == image.file
    words = [caption.text for caption in image.captions.all()]
    facts = Fact.objects.filter(image=image).count()
    assert facts > 20
    assert callable(django_capture_on_commit_callbacks)

    def withdraw(campaign: str) -> None:
        with django_capture_on_commit_callbacks(execute=True):
            call_command(
                "image_withdraw", "coffee", campaign=campaign, reason="rights", stdout=quiet
            )

    withdraw("demo")
    assert default_storage.exists(image.file), "another campaign still has this photo"
    image.refresh_from_db()
    assert image.withdrawn_at is not None
    assert image.withdrawn_reason == "rights"
    assert Fact.objects.filter(image=image).count() == facts
    for table in (Caption, Mention, OpenQuestion):
        assert not table.objects.filter(image=image).exists()
    for word in words:
        assert not StoredState.objects.filter(image=image, body__contains=word).exists()
        assert not Fact.objects.filter(image=image, body__contains=word).exists()
    question = Question(stage=Stage.LINKS, subject=(2, 1))
    with pytest.raises(FactRefusedError, match="was withdrawn"):
        judgments_record(
            image_id=image.pk, judgments=[Judgment(worker=1, question=question, answer=YES)]
        )
    call_command("state_check", stdout=quiet)
    call_command("release_build", campaign="demo", out=tmp_path / "release", stdout=quiet)
    assert "coffee" not in image_ids(tmp_path / "release")
    assert "coffee withdrawn" in (tmp_path / "release" / "NOT_INCLUDED").read_text()
    with pytest.raises(CommandError, match="problems"):
        call_command("corpus_import", DEMO, campaign="demo", gold=True, stdout=quiet, stderr=quiet)
    withdraw("twin")
    assert not default_storage.exists(image.file)
    with pytest.raises(CommandError, match="no image tea"):
        call_command("image_withdraw", "tea", campaign="demo", reason="x", stdout=quiet)
