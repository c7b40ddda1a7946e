"""crowd_simulate, state_check and release_build on the demo campaign, from end to end."""

import io
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.actions.corpus.imports import Take
from annotation.actions.crowd.workers import workers_simulated
from annotation.actions.protocol.facts import decision_record
from annotation.models import Campaign, Chain, Fact, Image, OpenQuestion, StoredState
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import BoxAdjust, SendTo, Target, encode_body
from annotation.pipeline.protocol.settings import Settings
from annotation.pipeline.release.folder import image_ids, read_image, read_splits
from annotation.selectors.protocol.state import image_begin, settings_by_id
from annotation.simulation.crowd import TYPICAL, Crowd
from annotation.simulation.reviewer import LEFT_OPEN
from annotation.simulation.run import answer_key, campaign_report
from annotation.simulation.work import work_in_memory
from tests.corpora import campaign_with_images, image_of
from tests.processes import ROOT

pytestmark = pytest.mark.django_db

DEMO = ROOT / "annotation" / "demo"


@pytest.fixture
def demo() -> Campaign:
    call_command(
        *("corpus_import", DEMO),
        campaign="demo",
        images=DEMO / "photos",
        gold=True,
        stdout=io.StringIO(),
    )
    return Campaign.objects.select_related("current_settings").get(name="demo")


def run(command: str, **options: object) -> str:
    out = io.StringIO()
    call_command(command, stdout=out, **options)
    return out.getvalue()


def test_from_gold_to_a_release_that_equals_it(demo: Campaign, tmp_path: Path) -> None:
    text = run("crowd_simulate", campaign="demo", perfect=True)
    assert "10 images, 10 finished" in text
    report = campaign_report(demo)
    assert report.chain_score.f1 > 0.99
    assert report.box_scores[0.95].f1 > 0.99
    assert "every stored state is what its facts fold to" in run("state_check")
    out = tmp_path / "release"
    run("release_build", campaign="demo", out=out, photos=True)
    assert image_ids(out) == image_ids(DEMO)
    for photo in (DEMO / "photos").iterdir():
        assert (out / "photos" / photo.name).read_bytes() == photo.read_bytes()
    assert read_splits(out) == read_splits(DEMO)
    for name in image_ids(DEMO):
        ours, gold = read_image(out, name), read_image(DEMO, name)
        assert {box.rect for box in ours.boxes} == {box.rect for box in gold.boxes}


def test_the_same_seed_gives_the_same_release(demo: Campaign, tmp_path: Path) -> None:
    call_command("corpus_import", DEMO, campaign="again", gold=True, stdout=io.StringIO())
    texts = {}
    for name in ("demo", "again"):
        run("crowd_simulate", campaign=name, seed=5)
        run("release_build", campaign=name, out=tmp_path / name)
        files = sorted(path for path in (tmp_path / name).rglob("*") if path.is_file())
        texts[name] = [(path.name, path.read_bytes()) for path in files]
    assert texts["demo"] == texts["again"]
    call_command("corpus_import", DEMO, campaign="other", gold=True, stdout=io.StringIO())
    run("crowd_simulate", campaign="other", seed=6)
    bodies = [
        list(Fact.objects.filter(image__campaign__name=name).values_list("body", flat=True))
        for name in ("again", "other")
    ]
    assert bodies[0] != bodies[1]


def test_stopped_by_a_limit_it_goes_on_as_if_it_had_not_been(demo: Campaign) -> None:
    text = run("crowd_simulate", campaign="demo", seed=3, limit=101)
    assert text.startswith("101 judgments recorded now")
    assert Fact.objects.count() == 101
    run("crowd_simulate", campaign="demo", seed=3)
    crowd = Crowd(workers_simulated(count=30), TYPICAL, 3)
    settings = settings_by_id()
    for image in Image.objects.select_related("answer_key"):
        start = image_begin(image, settings)
        _, given = work_in_memory(start, answer_key(image), crowd, image.name, Settings())
        stored = Fact.objects.filter(image=image).values_list("body", flat=True)
        assert sorted(stored) == sorted(encode_body(judgment) for judgment in given)


def test_a_reviewer_settles_what_the_crowd_left(demo: Campaign) -> None:
    run("crowd_simulate", campaign="demo", seed=3)
    chain = Chain.objects.filter(image__campaign=demo, phase="complete").order_by("pk").first()
    assert chain is not None
    for target in (chain, Chain.objects.exclude(image=chain.image).order_by("pk")[0]):
        decision = SendTo(reviewer=1, chain=target.number, target=Target.REVIEW, reason="odd")
        decision_record(image_id=target.image_id, decision=decision)
    waiting = Chain.objects.filter(phase="review").count()
    assert waiting >= 2
    facts = Fact.objects.count()
    text = run("crowd_simulate", campaign="demo", seed=3, review=True)
    assert f"The reviewer settled {waiting} chains:" in text
    assert "2  odd" in text
    assert "10 images, 10 finished" in text
    assert f"\n0 of {Chain.objects.count()} chains in review" in text
    assert Fact.objects.count() > facts
    assert "every stored state is what its facts fold to" in run("state_check")
    assert "The reviewer settled 0 chains" in run("crowd_simulate", campaign="demo", review=True)


def test_a_reviewer_takes_up_what_too_small_a_crowd_may_not_answer(demo: Campaign) -> None:
    alone = run("crowd_simulate", campaign="demo", seed=2, workers=4)
    assert "questions are left that none of these workers may answer" in alone
    assert OpenQuestion.objects.exists()
    text = run("crowd_simulate", campaign="demo", seed=2, workers=4, review=True)
    assert LEFT_OPEN in text
    assert "10 images, 10 finished" in text
    assert "may answer" not in text
    assert not OpenQuestion.objects.exists()


def test_with_a_limit_the_crowd_is_not_done(demo: Campaign) -> None:
    text = run("crowd_simulate", campaign="demo", seed=2, limit=50, review=True)
    assert LEFT_OPEN not in text
    assert OpenQuestion.objects.exists()


def test_without_gold_it_says_what_to_do() -> None:
    campaign_with_images(1, name="bare", take=Take.NOTHING)
    with pytest.raises(CommandError, match="--gold"):
        run("crowd_simulate", campaign="bare")
    with pytest.raises(CommandError, match="there are: bare"):
        run("crowd_simulate", campaign="nowhere")


def test_state_check_finds_every_kind_of_difference(demo: Campaign) -> None:
    run("crowd_simulate", campaign="demo", limit=300)
    image = Image.objects.filter(chains__isnull=False).first()
    assert image is not None
    StoredState.objects.filter(pk=image.pk).update(body="{}", facts=1)
    Chain.objects.filter(image=image).update(phase="complete")
    other = Image.objects.exclude(pk=image.pk).filter(open_questions__isnull=False).first()
    assert other is not None
    OpenQuestion.objects.filter(image=other).delete()
    out = io.StringIO()
    with pytest.raises(CommandError, match="2 of 10 images differ"):
        call_command("state_check", stdout=out)
    for words in ("includes 1 of", "not what the facts fold to", "chain rows", "questions"):
        assert words in out.getvalue()
    with pytest.raises(CommandError):
        call_command("state_check", rebuild=True, stdout=out)
    assert "every stored state" in run("state_check")


def test_a_release_lists_what_it_leaves_out_and_never_overwrites(
    demo: Campaign, tmp_path: Path
) -> None:
    run("crowd_simulate", campaign="demo", limit=300)
    out = tmp_path / "release"
    text = run("release_build", campaign="demo", out=out)
    finished = StoredState.objects.filter(status="finished").count()
    assert 0 < finished < 10
    assert f"{finished} images written" in text
    listed = (out / "NOT_INCLUDED").read_text().splitlines()[1:]
    assert len(listed) == 10 - finished
    assert len(image_ids(out)) == finished
    with pytest.raises(CommandError, match="not empty"):
        run("release_build", campaign="demo", out=out)
    assert not [path for path in tmp_path.iterdir() if path != out]


def test_new_chains_take_ids_after_the_imported_ones(tmp_path: Path) -> None:
    campaign = campaign_with_images(2, take=Take.ACCEPT)
    image = image_of(campaign)
    box = image.stored_state.state.boxes[0]
    decision_record(
        image_id=image.pk, decision=BoxAdjust(reviewer=1, box=box.number, rect=Rect(1, 1, 9, 9))
    )
    run("release_build", campaign="test", out=tmp_path / "release")
    moved = read_image(tmp_path / "release", "image-0")
    kept = read_image(tmp_path / "release", "image-1")
    assert moved.boxes[0].rect == Rect(1, 1, 9, 9)
    assert moved.boxes[1:] == kept.boxes[1:]
    assert moved.sentences == kept.sentences
