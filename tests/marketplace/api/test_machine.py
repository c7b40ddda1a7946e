"""Any sequence of calls: the ledger sums to zero, nobody is paid twice, states only take
documented steps."""

import contextlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from botocore.exceptions import ClientError
from django.db.models import F, Sum
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from pytest_django.live_server_helper import LiveServer

from common.clock import database_now
from marketplace.actions.assignments import (
    WorkRefusedError,
    assignment_accept,
    assignment_return,
    assignment_submit,
)
from marketplace.actions.hits import places_of
from marketplace.actions.sweep import sweep
from marketplace.models import (
    HIT,
    Account,
    AccountKind,
    Assignment,
    Posting,
    Transaction,
    Worker,
)
from marketplace.rules.lifecycle import (
    ASSIGNMENT_STEPS,
    HIT_STEPS,
    AssignmentStatus,
    HITStatus,
    hit_status,
)
from tests.marketplace.calls import client_of, hang_up
from tests.marketplace.people import EXTERNAL, make_requester, make_worker

WORKERS = 3


class Marketplace(RuleBasedStateMachine):
    """A requester with little money, three workers, and time that passes."""

    url = ""
    hits: Bundle[str] = Bundle("hits")

    @initialize(target=hits)
    def begin(self) -> Any:
        self.requester = make_requester(cents=90)
        self.client = client_of(self.requester, self.url, [])
        self.workers = [make_worker() for _ in range(WORKERS)]
        self.hit_states: dict[str, str] = {}
        self.assignment_states: dict[int, str] = {}
        # Two HITs from the start: every walk has something to work on.
        return multiple(self.create(3, "0.1"), self.create(1, "0.05"))

    def call(self, operation: Callable[..., Any], **params: Any) -> Any:
        """Call the API; a refusal must be one that MTurk documents."""
        try:
            return operation(**params)
        except ClientError as error:
            refusal: dict[str, Any] = dict(error.response)
        assert refusal["Error"]["Code"] == "RequestError", refusal
        assert refusal["TurkErrorCode"].startswith("AWS.MechanicalTurk.")
        return None

    @rule(target=hits, assignments=st.integers(1, 3), reward=st.sampled_from(["0.05", "0.1", "0"]))
    def create(self, assignments: int, reward: str) -> Any:
        made = self.call(
            self.client.create_hit,
            Title="Look",
            Description="at this",
            Reward=reward,
            LifetimeInSeconds=600,
            AssignmentDurationInSeconds=300,
            AutoApprovalDelayInSeconds=900,
            MaxAssignments=assignments,
            Question=EXTERNAL,
        )
        return made["HIT"]["HITId"] if made else multiple()

    @rule(hit=hits, worker=st.integers(0, WORKERS - 1), submissions=st.integers(0, 2))
    def work(self, hit: str, worker: int, submissions: int) -> None:
        """Accept, and submit at once, later or twice."""
        row = HIT.objects.get(hit_id=hit)
        self._work(assignment_accept, hit_id=row.pk, worker=self.workers[worker])
        for _ in range(submissions):
            self.submit(worker)

    @rule(worker=st.integers(0, WORKERS - 1))
    def submit(self, worker: int) -> None:
        for assignment in self._assignments(worker)[:1]:
            self._work(assignment_submit, assignment=assignment, answer="<a/>")

    @rule(worker=st.integers(0, WORKERS - 1))
    def give_back(self, worker: int) -> None:
        for assignment in self._assignments(worker)[:1]:
            self._work(assignment_return, assignment=assignment)

    @rule(hit=hits, decision=st.sampled_from(["approve", "approve", "reject", "override"]))
    def decide(self, hit: str, decision: str) -> None:
        listed = self.call(self.client.list_assignments_for_hit, HITId=hit)
        for assignment in listed["Assignments"][:1] if listed else []:
            number = assignment["AssignmentId"]
            if decision == "reject":
                self.call(
                    self.client.reject_assignment, AssignmentId=number, RequesterFeedback="no"
                )
            else:
                for _ in range(2):
                    self.call(
                        self.client.approve_assignment,
                        AssignmentId=number,
                        OverrideRejection=decision == "override",
                    )

    @rule(hit=hits, amount=st.sampled_from(["0.01", "0.2"]), token=st.sampled_from("ab"))
    def bonus(self, hit: str, amount: str, token: str) -> None:
        listed = self.call(self.client.list_assignments_for_hit, HITId=hit)
        for assignment in listed["Assignments"][:1] if listed else []:
            self.call(
                self.client.send_bonus,
                WorkerId=assignment["WorkerId"],
                AssignmentId=assignment["AssignmentId"],
                BonusAmount=amount,
                Reason="well done",
                UniqueRequestToken=token,
            )

    @rule(hit=hits, more=st.integers(1, 9))
    def extend(self, hit: str, more: int) -> None:
        self.call(
            self.client.create_additional_assignments_for_hit,
            HITId=hit,
            NumberOfAdditionalAssignments=more,
        )

    @rule(hit=hits, minutes=st.sampled_from([-5, 0, 30]))
    def expire(self, hit: str, minutes: int) -> None:
        when = datetime.now(UTC) + timedelta(minutes=minutes)
        self.call(self.client.update_expiration_for_hit, HITId=hit, ExpireAt=when)

    @rule(hit=hits, revert=st.booleans())
    def review(self, hit: str, revert: bool) -> None:
        self.call(self.client.update_hit_review_status, HITId=hit, Revert=revert)

    @rule(hit=hits)
    def delete(self, hit: str) -> None:
        self.call(self.client.delete_hit, HITId=hit)

    @rule(seconds=st.sampled_from([301, 601, 901]))
    def time_passes(self, seconds: int) -> None:
        gone = timedelta(seconds=seconds)
        HIT.objects.filter(requester=self.requester).update(expires_at=F("expires_at") - gone)
        for field in ("deadline", "due_at"):
            Assignment.objects.filter(
                hit__requester=self.requester, **{f"{field}__isnull": False}
            ).update(**{field: F(field) - gone})

    @rule()
    def sweep(self) -> None:
        sweep()

    @invariant()
    def the_ledger_sums_to_zero(self) -> None:
        assert Account.objects.aggregate(Sum("balance"))["balance__sum"] in (0, None)
        assert Posting.objects.aggregate(Sum("cents"))["cents__sum"] in (0, None)
        own = Account.objects.filter(requester=self.requester)
        for account in own.annotate(posted=Sum("postings__cents")):
            assert account.balance == (account.posted or 0)

    @invariant()
    def what_is_held_is_what_open_places_cost(self) -> None:
        own = HIT.objects.filter(requester=self.requester).select_related("hit_type")
        account = Account.objects.get(requester=self.requester, kind=AccountKind.HELD)
        assert account.balance == sum(hit.held_cents for hit in own)
        for hit in own:
            places = places_of(hit)
            assert hit.held_cents % max(1, hit.hit_type.reward_cents) == 0
            needed = (places.accepted + places.submitted) * hit.hit_type.reward_cents
            free = places.free * hit.hit_type.reward_cents
            assert hit.held_cents in (needed, needed + free)

    @invariant()
    def nobody_is_paid_twice(self) -> None:
        paid = Assignment.objects.filter(
            status=AssignmentStatus.APPROVED, hit__hit_type__reward_cents__gt=0
        )
        assert Transaction.objects.filter(kind="reward").count() == paid.count()

    @invariant()
    def states_only_take_documented_steps(self) -> None:
        for hit in HIT.objects.filter(requester=self.requester):
            before = self.hit_states.get(hit.hit_id, hit.status)
            assert _reachable(HITStatus(before), HITStatus(hit.status), HIT_STEPS)
            self.hit_states[hit.hit_id] = hit.status
            expired = hit.expires_at <= database_now()
            if not (expired and hit.status == HITStatus.ASSIGNABLE):  # the sweeper is yet to come
                assert hit.status == hit_status(
                    places_of(hit),
                    expired=expired,
                    reviewing=hit.reviewing,
                    disposed=hit.disposed_at is not None,
                )
        for assignment in Assignment.objects.filter(hit__requester=self.requester):
            was = self.assignment_states.get(assignment.pk, assignment.status)
            now = AssignmentStatus(assignment.status)
            assert _reachable(AssignmentStatus(was), now, ASSIGNMENT_STEPS)
            self.assignment_states[assignment.pk] = assignment.status

    def teardown(self) -> None:
        # An open connection keeps a thread of the server waiting.
        hang_up(self.client)

    def _assignments(self, worker: int) -> list[Assignment]:
        own = Worker.objects.get(pk=self.workers[worker].pk).assignments
        return list(own.order_by("-pk"))

    def _work(self, action: Callable[..., Any], **params: Any) -> None:
        with contextlib.suppress(WorkRefusedError):
            action(**params)


def _reachable(before: Any, after: Any, steps: dict[Any, tuple[Any, ...]]) -> bool:
    """Tell whether documented steps lead from one state to the other; one rule may take several."""
    seen, ahead = {before}, [before]
    while ahead:
        for step in steps[ahead.pop()]:
            if step not in seen:
                seen.add(step)
                ahead.append(step)
    return after in seen


@pytest.mark.slow
@pytest.mark.long
@pytest.mark.once
@pytest.mark.django_db(transaction=True)
def test_whatever_is_called(live_server: LiveServer) -> None:
    Marketplace.url = live_server.url
    run_state_machine_as_test(
        Marketplace,
        settings=settings(
            max_examples=50,
            derandomize=True,  # so that what it reaches is always the same
            stateful_step_count=25,
            deadline=None,
            # Shrinking would replay on a database that has grown meanwhile, for minutes.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
    # It has come far: otherwise the invariants would say little.
    kinds = set(Transaction.objects.values_list("kind", flat=True))
    assert kinds >= {"funding", "hold", "refund", "reward"}
    assert set(HIT.objects.values_list("status", flat=True)) >= {"Reviewable", "Disposed"}
