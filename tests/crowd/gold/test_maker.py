"""Gold questions from sure chains, from files and from releases; and the commands for them."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation import models
from annotation.actions.corpus.images import image_withdraw
from annotation.actions.corpus.imports import Take
from annotation.actions.gold.gold_questions import gold_make, gold_retire, gold_store
from annotation.actions.protocol.facts import decision_record
from annotation.pipeline.gold.gold_question import Gold, GoldSource, launch_problems
from annotation.pipeline.protocol.facts import NoBox
from annotation.pipeline.protocol.questions import NO, YES, Stage
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.protocol.stage_spec import GOLD_STAGES, spec_of
from annotation.pipeline.release.folder import write_image
from annotation.pipeline.work.display import Mark, Shown
from annotation.selectors.gold.gold_questions import gold_available
from tests.corpora import campaign_with_images, image_of, released
from tests.web.campaigns import answer, image_named, small_campaign

pytestmark = pytest.mark.django_db

DOGS = Shown((1, 2), (Mark(3, 1, 7, 9, 1), Mark(5, 2, 3, 4, 2)))


def run(command: str, *args: object, **options: Any) -> str:
    out = StringIO()
    call_command(command, *args, campaign="test", stdout=out, stderr=StringIO(), **options)
    return out.getvalue()


def photographed(campaign: models.Campaign) -> models.Campaign:
    models.Image.objects.filter(campaign=campaign).update(file="images/photo.jpg")
    return campaign


def counts(**filters: Any) -> dict[tuple[str, str], int]:
    found: dict[tuple[str, str], int] = {}
    for row in models.GoldQuestion.objects.filter(**filters):
        found[row.stage, row.answer] = found.get((row.stage, row.answer), 0) + 1
    return found


# Storing


def test_stored_once_and_what_makes_no_sense_is_refused() -> None:
    campaign = campaign_with_images(2)
    good = Gold(Stage.LINKS, "image-0", DOGS, YES)
    golds = [
        good,
        good,
        Gold(Stage.LINKS, "image-0", DOGS, NO),
        Gold(Stage.LINKS, "image-9", DOGS, YES),
        Gold(Stage.COVERAGE, "image-1", DOGS, YES),
    ]
    stored = gold_store(campaign=campaign, golds=iter(golds))
    assert (stored.added, stored.known) == (1, 1)
    assert [refused.why for refused in stored.refused] == [
        "the same question already exists, with the answer 'yes'",
        "the campaign has no image 'image-9'",
        "coverage needs 1 marked phrase, not 2",
    ]
    [row] = models.GoldQuestion.objects.all()
    assert (row.gold, row.image.name, row.key) == (good, "image-0", good.key)
    gold_retire(gold=row, reason="too easy")
    again = gold_store(campaign=campaign, golds=[good])
    assert (again.added, again.known) == (0, 1)
    row.refresh_from_db()
    assert row.retired_at is not None
    assert row.retired_reason == "too easy"


def test_withdrawn_images_take_none() -> None:
    campaign = campaign_with_images(1)
    image_withdraw(image=image_of(campaign), reason="asked for")
    stored = gold_store(campaign=campaign, golds=[Gold(Stage.LINKS, "image-0", DOGS, YES)])
    assert [refused.why for refused in stored.refused] == ["image 'image-0' was withdrawn"]
    assert sum(map(len, gold_make(campaign=campaign, from_answer_key=True).values())) == 0


def test_statements_of_storing_do_not_grow_with_the_batch() -> None:
    campaign = campaign_with_images(20)

    def statements(numbers: range) -> int:
        golds = [Gold(Stage.LINKS, f"image-{n}", DOGS, YES) for n in numbers]
        with CaptureQueriesContext(connection) as queries:
            assert gold_store(campaign=campaign, golds=golds).added == len(numbers)
        return len(queries)

    assert statements(range(1)) == statements(range(1, 20))


# Making


def test_of_an_accepted_import() -> None:
    campaign = campaign_with_images(10, take=Take.ACCEPT)
    made = gold_make(campaign=campaign)
    assert set(made) == set(GOLD_STAGES)
    # There is one man and one hat, two dogs and a park: no box is for nobody, nothing is alike.
    assert made[Stage.LINKS] == {YES: 20}
    assert made[Stage.QUALITY] == {"good": 20, "bad": 20}
    assert made[Stage.COVERAGE] == {YES: 20, NO: 20}
    assert made[Stage.REQUIREMENT] == {"box": 10, "scene": 10}
    assert {row.source for row in models.GoldQuestion.objects.all()} == {"imported"}
    assert counts() == {(s, a): n for s, by in made.items() for a, n in by.items()}
    # Without a photo nobody can be asked.
    assert gold_available(campaign) == {}
    assert gold_available(photographed(campaign))[Stage.LINKS] == {YES: 20}
    again = gold_make(campaign=campaign)
    assert again == {stage: {} for stage in GOLD_STAGES}


def test_as_many_as_are_wanted_of_images_by_lot() -> None:
    campaign = photographed(campaign_with_images(40, take=Take.ACCEPT))
    made = gold_make(campaign=campaign, stages=[Stage.QUALITY], most_per_answer=7)
    assert made == {Stage.QUALITY: {"good": 7, "bad": 7}}
    first = {row.image_id for row in models.GoldQuestion.objects.all()}
    assert first != set(models.Image.objects.order_by("pk").values_list("pk", flat=True)[:4])
    made = gold_make(campaign=campaign, stages=[Stage.QUALITY], most_per_answer=10)
    assert made == {Stage.QUALITY: {"good": 3, "bad": 3}}
    made = gold_make(campaign=campaign, stages=[Stage.COVERAGE], most_images=3)
    assert made == {Stage.COVERAGE: {YES: 6, NO: 6}}
    of_coverage = models.GoldQuestion.objects.filter(stage="coverage")
    assert of_coverage.values("image").distinct().count() == 3
    # The same lot, the same images: there is nothing new in them.
    made = gold_make(campaign=campaign, stages=[Stage.COVERAGE], most_images=3)
    assert made == {Stage.COVERAGE: {}}
    gold_make(campaign=campaign, stages=[Stage.COVERAGE], most_images=3, lot="again")
    assert 3 < of_coverage.values("image").distinct().count() <= 6


def test_another_takes_the_place_of_one_that_was_retired() -> None:
    campaign = photographed(campaign_with_images(1, take=Take.ACCEPT))
    gold_make(campaign=campaign, stages=[Stage.QUALITY])
    rows = list(models.GoldQuestion.objects.filter(answer="bad"))
    assert len(rows) == 2
    gold_retire(gold=rows[0], reason="leaked")
    made = gold_make(campaign=campaign, stages=[Stage.QUALITY])
    assert made == {Stage.QUALITY: {"bad": 1}}
    assert gold_available(campaign)[Stage.QUALITY] == {"good": 2, "bad": 2}
    keys = set(models.GoldQuestion.objects.values_list("key", flat=True))
    assert len(keys) == models.GoldQuestion.objects.count() == 5


def test_of_what_the_crowd_agrees_on_and_reviewers_settled(tmp_path: Path) -> None:
    campaign = small_campaign(tmp_path, ["agreed", "settled", "open"])
    judgments = answer(image_named(campaign, "agreed"))
    settled = image_named(campaign, "settled")
    horse = next(c for c in settled.stored_state.state.chains if c.mentions == (2,))
    decision_record(
        image_id=settled.pk,
        decision=NoBox(reviewer=1, chain=horse.number, scene=False, nobndbox=True),
    )
    gold_make(campaign=campaign)
    assert counts(image=settled) == {("requirement", "nobox"): 1}
    assert {row.source for row in models.GoldQuestion.objects.filter(image=settled)} == {
        GoldSource.REVIEWED
    }
    agreed = models.GoldQuestion.objects.filter(image__name="agreed")
    assert {row.source for row in agreed} == {GoldSource.UNANIMOUS}
    assert counts(image__name="agreed")["links", "yes"] == 1
    for row in agreed:
        assert row.gold.workers
        assert set(row.gold.workers) <= {judgment.worker for judgment in judgments}
    assert not models.GoldQuestion.objects.filter(image__name="open").exists()


def test_statements_of_making_do_not_grow_with_the_images() -> None:
    campaign = campaign_with_images(10, take=Take.ACCEPT)

    def statements(images: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            gold_make(campaign=campaign, most_images=images, lot=f"of {images}")
        return len(queries)

    # SQLite takes some hundred rows in one statement.
    assert statements(1) == statements(6)


# Commands


def test_gold_make_of_the_answer_key() -> None:
    photographed(campaign_with_images(6))
    out = run("gold_make", from_answer_key=True, images=4)
    assert "56 gold questions made." in out
    assert "links         yes 8   no 0" in out
    assert "Too few for a launch: links has 8 gold questions and needs 60." in out
    assert "0 gold questions made." in run("gold_make")
    assert {row.source for row in models.GoldQuestion.objects.all()} == {"imported"}


def test_gold_make_without_an_answer_key() -> None:
    campaign_with_images(1, take=Take.ACCEPT)
    with pytest.raises(CommandError, match="has no answer key: import its corpus with --gold"):
        run("gold_make", from_answer_key=True)


def line(image: str, **changes: object) -> str:
    captions = [{"number": 1, "phrases": ["two dogs"]}, {"number": 2, "phrases": ["dogs"]}]
    return json.dumps(
        {"stage": "links", "image": image, "captions": captions, "answer": "yes"} | changes
    )


def test_gold_import_takes_all_or_nothing(tmp_path: Path) -> None:
    campaign_with_images(3)
    file = tmp_path / "gold.jsonl"
    lines = [line("image-0"), line("image-1"), line("image-7"), line("image-2", answer="good")]
    file.write_text("\n".join(lines), encoding="utf-8")
    errors = StringIO()
    with pytest.raises(CommandError, match="2 problems, nothing was imported"):
        call_command("gold_import", file, campaign="test", stderr=errors)
    assert f"{file}, line 3: the campaign has no image 'image-7'" in errors.getvalue()
    assert f"{file}, line 4: 'good' is not an answer of links" in errors.getvalue()
    assert not models.GoldQuestion.objects.exists()

    out = run("gold_import", file, skip_bad=True, dry_run=True)
    assert "2 gold questions could be added; nothing was imported" in out
    assert not models.GoldQuestion.objects.exists()

    out = run("gold_import", file, skip_bad=True)
    assert "2 gold questions added.\n2 bad entries left out." in out
    assert {row.source for row in models.GoldQuestion.objects.all()} == {"file"}
    assert "0 gold questions added.\n2 already existed." in run("gold_import", file, skip_bad=True)


def test_gold_import_names_the_line_that_contradicts_another(tmp_path: Path) -> None:
    campaign_with_images(1)
    file = tmp_path / "gold.jsonl"
    file.write_text(f"{line('image-0')}\n{line('image-0', answer='no')}\n", encoding="utf-8")
    errors = StringIO()
    with pytest.raises(CommandError, match="1 problems"):
        call_command("gold_import", file, campaign="test", stderr=errors)
    assert "line 2: the same question already exists, with the answer 'yes'" in errors.getvalue()


def test_gold_import_of_a_file_that_is_none(tmp_path: Path) -> None:
    campaign_with_images(1)
    with pytest.raises(CommandError, match="there is no such file"):
        run("gold_import", tmp_path / "absent")


def test_gold_import_of_a_release(tmp_path: Path) -> None:
    photographed(campaign_with_images(3, take=Take.NOTHING))
    folder = tmp_path / "release"
    for name in ("image-0", "image-1", "not-ours"):
        write_image(folder, released(name))
    out = run("gold_import", folder, stages=["links", "coverage"], most=3)
    assert "9 gold questions added." in out
    assert gold_available(models.Campaign.objects.get()) == {
        Stage.LINKS: {YES: 3},
        Stage.COVERAGE: {YES: 3, NO: 3},
    }
    models.StoredState.objects.filter(image__name="image-1").update(
        body=image_of(models.Campaign.objects.get(), 1).stored_state.body.replace("park", "yard")
    )
    errors = StringIO()
    with pytest.raises(CommandError, match="1 problems, nothing was imported"):
        call_command("gold_import", folder, campaign="test", stderr=errors)
    assert "image image-1: its caption 2 differs from the campaign's" in errors.getvalue()


def test_gold_export_is_read_back(tmp_path: Path) -> None:
    campaign = campaign_with_images(4, take=Take.ACCEPT)
    gold_make(campaign=campaign)
    before = dict(models.GoldQuestion.objects.values_list("key", "answer"))
    file = tmp_path / "gold.jsonl"
    assert f"{len(before)} gold questions." in run("gold_export", file)
    with pytest.raises(CommandError, match="already exists"):
        run("gold_export", file)
    models.GoldQuestion.objects.all().delete()
    run("gold_import", file)
    assert dict(models.GoldQuestion.objects.values_list("key", "answer")) == before


# The demo


@pytest.mark.slow
def test_the_demo_has_enough_for_a_launch() -> None:
    call_command("demo_load", stdout=StringIO(), stderr=StringIO())
    campaign = models.Campaign.objects.get(name="demo")
    available = gold_available(campaign)
    assert launch_problems(available, Settings()) == []
    # Few chains of ten photos have no box: here the limit of an image plays no role.
    assert available[Stage.REQUIREMENT] == {"box": 39, "scene": 9, "nobox": 12}
    for stage in GOLD_STAGES:
        assert min(available[stage][answer] for answer in spec_of(stage).answers) >= 9
    count = models.GoldQuestion.objects.count()
    call_command("demo_load", stdout=StringIO())
    assert models.GoldQuestion.objects.count() == count
