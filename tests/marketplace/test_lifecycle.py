"""HITs and assignments through their lives, and the money that follows them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.models import F, Sum
from django.test.utils import CaptureQueriesContext, override_settings

from common.clock import database_now
from marketplace.actions.assignments import (
    WorkRefusedError,
    assignment_accept,
    assignment_accept_any,
    assignment_approve,
    assignment_reject,
    assignment_return,
    assignment_submit,
)
from marketplace.actions.hits import (
    hit_create,
    hit_dispose,
    hit_expire_at,
    hit_extend,
    hit_review,
)
from marketplace.actions.sweep import old_hits_dispose, sweep
from marketplace.models import (
    HIT,
    Account,
    AccountKind,
    Assignment,
    Posting,
    Requester,
    Worker,
    WorkerBlock,
)
from marketplace.rules.errors import RequestError
from marketplace.rules.lifecycle import AssignmentStatus, HITStatus
from tests.marketplace.people import EXTERNAL, make_hit, make_hit_type, make_requester, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def requester() -> Requester:
    return make_requester()


def balance(kind: AccountKind, owner: Requester | Worker | None = None) -> int:
    accounts = Account.objects.filter(kind=kind)
    if isinstance(owner, Requester):
        accounts = accounts.filter(requester=owner)
    if isinstance(owner, Worker):
        accounts = accounts.filter(worker=owner)
    return int(accounts.aggregate(Sum("balance"))["balance__sum"] or 0)


def assert_balanced() -> None:
    assert sum(Account.objects.values_list("balance", flat=True)) == 0
    for account in Account.objects.annotate(posted=Sum("postings__cents")):
        assert account.balance == (account.posted or 0)
    for total in Posting.objects.values("transaction").annotate(total=Sum("cents")):
        assert total["total"] == 0
    held = HIT.objects.aggregate(Sum("held_cents"))["held_cents__sum"] or 0
    assert balance(AccountKind.HELD) == held


def time_passes(seconds: int) -> None:
    """Move every clock of the marketplace back, which is the same as waiting."""
    gone = timedelta(seconds=seconds)
    HIT.objects.update(expires_at=F("expires_at") - gone)
    for field in ("deadline", "due_at", "submitted_at", "auto_approval_at", "rejected_at"):
        Assignment.objects.filter(**{f"{field}__isnull": False}).update(**{field: F(field) - gone})


def status(hit: HIT) -> str:
    hit.refresh_from_db()
    return hit.status


def test_from_publishing_to_payment(requester: Requester) -> None:
    hit, worker = make_hit(requester, assignments=2), make_worker()
    assert balance(AccountKind.HELD, requester) == 20
    assert balance(AccountKind.AVAILABLE, requester) == 100_000 - 20
    assignment = assignment_accept(hit_id=hit.pk, worker=worker)
    assert assignment_accept(hit_id=hit.pk, worker=worker) == assignment, "again gives the same"
    assignment_submit(assignment=assignment, answer="<a/>")
    assert status(hit) == HITStatus.ASSIGNABLE
    assignment_approve(assignment=assignment)
    assert balance(AccountKind.EARNINGS, worker) == 10
    assert balance(AccountKind.HELD, requester) == 10
    with pytest.raises(RequestError, match="status of: Submitted"):
        assignment_approve(assignment=assignment)
    assert balance(AccountKind.EARNINGS, worker) == 10, "nobody is paid twice"
    with pytest.raises(WorkRefusedError, match="already worked"):
        assignment_accept(hit_id=hit.pk, worker=worker)
    assert_balanced()


def test_fees_are_a_setting(requester: Requester) -> None:
    with override_settings(MARKETPLACE_FEE_PERCENT=20):
        hit, worker = make_hit(requester, reward=7), make_worker()
    assert balance(AccountKind.HELD, requester) == 9, "a fee of 1.4 cents is 2"
    with override_settings(MARKETPLACE_FEE_PERCENT=50):
        assignment = assignment_accept(hit_id=hit.pk, worker=worker)
        assignment_submit(assignment=assignment, answer="<a/>")
        assignment_approve(assignment=assignment)
    assert balance(AccountKind.FEES) == 2, "the fee of when it was published"
    assert balance(AccountKind.HELD) == 0
    assert_balanced()


def test_too_little_money_publishes_nothing(requester: Requester) -> None:
    hit_type = make_hit_type(requester, reward=60_000)
    with pytest.raises(RequestError, match="insufficient funds") as refused:
        hit_create(hit_type=hit_type, question=EXTERNAL, max_assignments=2, lifetime=60)
    assert refused.value.turk_error_code == "AWS.MechanicalTurk.InsufficientFunds"
    assert not HIT.objects.exists()
    assert_balanced()


def test_a_return_gives_the_place_and_its_id_to_the_next(requester: Requester) -> None:
    hit = make_hit(requester)
    first, second = make_worker(), make_worker()
    returned = assignment_accept(hit_id=hit.pk, worker=first)
    assert status(hit) == HITStatus.UNASSIGNABLE
    with pytest.raises(WorkRefusedError, match="All assignments of this HIT have been taken"):
        assignment_accept(hit_id=hit.pk, worker=second)
    assignment_return(assignment=returned)
    assert status(hit) == HITStatus.ASSIGNABLE
    taken = assignment_accept(hit_id=hit.pk, worker=second)
    assert taken.assignment_id == returned.assignment_id
    with pytest.raises(WorkRefusedError):
        assignment_submit(assignment=returned, answer="<a/>")
    with pytest.raises(WorkRefusedError):
        assignment_return(assignment=returned)
    assignment_submit(assignment=taken, answer="<a/>")
    assert Assignment.objects.get(status=AssignmentStatus.SUBMITTED).worker == second


def test_time_runs_out_and_the_place_comes_back(requester: Requester) -> None:
    hit, worker = make_hit(requester), make_worker()
    assignment = assignment_accept(hit_id=hit.pk, worker=worker)
    time_passes(601)
    with pytest.raises(WorkRefusedError, match="run out"):
        assignment_submit(assignment=assignment, answer="<a/>")
    assert sweep() == 1
    assert sweep() == 0
    assignment.refresh_from_db()
    assert assignment.status == AssignmentStatus.ABANDONED
    assert status(hit) == HITStatus.ASSIGNABLE
    assert_balanced()


def test_an_expired_hit_gives_its_money_back_and_work_under_way_goes_on(
    requester: Requester,
) -> None:
    hit, worker = make_hit(requester, assignments=3, lifetime=100), make_worker()
    assignment = assignment_accept(hit_id=hit.pk, worker=worker)
    time_passes(101)
    sweep()
    assert status(hit) == HITStatus.UNASSIGNABLE
    assert balance(AccountKind.HELD, requester) == 10, "for the one at work"
    with pytest.raises(WorkRefusedError):
        assignment_accept(hit_id=hit.pk, worker=make_worker())
    assignment_submit(assignment=assignment, answer="<a/>")
    assert status(hit) == HITStatus.REVIEWABLE
    assignment_approve(assignment=assignment)
    assert balance(AccountKind.HELD, requester) == 0
    assert balance(AccountKind.AVAILABLE, requester) == 100_000 - 10
    assert_balanced()


def test_nothing_depends_on_the_sweeper_having_run(requester: Requester) -> None:
    hit = make_hit(requester, lifetime=100)
    time_passes(101)
    with pytest.raises(WorkRefusedError):
        assignment_accept(hit_id=hit.pk, worker=make_worker())
    hit_dispose(hit=hit)
    assert status(hit) == HITStatus.DISPOSED
    assert balance(AccountKind.HELD, requester) == 0


def test_auto_approval_pays_when_the_delay_is_over(requester: Requester) -> None:
    hit, worker = make_hit(requester), make_worker()
    assignment = assignment_accept(hit_id=hit.pk, worker=worker)
    assignment_submit(assignment=assignment, answer="<a/>")
    time_passes(86_399)
    sweep()
    assert balance(AccountKind.EARNINGS, worker) == 0
    time_passes(2)
    sweep()
    assert balance(AccountKind.EARNINGS, worker) == 10
    assert_balanced()


def test_what_cannot_be_settled_holds_up_nobody(requester: Requester) -> None:
    broken, fine = make_requester(), make_worker()
    for owner, worker in ((broken, make_worker()), (requester, fine)):
        assignment = assignment_accept(hit_id=make_hit(owner).pk, worker=worker)
        assignment_submit(assignment=assignment, answer="<a/>")
    # A ledger that was tampered with: nothing is left to pay the first one from.
    Account.objects.filter(requester=broken, kind=AccountKind.HELD).update(balance=0)
    time_passes(86_401)
    assert sweep() == 1
    assert balance(AccountKind.EARNINGS, fine) == 10
    assert sweep() == 0
    later = Assignment.objects.get(hit__requester=broken)
    assert later.status == AssignmentStatus.SUBMITTED
    assert later.due_at is not None, "it is tried again"


def test_a_rejection_returns_the_money_and_can_be_overridden(requester: Requester) -> None:
    hit, worker = make_hit(requester), make_worker()
    assignment = assignment_accept(hit_id=hit.pk, worker=worker)
    assignment_submit(assignment=assignment, answer="<a/>")
    assignment_reject(assignment=assignment, feedback="empty")
    assert balance(AccountKind.AVAILABLE, requester) == 100_000
    assert status(hit) == HITStatus.REVIEWABLE, "the place is spent"
    with pytest.raises(RequestError):
        assignment_approve(assignment=assignment)
    time_passes(29 * 86_400)
    assignment_approve(assignment=assignment, override_rejection=True)
    assert balance(AccountKind.EARNINGS, worker) == 10
    assert_balanced()


def test_after_thirty_days_a_rejection_stands(requester: Requester) -> None:
    assignment = assignment_accept(hit_id=make_hit(requester).pk, worker=make_worker())
    assignment_submit(assignment=assignment, answer="<a/>")
    assignment_reject(assignment=assignment, feedback="empty")
    time_passes(31 * 86_400)
    with pytest.raises(RequestError):
        assignment_approve(assignment=assignment, override_rejection=True)
    assert_balanced()


@pytest.mark.parametrize(("first", "more", "allowed"), [(9, 1, False), (8, 1, True), (10, 5, True)])
def test_the_nine_and_ten_rule(requester: Requester, first: int, more: int, allowed: bool) -> None:
    hit = make_hit(requester, assignments=first)
    if allowed:
        hit_extend(hit=hit, more=more)
        assert balance(AccountKind.HELD, requester) == 10 * (first + more)
    else:
        with pytest.raises(RequestError) as refused:
            hit_extend(hit=hit, more=more)
        assert refused.value.code == "InvalidMaximumAssignmentsIncrease"
        assert balance(AccountKind.HELD, requester) == 10 * first


def test_expiring_now_and_deleting_at_once(requester: Requester) -> None:
    hit = make_hit(requester)
    with pytest.raises(RequestError, match="status of: Reviewing, Reviewable"):
        hit_dispose(hit=hit)
    hit_expire_at(hit=hit, when=database_now() - timedelta(days=4000))
    hit_expire_at(hit=hit, when=database_now() - timedelta(days=4000))
    hit_review(hit=hit, revert=False)
    assert status(hit) == HITStatus.REVIEWING
    hit_review(hit=hit, revert=True)
    hit_dispose(hit=hit)
    with pytest.raises(RequestError, match="currently in the state 'Disposed'"):
        hit_dispose(hit=hit)
    assert_balanced()


def test_a_hit_with_undecided_work_is_not_deleted(requester: Requester) -> None:
    hit = make_hit(requester)
    assignment = assignment_accept(hit_id=hit.pk, worker=make_worker())
    assignment_submit(assignment=assignment, answer="<a/>")
    assert status(hit) == HITStatus.REVIEWABLE
    with pytest.raises(RequestError):
        hit_dispose(hit=hit)
    assert old_hits_dispose() == 0
    assignment_approve(assignment=assignment)
    time_passes(121 * 86_400)
    assert old_hits_dispose() == 1


def test_a_longer_life_holds_the_money_again(requester: Requester) -> None:
    hit = make_hit(requester, lifetime=60)
    time_passes(61)
    sweep()
    assert balance(AccountKind.HELD, requester) == 0
    hit_expire_at(hit=hit, when=database_now() + timedelta(hours=1))
    assert status(hit) == HITStatus.ASSIGNABLE
    assert balance(AccountKind.HELD, requester) == 10
    assert_balanced()


def test_blocked_and_unqualified_workers_are_told_so(requester: Requester) -> None:
    worker = make_worker()
    wanted = {"QualificationTypeId": "000000000000000000L0", "Comparator": "GreaterThan"}
    hit = hit_create(
        hit_type=make_hit_type(requester, requirements=[wanted | {"IntegerValues": [100]}]),
        question=EXTERNAL,
        max_assignments=1,
        lifetime=60,
    )
    with pytest.raises(WorkRefusedError, match="qualifications"):
        assignment_accept(hit_id=hit.pk, worker=worker)
    WorkerBlock.objects.create(requester=requester, worker=worker, reason="spam")
    with pytest.raises(WorkRefusedError, match="requester has asked"):
        assignment_accept(hit_id=make_hit(requester).pk, worker=worker)


def test_any_hit_of_a_group(requester: Requester) -> None:
    hits = [make_hit(requester) for _ in range(2)]
    worker = make_worker()
    group = hits[0].hit_type_id
    taken = {assignment_accept_any(hit_type_id=group, worker=worker).hit_id for _ in hits}
    assert taken == {hit.pk for hit in hits}
    with pytest.raises(WorkRefusedError, match="no more HITs in this group"):
        assignment_accept_any(hit_type_id=group, worker=worker)


def test_a_check_made_for_another_type_does_not_count(requester: Requester) -> None:
    hit, other, worker = make_hit(requester), make_hit(requester, reward=20), make_worker()
    assert hit.hit_type_id != other.hit_type_id
    WorkerBlock.objects.create(requester=requester, worker=worker, reason="spam")
    with pytest.raises(WorkRefusedError, match="requester has asked"):
        assignment_accept(hit_id=hit.pk, worker=worker, qualified_for=other.hit_type_id)


def test_accepting_writes_the_hit_only_when_its_status_changes(requester: Requester) -> None:
    hit = make_hit(requester, assignments=2)
    written = []
    for _ in range(2):
        with CaptureQueriesContext(connection) as captured:
            assignment_accept_any(hit_type_id=hit.hit_type_id, worker=make_worker())
        statements = [query["sql"] for query in captured]
        written.append(sum(sql.startswith('UPDATE "marketplace_hit"') for sql in statements))
        # What the worker may accept is looked up once.
        assert sum('FROM "marketplace_workerblock"' in sql for sql in statements) == 1
    # The second takes the last place, after which the HIT is open to nobody.
    assert written == [0, 1]
    hit.refresh_from_db()
    assert hit.status == HITStatus.UNASSIGNABLE
