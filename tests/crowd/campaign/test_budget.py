"""The budgets hold: whatever happens, no more is promised and paid than they allow."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from random import Random

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from annotation import models
from annotation.actions.crowd.supply import hits_plan, supply_set
from annotation.models import (
    CallStatus,
    HitStatus,
    Operation,
    PaymentKind,
    SittingKind,
    SittingStatus,
    SupplyStatus,
)
from annotation.pipeline.crowd.supply import Change
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.crowd.money import campaign_money, campaign_spent
from common.clock import database_now
from tests.crowd.supplies import (
    accept,
    close,
    confirm,
    crowd_change,
    fresh,
    pay,
    published,
    submit,
    supplied,
    work_hits,
)

pytestmark = pytest.mark.django_db


def test_what_is_published_and_not_paid_counts_as_spent(tmp_path: Path) -> None:
    # 52 cents are one HIT of each stage; 104 two.
    campaign = supplied(tmp_path, images=100, budget_cents=110)
    changes = hits_plan(campaign=campaign)
    # Late stages first: four of 27 cents.
    assert (changes[Stage.REQUIREMENT], changes[Stage.LINKS]) == (Change(publish=4), Change())
    assert campaign_spent(campaign).promised == 108
    hit = work_hits(campaign)[0]
    confirm(hit)
    accept(hit)
    assert set(hits_plan(campaign=campaign).values()) == {Change()}, "it may still be paid"
    pay(submit(hit))
    assert set(hits_plan(campaign=campaign).values()) == {Change()}
    spent = campaign_spent(campaign)
    assert (spent.paid, spent.promised) == (27, 81)
    # What was rejected, or is over, is there again.
    close(work_hits(campaign, HitStatus.CREATING)[0])
    assert hits_plan(campaign=campaign)[Stage.REQUIREMENT] == Change(publish=1)


def test_a_day_has_its_own_budget_by_the_databases_clock(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=100, daily_budget_cents=60)
    hit = published(campaign)[0]
    paid_on(submit(hit), 27)
    close(hit)
    spent = campaign_spent(campaign)
    assert (spent.paid, spent.paid_today, spent.promised) == (27, 27, 27)
    assert set(hits_plan(campaign=campaign).values()) == {Change()}


def paid_on(assignment: models.Assignment, cents: int, days_ago: int = 0) -> None:
    models.Payment.objects.create(
        campaign=assignment.hit.campaign,
        stage=assignment.hit.stage,
        kind=PaymentKind.REWARD,
        assignment=assignment,
        key=f"reward/{assignment.pk}/{days_ago}",
        cents=cents,
        fee_cents=0,
        created_at=database_now() - timedelta(days=days_ago),
    )


def test_what_was_paid_yesterday_is_no_part_of_today(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=100, daily_budget_cents=60)
    hit = published(campaign)[0]
    paid_on(submit(hit), 1000, days_ago=1)
    close(hit)
    assert hits_plan(campaign=campaign)[Stage.REQUIREMENT] == Change(publish=1)


def test_bonuses_on_their_way_count(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=100, budget_cents=110)
    bonus_wait(campaign, 30)
    assert hits_plan(campaign=campaign)[Stage.REQUIREMENT] == Change(publish=2)
    assert campaign_spent(campaign).promised == 30 + 2 * 27 + 25


def bonus_wait(campaign: models.Campaign, cents: int) -> models.OutboxCall:
    return models.OutboxCall.objects.create(
        campaign=campaign,
        operation=Operation.BONUS,
        key=f"bonus/{models.OutboxCall.objects.count()}",
        cents=cents,
    )


def test_a_budget_that_was_cut_takes_back_just_enough(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=100)
    published(campaign)
    assert campaign_spent(campaign).promised == 10 * 25 + 10 * 27
    crowd_change(campaign, budget_cents=400)
    changes = hits_plan(campaign=campaign)
    assert (changes[Stage.LINKS], changes[Stage.REQUIREMENT]) == (Change(take_back=5), Change())
    # They are on their way back: nothing more goes, and nothing is added before they are.
    assert set(hits_plan(campaign=campaign).values()) == {Change()}
    for hit in work_hits(campaign, HitStatus.CLOSING):
        hit.is_free = False  # as it is once the marketplace has confirmed it
        hit.save()
    assert set(hits_plan(campaign=campaign).values()) == {Change()}
    for hit in work_hits(campaign, HitStatus.CLOSING):
        close(hit)
    assert set(hits_plan(campaign=campaign).values()) == {Change()}
    assert campaign_spent(campaign).left(fresh(campaign).settings) == 5


# Random histories


class History:
    """A campaign to which anything happens that can."""

    def __init__(self, campaign: models.Campaign) -> None:
        self.campaign = campaign
        self.workers = 0

    def some(self, draw: Random, *status: HitStatus, free: bool) -> models.Hit | None:
        hits = [hit for hit in work_hits(self.campaign, *status) if hit.is_free is free]
        return draw.choice(hits) if hits else None

    def plan(self, draw: Random) -> None:
        hits_plan(campaign=self.campaign)

    def confirm(self, draw: Random) -> None:
        for hit in work_hits(self.campaign, HitStatus.CREATING)[: draw.randint(1, 5)]:
            confirm(hit)

    def accept(self, draw: Random) -> None:
        # Also one that is being taken back: a worker may be quicker than we are.
        if hit := self.some(draw, HitStatus.OPEN, HitStatus.CLOSING, free=True):
            accept(hit)

    def give_back(self, draw: Random) -> None:
        hit = self.some(draw, HitStatus.OPEN, free=False)
        if hit is not None and not hit.assignments.exists():
            hit.is_free, hit.given_back_at = True, database_now()
            hit.save()

    def submit(self, draw: Random) -> None:
        hit = self.some(draw, HitStatus.OPEN, HitStatus.CLOSING, free=False)
        if hit is not None and not hit.assignments.exists():
            self.workers += 1
            submit(hit, worker=f"A{self.workers}")

    def pay(self, draw: Random) -> None:
        for assignment in models.Assignment.objects.filter(payments=None, status="submitted")[:3]:
            with transaction.atomic():
                pay(assignment)

    def close(self, draw: Random) -> None:
        """The marketplace confirms that a HIT is over which nobody has."""
        if hit := self.some(draw, HitStatus.CLOSING, free=True):
            close(hit)

    def bonus(self, draw: Random) -> None:
        cents = draw.randint(1, 40)
        if campaign_spent(self.campaign).left(fresh(self.campaign).settings) >= cents:
            bonus_wait(self.campaign, cents)

    def bonus_pay(self, draw: Random) -> None:
        call = models.OutboxCall.objects.filter(operation="bonus", status="waiting").first()
        assignment = models.Assignment.objects.first()
        if call is not None and assignment is not None:
            call.status = CallStatus.DONE
            call.save()
            models.Payment.objects.create(
                campaign=self.campaign,
                stage=assignment.hit.stage,
                kind=PaymentKind.BONUS,
                assignment=assignment,
                key=f"bonus/{call.pk}",
                cents=call.cents,
                fee_cents=0,
            )

    def change(self, draw: Random) -> None:
        crowd_change(
            self.campaign,
            price_cents={stage: draw.randint(0, 40) for stage in Stage},
            fee_percent=draw.choice([0, 20]),
        )

    def raise_budget(self, draw: Random) -> None:
        crowd = fresh(self.campaign).settings.crowd
        crowd_change(self.campaign, daily_budget_cents=crowd.daily_budget_cents + 20)

    def status(self, draw: Random) -> None:
        supply_set(
            campaign=self.campaign,
            status=draw.choice(list(SupplyStatus)),
            stages=draw.sample(list(Stage), 3),
        )

    def questions(self, draw: Random) -> None:
        ids = models.OpenQuestion.objects.values_list("pk", flat=True)
        models.OpenQuestion.objects.filter(pk__in=draw.sample(list(ids), len(ids) // 4)).delete()


STEPS: list[Callable[[History, Random], None]] = [
    step for name, step in vars(History).items() if not name.startswith("_") and name != "some"
]


@pytest.mark.slow
@pytest.mark.once
@settings(
    max_examples=10,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(
    steps=st.lists(st.sampled_from(STEPS), min_size=5, max_size=20),
    random=st.randoms(),
    budgets=st.tuples(st.integers(0, 600), st.integers(0, 400)),
)
def test_no_history_goes_beyond_the_budgets(
    history: History,
    steps: list[Callable[[History, Random], None]],
    random: Random,
    budgets: tuple[int, int],
) -> None:
    campaign = history.campaign
    with transaction.atomic():
        crowd_change(campaign, budget_cents=budgets[0], daily_budget_cents=budgets[1])
        for step in [History.plan, *steps]:
            step(history, random)
            hits_plan(campaign=campaign)
            crowd = fresh(campaign).settings.crowd
            spent = campaign_spent(campaign)
            assert spent.paid + spent.promised <= crowd.budget_cents
            assert spent.paid_today + spent.promised <= crowd.daily_budget_cents
            nothing_is_lost(campaign)
        transaction.set_rollback(True)


def nothing_is_lost(campaign: models.Campaign) -> None:
    """Every open HIT has a call that makes or ends it; the money for submitted work is held."""
    for hit in work_hits(campaign, HitStatus.CREATING, HitStatus.CLOSING):
        operation = "create_hit" if hit.status == HitStatus.CREATING else "expire_hit"
        assert hit.calls.filter(operation=operation).exclude(status=CallStatus.DROPPED).exists()
    unpaid = models.Assignment.objects.filter(status="submitted", hit__campaign=campaign)
    for assignment in unpaid.select_related("hit__terms"):
        assert assignment.hit.held_cents == assignment.hit.terms.cost_cents


@pytest.fixture
def history(tmp_path: Path) -> History:
    return History(supplied(tmp_path, images=60, hits_ceiling=dict.fromkeys(Stage, 5)))


# What the dashboard shows


def test_money_by_stage_in_a_constant_few_statements(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=40, fee_percent=20, budget_cents=5000)
    hits = [hit for hit in published(campaign) if hit.stage == "links"]
    pay(submit(hits[0]))
    call = bonus_wait(campaign, 12)
    call.assignment = submit(hits[1], worker="A2")
    call.save()
    for milliseconds in (90_000, 180_000, 200_000, 0):
        sitting_of(campaign, milliseconds)
    with CaptureQueriesContext(connection) as captured:
        money = campaign_money(fresh(campaign))
    assert len(captured) <= 13
    assert (money.paid, money.paid_today, money.budget) == (30, 30, 5000)
    # Three HITs of links, four of requirement, and the bonus.
    assert money.promised == 3 * 30 + 4 * 33 + 12
    assert money.left == 5000 - money.paid - money.promised
    links = money.stages[0]
    assert (links.stage, links.price, links.cost) == (Stage.LINKS, 25, 30)
    assert (links.paid, links.promised) == (30, 3 * 30 + 12)
    assert (links.wage, links.floor, links.median_seconds) == (500, 800, 180.0)
    assert links.warning == (
        "links pays $5.00 an hour, less than $8.00; a HIT would have to pay $0.40"
    )
    requirement = money.stages[2]
    assert (requirement.wage, requirement.warning, requirement.paid) == (None, None, 0)
    assert sum(stage.promised for stage in money.stages) == money.promised


def sitting_of(campaign: models.Campaign, milliseconds: int) -> models.Sitting:
    now = database_now()
    return models.Sitting.objects.create(
        campaign=campaign,
        stage="links",
        kind=SittingKind.WORK,
        worker=models.Worker.objects.all()[0],
        assignment_id=f"a{models.Sitting.objects.count()}",
        status=SittingStatus.FINISHED,
        until=now,
        confirmed_at=now,
        milliseconds=milliseconds,
    )
