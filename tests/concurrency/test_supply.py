"""Planners, workers and payments at once: the budgets hold at every moment."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from django.db import connection, transaction

from annotation import models
from annotation.actions.crowd.supply import hits_plan, supply_set
from annotation.models import HitStatus, SupplyStatus
from annotation.selectors.crowd.money import Spent, campaign_spent
from tests.crowd.supplies import accept, confirm, pay, submit, supplied, work_hits

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

PLANNERS = 6
ROUNDS = 6
BUDGET, DAILY = 600, 500


def together(*works: Callable[[], list[Spent]]) -> list[Spent]:
    """Do all at once, each in a thread and a connection of its own."""
    start = Barrier(len(works))

    def one(work: Callable[[], list[Spent]]) -> list[Spent]:
        try:
            start.wait()
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(works)) as pool:
        return [spent for found in pool.map(one, works) for spent in found]


def test_planners_at_once_never_promise_more_than_the_budget(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=150, budget_cents=BUDGET, daily_budget_cents=DAILY)

    def plan() -> list[Spent]:
        seen = []
        for _ in range(ROUNDS):
            hits_plan(campaign=campaign)
            seen.append(campaign_spent(campaign))
        return seen

    seen = together(*[plan] * PLANNERS)
    for spent in seen:
        assert spent.paid + spent.promised <= DAILY
    # And the money is used: what is left is not enough for the cheapest HIT.
    assert 0 <= DAILY - campaign_spent(campaign).promised < 25
    keys = models.OutboxCall.objects.values_list("key", flat=True)
    assert sorted(keys) == sorted(f"create_hit/{hit.pk}" for hit in work_hits(campaign))


def test_planners_workers_and_payments_at_once(tmp_path: Path) -> None:
    campaign = supplied(tmp_path, images=150, budget_cents=BUDGET, daily_budget_cents=DAILY)
    hits_plan(campaign=campaign)

    def plan() -> list[Spent]:
        for _ in range(ROUNDS):
            hits_plan(campaign=campaign)
        return []

    def pause_and_resume() -> list[Spent]:
        for _ in range(ROUNDS // 2):
            supply_set(campaign=campaign, status=SupplyStatus.PAUSED)
            supply_set(campaign=campaign, status=SupplyStatus.RUNNING)
        return []

    def work(name: str) -> Callable[[], list[Spent]]:
        def accept_submit_and_be_paid() -> list[Spent]:
            seen = []
            for number in range(ROUNDS):
                with transaction.atomic():
                    hit = (
                        models.Hit.objects.filter(status__in=[HitStatus.CREATING, HitStatus.OPEN])
                        .filter(is_free=True)
                        .select_for_update(skip_locked=True)
                        .first()
                    )
                    if hit is None:
                        continue
                    confirm(hit)
                    accept(hit)
                with transaction.atomic():
                    hit = models.Hit.objects.select_for_update().get(pk=hit.pk)
                    assignment = submit(hit, worker=f"{name}{number}")
                with transaction.atomic():
                    pay(assignment)
                seen.append(campaign_spent(campaign))
            return seen

        return accept_submit_and_be_paid

    seen = together(plan, plan, pause_and_resume, work("A"), work("B"), work("C"))
    assert seen
    for spent in [*seen, campaign_spent(campaign)]:
        assert spent.paid + spent.promised <= DAILY
    # What was accepted was paid, whatever was paused meanwhile.
    paid = models.Payment.objects.count()
    assert paid == models.Assignment.objects.filter(status="approved").count() == len(seen)
