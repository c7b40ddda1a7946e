"""Questions that none of the available workers may answer."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation import models
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.protocol.facts import doubts_record, judgments_record
from annotation.actions.work.starved_questions import STARVED, Starved, starving_mark
from annotation.models import SittingKind
from annotation.pipeline.geometry import Rect
from annotation.pipeline.protocol.facts import Doubt, Judgment, SendTo, decode_body
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.protocol.state import Phase
from annotation.pipeline.trust.standing import Trust
from tests.offers import trusted
from tests.web.campaigns import answer, image_named, small_campaign

pytestmark = pytest.mark.django_db


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return small_campaign(tmp_path, ["first", "second"])


def at_work(
    campaign: models.Campaign,
    name: str,
    *stages: Stage,
    trust: Trust = Trust.TRUSTED,
    days_ago: float = 1,
) -> int:
    """Let a worker stand so at these stages, and have been here that many days ago."""
    for stage in stages:
        trusted(campaign, name, stage, trust)
    worker = worker_ensure(name=name)
    sitting = models.Sitting.objects.create(
        campaign=campaign,
        stage=stages[0].value,
        kind=SittingKind.WORK,
        worker=worker,
        assignment_id=f"of-{name}",
        until=timezone.now(),
    )
    models.Sitting.objects.filter(pk=sitting.pk).update(
        opened_at=timezone.now() - timedelta(days=days_ago)
    )
    return worker.pk


def say(campaign: models.Campaign, image: str, key: str, answer: str, worker: int) -> None:
    rect = Rect(5, 6, 24, 35) if key.startswith("drawing") and answer == "box" else None
    judgment = Judgment(worker=worker, question=question_from_key(key), answer=answer, rect=rect)
    outcome = judgments_record(image_id=image_named(campaign, image).pk, judgments=[judgment])
    assert outcome.recorded[0].counted


def starved() -> set[str]:
    rows = models.OpenQuestion.objects.filter(starved_at__isnull=False).select_related("image")
    return {f"{row.image.name} {row.key}" for row in rows}


def horse(campaign: models.Campaign, image: str) -> int:
    state = image_named(campaign, image).stored_state.state
    return next(chain.number for chain in state.chains if chain.mentions == (2,))


def requirement(campaign: models.Campaign, image: str = "first") -> str:
    return f"requirement/{horse(campaign, image)}/1"


def test_marked_when_all_have_voted_and_freed_when_somebody_comes(
    campaign: models.Campaign,
) -> None:
    key = requirement(campaign)
    ann = at_work(campaign, "A1", Stage.REQUIREMENT)
    assert starving_mark(campaign=campaign) == Starved()
    say(campaign, "first", key, "nobox", ann)
    assert starving_mark(campaign=campaign) == Starved(marked=1)
    assert starved() == {f"first {key}"}
    assert starving_mark(campaign=campaign) == Starved()
    # Not yet trusted, no longer here, and here for another stage only: nobody may yet.
    at_work(campaign, "A2", Stage.REQUIREMENT, trust=Trust.PROBATION)
    at_work(campaign, "A3", Stage.REQUIREMENT, days_ago=15)
    at_work(campaign, "A4", Stage.COVERAGE)
    assert starving_mark(campaign=campaign) == Starved()
    at_work(campaign, "A5", Stage.REQUIREMENT)
    assert starving_mark(campaign=campaign) == Starved(freed=1)
    assert starved() == set()


def test_nobodys_own_box(campaign: models.Campaign) -> None:
    ann = at_work(campaign, "A1", Stage.QUALITY)
    say(campaign, "first", requirement(campaign), "box", worker_ensure(name="A9").pk)
    say(campaign, "first", f"drawing/{horse(campaign, 'first')}/1", "box", ann)
    assert starving_mark(campaign=campaign) == Starved(marked=1)
    assert starved() == {"first quality/1/1"}


def test_an_answer_that_did_not_count_counts_here(campaign: models.Campaign) -> None:
    """Nobody is given a question a second time, whatever became of the answer."""
    key = requirement(campaign)
    ann = at_work(campaign, "A1", Stage.REQUIREMENT)
    image = image_named(campaign, "first")
    models.Fact.objects.create(
        image=image,
        number=99,
        settings_id=image.begun_under_id,
        kind="judgment",
        body="{}",
        worker_id=ann,
        question=key,
        counted=False,
    )
    models.StoredState.objects.filter(pk=image.pk).update(facts=99)
    assert starving_mark(campaign=campaign) == Starved(marked=1)


def test_where_nobody_is_qualified_nothing_is_marked(campaign: models.Campaign) -> None:
    ann = at_work(campaign, "A1", Stage.REQUIREMENT, trust=Trust.PROBATION)
    say(campaign, "first", requirement(campaign), "nobox", ann)
    assert starving_mark(campaign=campaign) == Starved()
    trusted(campaign, "A1", Stage.REQUIREMENT)
    assert starving_mark(campaign=campaign) == Starved(marked=1)
    trusted(campaign, "A1", Stage.REQUIREMENT, Trust.REVOKED)
    assert starving_mark(campaign=campaign) == Starved(freed=1)


def test_those_on_probation_draw(campaign: models.Campaign) -> None:
    ann = at_work(campaign, "A1", Stage.DRAWING, trust=Trust.PROBATION)
    other = worker_ensure(name="A9").pk
    say(campaign, "first", requirement(campaign), "box", other)
    drawing = f"drawing/{horse(campaign, 'first')}/1"
    assert starving_mark(campaign=campaign) == Starved()
    say(campaign, "first", drawing, "none", ann)
    say(campaign, "first", requirement(campaign), "box", worker_ensure(name="A8").pk)
    # Ann's word was a vote on whether there is a box, and another drawer has to come.
    assert starving_mark(campaign=campaign) == Starved(marked=1)
    [mark] = starved()
    assert mark.startswith("first drawing/")


def starve_for(hours: float) -> None:
    models.OpenQuestion.objects.filter(starved_at__isnull=False).update(
        starved_at=timezone.now() - timedelta(hours=hours)
    )


def test_after_a_day_the_chain_goes_to_review(campaign: models.Campaign) -> None:
    key = requirement(campaign)
    ann = at_work(campaign, "A1", Stage.REQUIREMENT)
    say(campaign, "first", key, "nobox", ann)
    starving_mark(campaign=campaign)
    starve_for(23)
    assert starving_mark(campaign=campaign) == Starved()
    starve_for(25)
    assert starving_mark(campaign=campaign) == Starved(reviewed=1)
    state = image_named(campaign, "first").stored_state.state
    chain = next(c for c in state.chains if c.mentions == (2,))
    assert (chain.phase, chain.review) == (Phase.REVIEW, STARVED)
    assert not models.OpenQuestion.objects.filter(image__name="first", key=key).exists()
    assert starving_mark(campaign=campaign) == Starved()
    fact = models.Fact.objects.get(kind="send_to")
    assert isinstance(decode_body(fact.body), SendTo)


def test_somebody_who_comes_in_time_is_let_answer(campaign: models.Campaign) -> None:
    ann = at_work(campaign, "A1", Stage.REQUIREMENT)
    say(campaign, "first", requirement(campaign), "nobox", ann)
    starving_mark(campaign=campaign)
    starve_for(25)
    at_work(campaign, "A2", Stage.REQUIREMENT)
    assert starving_mark(campaign=campaign) == Starved(freed=1)


def test_second_opinions_starve_too(campaign: models.Campaign) -> None:
    image = image_named(campaign, "first")
    answer(image)
    state = image_named(campaign, "first").stored_state.state
    chain = next(c for c in state.chains if c.mentions == (2,))
    vote = chain.coverage[0]
    doubts_record(image_id=image.pk, doubts=[Doubt(judgment=vote.fact)])
    voters = models.Worker.objects.filter(pk__in=[v.worker for v in chain.coverage])
    for voter in voters:
        at_work(campaign, voter.name, Stage.COVERAGE)
    assert starving_mark(campaign=campaign) == Starved(marked=1)
    [mark] = starved()
    assert mark.endswith(f"?{vote.fact}")
    starve_for(25)
    assert starving_mark(campaign=campaign) == Starved(reviewed=1)
    assert not models.OpenQuestion.objects.filter(image=image).exists()
    assert starving_mark(campaign=campaign) == Starved()


def test_all_have_their_turn_however_many_there_are(campaign: models.Campaign) -> None:
    ann = at_work(campaign, "A1", Stage.REQUIREMENT)
    for image in ("first", "second"):
        say(campaign, image, requirement(campaign, image), "nobox", ann)
    marked = 0
    for _ in range(200):  # by lot, one of two at a time
        marked += starving_mark(campaign=campaign, most=1).marked
        if marked == 2:
            break
    assert marked == 2


def test_statements_do_not_grow_with_the_questions(
    campaign: models.Campaign, tmp_path: Path
) -> None:
    many = small_campaign(tmp_path, [f"image-{n}" for n in range(12)], name="many")
    for owner, images in ((campaign, ["first"]), (many, [f"image-{n}" for n in range(12)])):
        ann = at_work(owner, f"A{owner.pk}", Stage.REQUIREMENT)
        for image in images:
            say(owner, image, requirement(owner, image), "nobox", ann)

    def statements(owner: models.Campaign, marked: int) -> int:
        with CaptureQueriesContext(connection) as queries:
            assert starving_mark(campaign=owner).marked == marked
        return len(queries)

    assert statements(campaign, 1) == statements(many, 12)
