"""Money and assignments when several people act on the same thing at the same moment."""

import contextlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from threading import Barrier

import pytest
from django.db import connection, transaction
from django.db.models import Sum
from django.test.utils import override_settings

from common.clock import database_now
from marketplace.actions.assignments import (
    WorkRefusedError,
    assignment_accept,
    assignment_approve,
    assignment_reject,
    assignment_return,
    assignment_submit,
)
from marketplace.actions.bonuses import bonus_send
from marketplace.actions.hits import hit_expire_at, hit_extend, hit_retype
from marketplace.actions.sweep import sweep
from marketplace.actions.workers import worker_erase
from marketplace.models import HIT, Account, AccountKind, Assignment, Requester, Transaction, Worker
from marketplace.rules.errors import RequestError
from marketplace.rules.lifecycle import AssignmentStatus
from tests.marketplace.people import make_hit, make_hit_type, make_requester, make_worker
from tests.sizes import WHOLE

# Assignments that three programs approve at the same moment.
APPROVED_BY_THREE = 2000 if WHOLE else 150

pytestmark = [pytest.mark.postgres, pytest.mark.slow, pytest.mark.django_db(transaction=True)]


@pytest.fixture(autouse=True)
def _fee() -> Iterator[None]:
    with override_settings(MARKETPLACE_FEE_PERCENT=20):
        yield


def at_once(*acts: Callable[[], object]) -> list[str]:
    """Do all at the same moment; return how each went. Anything but a refusal is raised."""
    start = Barrier(len(acts))

    def run(act: Callable[[], object]) -> str:
        try:
            start.wait()
            act()
            return "done"
        except (RequestError, WorkRefusedError) as refused:
            return getattr(refused, "code", "refused")
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def submitted(requester: Requester, worker: Worker, *, places: int = 1) -> Assignment:
    hit = make_hit(requester, assignments=places)
    assignment = assignment_accept(hit_id=hit.pk, worker=worker)
    assignment_submit(assignment=assignment, answer="<a/>")
    return Assignment.objects.get(pk=assignment.pk)


def earned(worker: Worker) -> int:
    return Account.objects.filter(worker=worker).aggregate(n=Sum("balance"))["n"] or 0


def assert_exact(requester: Requester) -> None:
    """The ledger sums to zero, and the held money equals the cost of the open places."""
    assert sum(Account.objects.values_list("balance", flat=True)) == 0
    for account in Account.objects.annotate(posted=Sum("postings__cents")):
        assert account.balance == (account.posted or 0)
    held = Account.objects.get(requester=requester, kind=AccountKind.HELD).balance
    now, expected = database_now(), 0
    for hit in HIT.objects.filter(requester=requester).select_related("hit_type"):
        status = [one.status for one in hit.assignments.all()]
        at_work = status.count(AssignmentStatus.ACCEPTED) + status.count(AssignmentStatus.SUBMITTED)
        done = status.count(AssignmentStatus.APPROVED) + status.count(AssignmentStatus.REJECTED)
        free = hit.max_assignments - at_work - done if hit.expires_at > now else 0
        price = (at_work + free) * (hit.hit_type.reward_cents + hit.fee_cents)
        assert hit.held_cents == price
        expected += price
    assert held == expected


def test_an_assignment_is_approved_and_paid_once() -> None:
    requester, worker = make_requester(), make_worker()
    work = submitted(requester, worker)
    went = at_once(*[partial(assignment_approve, assignment=work)] * 8)
    assert sorted(went) == ["InvalidAssignmentState"] * 7 + ["done"]
    assert earned(worker) == 10
    assert_exact(requester)


@pytest.mark.whole
def test_three_programs_that_approve_everything_at_once_pay_each_assignment_once() -> None:
    requester = make_requester(cents=20 * APPROVED_BY_THREE)
    workers = [make_worker() for _ in range(10)]
    works = [submitted(requester, workers[n % 10]) for n in range(APPROVED_BY_THREE)]
    together = Barrier(3, timeout=60)

    def approve_all() -> None:
        for work in works:
            together.wait()
            with contextlib.suppress(RequestError):  # another program was quicker
                assignment_approve(assignment=work)

    assert at_once(approve_all, approve_all, approve_all) == ["done"] * 3
    assert not Assignment.objects.exclude(status=AssignmentStatus.APPROVED).exists()
    assert Transaction.objects.filter(kind="reward").count() == APPROVED_BY_THREE
    assert [earned(worker) for worker in workers] == [APPROVED_BY_THREE] * 10
    assert_exact(requester)


def test_approving_and_rejecting_at_once_decides_once() -> None:
    requester, worker = make_requester(), make_worker()
    for _ in range(10):
        work, before = submitted(requester, worker), earned(worker)
        went = at_once(
            partial(assignment_approve, assignment=work),
            partial(assignment_reject, assignment=work, feedback="no"),
        )
        assert sorted(went) == ["InvalidAssignmentState", "done"]
        work.refresh_from_db()
        paid = earned(worker) - before
        assert paid == (10 if work.status == AssignmentStatus.APPROVED else 0)
    assert_exact(requester)


def test_approving_while_the_sweeper_approves_pays_once() -> None:
    requester, worker = make_requester(), make_worker()
    works = [submitted(requester, worker) for _ in range(6)]
    Assignment.objects.update(due_at=database_now() - timedelta(seconds=1))

    def decide() -> None:
        for work in works:
            with contextlib.suppress(RequestError):  # the sweeper was quicker
                assignment_approve(assignment=work)

    assert at_once(sweep, sweep, decide, decide) == ["done"] * 4
    assert earned(worker) == 60
    assert Transaction.objects.filter(kind="reward").count() == 6
    assert_exact(requester)


def test_a_bonus_with_one_token_is_paid_once() -> None:
    requester, worker = make_requester(), make_worker()
    work = submitted(requester, worker)

    def send() -> None:
        bonus_send(requester=requester, assignment=work, cents=50, reason="r", token="once")

    assert sorted(at_once(*[send] * 6)) == ["DuplicateRequest"] * 5 + ["done"]
    assert earned(worker) == 50
    assert_exact(requester)


def test_the_last_cents_are_spent_once() -> None:
    requester = make_requester(cents=24)
    work = submitted(requester, make_worker())

    def send() -> None:
        bonus_send(requester=requester, assignment=work, cents=10, reason="r", token=None)

    assert sorted(at_once(*[send] * 4)) == ["InsufficientFunds"] * 3 + ["done"]
    assert_exact(requester)


def test_extending_while_expiring_holds_what_it_should() -> None:
    requester = make_requester()
    for _ in range(5):
        hit = make_hit(requester, assignments=3)
        now = database_now()
        at_once(
            partial(hit_extend, hit=hit, more=2),
            partial(hit_expire_at, hit=hit, when=now),
            partial(assignment_accept, hit_id=hit.pk, worker=make_worker()),
            sweep,
        )
        sweep()
        assert_exact(requester)


def test_decisions_of_all_kinds_at_once_do_not_wait_for_each_other() -> None:
    """Accounts older than the requester's: locked one movement at a time they made a ring."""
    worker = make_worker()
    assignment_approve(assignment=submitted(make_requester(), worker))
    requester = make_requester()
    for _ in range(12):
        rejected = [submitted(requester, worker) for _ in range(3)]
        for one in rejected:
            assignment_reject(assignment=one, feedback="no")
        waiting = [submitted(requester, worker) for _ in range(3)]
        # Expired meanwhile, with a place that nobody took: approving also gives money back.
        waiting.append(submitted(requester, worker, places=2))
        HIT.objects.filter(pk=waiting[-1].hit_id).update(expires_at=database_now())
        acts: list[Callable[[], object]] = [
            *(
                partial(assignment_approve, assignment=one, override_rejection=True)
                for one in rejected
            ),
            *(partial(assignment_approve, assignment=one) for one in waiting),
            partial(
                bonus_send,
                requester=requester,
                assignment=waiting[0],
                cents=1,
                reason="r",
                token=None,
            ),
        ]
        assert at_once(*acts) == ["done"] * 8
    assert_exact(requester)


def test_a_hit_whose_type_changes_this_moment_can_still_be_accepted() -> None:
    """Who waits for the HIT's lock must find it, with the type that it has by then."""
    requester = make_requester()
    hit, dearer = make_hit(requester), make_hit_type(requester, reward=30)
    start = Barrier(2)

    def retype() -> None:
        with transaction.atomic():
            hit_retype(hit=hit, hit_type=dearer)
            start.wait()
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_sleep(0.3)")

    def accept() -> None:
        start.wait()
        assignment = assignment_accept(hit_id=hit.pk, worker=worker)
        assignment_submit(assignment=assignment, answer="<a/>")

    worker = make_worker()
    assert at_once(retype, accept) == ["done", "done"]
    assignment_approve(assignment=Assignment.objects.get())
    assert earned(worker) == 30
    assert_exact(requester)


def test_leaving_while_requesters_decide() -> None:
    requester = make_requester()
    for _ in range(6):
        worker = make_worker()
        hits = [make_hit(requester, assignments=2) for _ in range(3)]
        mine = [assignment_accept(hit_id=hit.pk, worker=worker) for hit in hits]
        others = [assignment_accept(hit_id=hit.pk, worker=make_worker()) for hit in hits]
        HIT.objects.filter(pk__in=[hit.pk for hit in hits]).update(expires_at=database_now())
        acts: list[Callable[[], object]] = [
            partial(worker_erase, worker=worker),
            *(partial(assignment_return, assignment=one) for one in others),
        ]
        assert at_once(*acts) == ["done"] * 4
        assert {one.status for one in Assignment.objects.filter(pk__in=[m.pk for m in mine])} == {
            AssignmentStatus.RETURNED
        }
    assert_exact(requester)
