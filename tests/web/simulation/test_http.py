"""Simulated workers over HTTP, on HITs published by hand: no stage publishes automatically."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from threading import Event
from urllib.parse import urlsplit
from xml.sax.saxutils import escape

import pytest
from django.test import override_settings
from pytest_django.live_server_helper import LiveServer

from annotation import models
from annotation.actions.work.confirmations import test_confirm as confirm
from annotation.models import SittingKind, SittingStatus
from annotation.pipeline.protocol.questions import Stage, question_from_key
from annotation.pipeline.work.answers import decode_answer
from annotation.selectors.work.sittings import sitting_score
from annotation.simulation.crowd import PERFECT
from annotation.simulation.http.browser import Browser
from annotation.simulation.http.report import run_lines, worker_lines
from annotation.simulation.http.run import Crew, CrowdRun, Patience, crew_of, crowd_work
from annotation.simulation.http.site import TurnedAwayError, WorkerSite
from annotation.simulation.http.worker import Outcome, Places, Plan
from annotation.simulation.run import answer_key
from marketplace.models import Assignment, Requester
from marketplace.rules.lifecycle import AssignmentStatus
from tests.acceptances import key_issue
from tests.browser.kit.corpus import demo_campaign
from tests.browser.kit.desk import QUESTION
from tests.marketplace.people import make_requester
from tests.marketplace.site import new_hit
from tests.offers import offered, trusted

# Threads of their own on the database: SQLite in memory gives each of them an error, not a turn.
pytestmark = [pytest.mark.slow, pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


class Market:
    """A site whose HITs are published by the test."""

    def __init__(self, live_server: LiveServer) -> None:
        self.url = f"http://127.0.0.1:{urlsplit(live_server.url).port}"
        self.campaign = demo_campaign(questions=5)
        self.requester: Requester = make_requester()
        key_issue(self.requester)

    def publish(self, stage: Stage, kind: SittingKind, count: int, places: int = 1) -> None:
        tasks = self.url.replace("127.0.0.1", "localhost")
        test = "test/" if kind == SittingKind.TEST else ""
        address = f"{tasks}/hits/{self.campaign.pk}/{stage.value}/{test}"
        for _ in range(count):
            hit = new_hit(
                self.requester,
                question=QUESTION.format(url=escape(address)),
                assignments=places,
                title=f"{stage.value} {kind.value}",
            )
            offered(self.campaign, stage, hit.hit_id, kind)

    def trust(self, crew: Crew, *stages: Stage) -> None:
        """Let the crew sign up, and be trusted at these stages."""
        plan = Plan(self.url, self.campaign.pk, Places(), Event())
        for worker in crew_of(plan, crew):
            with closing(Browser()) as browser:
                name = WorkerSite(self.url, browser).enter(worker.account)
            for stage in stages:
                trusted(self.campaign, name, stage)

    def work(self, crew: Crew) -> CrowdRun:
        run = crowd_work(
            campaign=self.campaign,
            url=self.url,
            crew=crew,
            seconds=300,
            # Nobody confirms here what they submit.
            patience=Patience(looks=2, quiet=0, give_up=0, stalled=0),
        )
        assert [worker.failure for worker in run.workers] == [None] * crew.workers
        return run


@pytest.fixture
def market(live_server: LiveServer) -> Iterator[Market]:
    port = urlsplit(live_server.url).port
    with override_settings(CHAINBOX_MARKETPLACE_ORIGINS=[f"http://127.0.0.1:{port}"]):
        yield Market(live_server)


def submitted() -> set[tuple[str, str]]:
    """The assignments that the marketplace has: (assignment, worker)."""
    return set(
        Assignment.objects.filter(status=AssignmentStatus.SUBMITTED).values_list(
            "assignment_id", "worker__worker_id"
        )
    )


def finished() -> set[tuple[str, str]]:
    """The assignments that we have: (assignment, worker)."""
    return set(
        models.Sitting.objects.filter(status=SittingStatus.FINISHED).values_list(
            "assignment_id", "worker__name"
        )
    )


def test_they_sign_up_accept_answer_and_submit_and_both_sides_have_it(market: Market) -> None:
    market.publish(Stage.LINKS, SittingKind.WORK, 8)
    crew = Crew(workers=4, profile=PERFECT, seed=3)
    market.trust(crew, Stage.LINKS)
    run = market.work(crew)
    assert submitted() == finished()
    assert len(finished()) == run.count(Outcome.SUBMITTED) > 4
    assert Assignment.objects.exclude(status=AssignmentStatus.ACCEPTED).count() == (
        Assignment.objects.count()
    ), "nobody leaves a HIT lying about"
    questions = models.SittingQuestion.objects.exclude(answer="")
    assert len(questions) > 20
    assert len({(row.image_id, row.key) for row in questions}) == len(questions)
    assert not list(wrong_answers(Stage.LINKS))
    assert all(decode_answer(row.answer).milliseconds > 1000 for row in questions)
    text = "\n".join([*run_lines(run), *worker_lines(market.campaign, run.workers)])
    assert all(worker.worker in text for worker in run.workers)


def test_the_same_people_come_again_and_pass_every_test(market: Market) -> None:
    # Two HITs of each test: nobody takes it again who has passed.
    stages = (Stage.LINKS, Stage.DRAWING)
    for stage in stages:
        market.publish(stage, SittingKind.TEST, 2, places=10)
    crew = Crew(workers=2, profile=PERFECT, seed=5)
    first = market.work(crew)
    assert first.count(Outcome.PASSED) == 2 * len(stages)
    scores = [sitting_score(sitting) for sitting in models.Sitting.objects.all()]
    assert len(scores) == 2 * len(stages)
    assert all(score is not None and score.right == score.asked for score in scores)
    assert submitted() == finished()
    for sitting in models.Sitting.objects.all():
        confirm(sitting=sitting)
    again = market.work(crew)
    assert [one.worker for one in again.workers] == [one.worker for one in first.workers]
    assert again.count(Outcome.SUBMITTED, Outcome.PASSED) == 0


def test_what_was_accepted_before_is_gone_on_with(market: Market) -> None:
    """A worker who was cut off between finishing and submitting submits the same answers."""
    market.publish(Stage.LINKS, SittingKind.WORK, 1)
    crew = Crew(workers=1, profile=PERFECT, seed=9)
    market.trust(crew, Stage.LINKS)
    market.work(crew)
    (assignment,) = Assignment.objects.filter(status=AssignmentStatus.SUBMITTED)
    Assignment.objects.update(status=AssignmentStatus.ACCEPTED, answer="")
    run = market.work(crew)
    assert run.count(Outcome.SUBMITTED) == 1
    again = Assignment.objects.get(status=AssignmentStatus.SUBMITTED)
    assert again.answer == assignment.answer


def test_without_questions_they_give_the_hit_back(market: Market) -> None:
    market.publish(Stage.COVERAGE, SittingKind.WORK, 2)
    crew = Crew(workers=2, profile=PERFECT)
    market.trust(crew, Stage.COVERAGE)
    run = market.work(crew)
    assert run.count(Outcome.NOTHING_LEFT) >= 2
    assert "work is open" in run.cut_short
    assert Counter(Assignment.objects.values_list("status", flat=True)).keys() == {
        AssignmentStatus.RETURNED
    }


def test_they_take_only_what_belongs_to_the_campaign(market: Market) -> None:
    new_hit(market.requester, title="somebody else's")
    market.publish(Stage.LINKS, SittingKind.WORK, 1)
    crew = Crew(workers=2, profile=PERFECT)
    market.trust(crew, Stage.LINKS)
    market.work(crew)
    assert set(Assignment.objects.values_list("hit__hit_type__title", flat=True)) == {"links work"}


def test_spammers_answer_at_random_where_they_turn_and_nowhere_else(market: Market) -> None:
    crew = Crew(workers=2, profile=PERFECT, seed=2, spammers=1)
    market.trust(crew, Stage.LINKS, Stage.REQUIREMENT)
    market.publish(Stage.LINKS, SittingKind.WORK, 12)
    market.publish(Stage.REQUIREMENT, SittingKind.WORK, 2)
    run = market.work(crew)
    assert [worker.spams_at for worker in run.workers] == [Stage.LINKS, None]
    assert run.workers[0].has_turned
    assert "spams at links" in "\n".join(worker_lines(market.campaign, run.workers))
    wrong = {row.sitting.known_worker.name for row in wrong_answers(Stage.LINKS)}
    assert wrong == {run.workers[0].worker}
    assert not list(wrong_answers(Stage.REQUIREMENT))


def test_whoever_is_not_trusted_is_refused_and_gives_the_hit_back(market: Market) -> None:
    market.publish(Stage.LINKS, SittingKind.WORK, 1)
    run = market.work(Crew(workers=1, profile=PERFECT, spammers=1))
    assert run.count(Outcome.REFUSED) >= 1
    assert not run.workers[0].has_turned
    assert not models.Sitting.objects.exists()
    assert not Assignment.objects.exclude(status=AssignmentStatus.RETURNED).exists()


def wrong_answers(stage: Stage) -> Iterator[models.SittingQuestion]:
    """Yield the answers that differ from the answer key."""
    rows = models.SittingQuestion.objects.exclude(answer="").filter(sitting__stage=stage.value)
    for row in rows.select_related("image__answer_key", "image__stored_state", "sitting__worker"):
        right = answer_key(row.image).answer(
            row.image.stored_state.state, question_from_key(row.key)
        )
        if decode_answer(row.answer).answer != right:
            yield row


def test_by_invitation_only(market: Market) -> None:
    with (
        override_settings(MARKETPLACE_OPEN_SIGN_UP=False),
        pytest.raises(TurnedAwayError, match="By invitation only"),
    ):
        market.work(Crew(workers=1, profile=PERFECT, seed=77))


def test_a_marketplace_that_gives_no_proof_is_worked_on_too(market: Market) -> None:
    """Consent goes with the ticket, a test tells no score, and nobody is written down."""
    market.publish(Stage.LINKS, SittingKind.WORK, 4)
    market.publish(Stage.DRAWING, SittingKind.TEST, 1, places=10)
    crew = Crew(workers=2, profile=PERFECT, seed=4)
    market.trust(crew, Stage.LINKS)
    with override_settings(CHAINBOX_CROWD_PROOF="none"):
        run = market.work(crew)
    work = models.Sitting.objects.filter(kind=SittingKind.WORK, status=SittingStatus.FINISHED)
    tests = models.Sitting.objects.filter(kind=SittingKind.TEST, status=SittingStatus.FINISHED)
    assert run.count(Outcome.SUBMITTED) == len(work) + len(tests) == len(submitted())
    assert work
    assert len(tests) == 2
    assert run.count(Outcome.PASSED) == 0
    assert not any(sitting.is_proven for sitting in [*work, *tests])
    assert not models.Consent.objects.exists()
    assert not models.WorkerStanding.objects.filter(stage=Stage.DRAWING.value).exists()
