"""A worker's earnings, from the ledger; and all data that is stored about a worker."""

from datetime import date
from typing import Any

import msgspec
from django.db.models import Case, Count, IntegerField, QuerySet, Sum, Value, When
from django.db.models.functions import TruncDate

from marketplace.models import Account, AccountKind, BonusPayment, Posting, Worker


class Day(msgspec.Struct, frozen=True):
    """One day's earnings."""

    day: date
    rewards_cents: int
    bonuses_cents: int
    rewards: int

    @property
    def cents(self) -> int:
        return self.rewards_cents + self.bonuses_cents


def balance_of(worker: Worker) -> int:
    """Return the balance of the worker's account."""
    found = Account.objects.filter(kind=AccountKind.EARNINGS, worker=worker).first()
    return found.balance if found else 0


def earned_in_all(worker: Worker) -> tuple[int, int]:
    """Return the totals of rewards and of bonuses, in cents."""
    rows = dict(
        _postings(worker)
        .values_list("transaction__kind")
        .annotate(cents=Sum("cents"))
        .values_list("transaction__kind", "cents")
    )
    return rows.get("reward", 0), rows.get("bonus", 0)


def earnings_by_day(worker: Worker, most: int = 60) -> list[Day]:
    """Return the last days on which the worker earned something, newest first."""
    rows = (
        _postings(worker)
        .annotate(day=TruncDate("transaction__created_at"))
        .values("day")
        .annotate(
            rewards_cents=Sum(_cents_of("reward")),
            bonuses_cents=Sum(_cents_of("bonus")),
            rewards=Count(Case(When(transaction__kind="reward", then="pk"))),
        )
        .order_by("-day")[:most]
    )
    return [Day(**row) for row in rows]


def bonuses_of(worker: Worker) -> QuerySet[BonusPayment]:
    return worker.bonuses.select_related("requester", "assignment__hit__hit_type").order_by(
        "-granted_at", "-pk"
    )


def worker_data(worker: Worker) -> dict[str, Any]:
    """Return all that is stored about a worker, in plain values."""
    user = worker.user
    return {
        "account": {
            "worker_id": worker.worker_id,
            "username": user.username if user else None,
            "email": user.email if user else None,
            "country": worker.country,
            "subdivision": worker.subdivision,
            "adult_content": worker.is_adult,
            "joined": user.date_joined if user else None,
            "last_sign_in": user.last_login if user else None,
            "agreed_to_the_terms": worker.consented_at,
        },
        "assignments": [
            {
                "assignment_id": one.assignment_id,
                "hit_id": one.hit.hit_id,
                "title": one.hit.hit_type.title,
                "requester": one.hit.requester.name,
                "status": one.status,
                "accepted": one.accepted_at,
                "submitted": one.submitted_at,
                "approved": one.approved_at,
                "rejected": one.rejected_at,
                "feedback": one.feedback,
                "answer": one.answer,
            }
            for one in worker.assignments.select_related(
                "hit__hit_type", "hit__requester"
            ).order_by("pk")
        ],
        "ledger": [
            {
                "kind": one.transaction.kind,
                "cents": one.cents,
                "time": one.transaction.created_at,
                "memo": one.transaction.memo,
            }
            for one in _postings(worker).select_related("transaction").order_by("pk")
        ],
        "bonuses": [
            {
                "requester": one.requester.name,
                "assignment_id": one.assignment.assignment_id,
                "cents": one.cents,
                "reason": one.reason,
                "time": one.granted_at,
            }
            for one in bonuses_of(worker)
        ],
        "qualifications": [
            {
                "name": one.qualification_type.name,
                "requester": one.qualification_type.requester.name,
                "value": one.value,
                "granted": one.is_granted,
                "time": one.granted_at,
                "reason": one.reason,
            }
            for one in worker.qualifications.select_related(
                "qualification_type__requester"
            ).order_by("pk")
        ],
        "qualification_requests": [
            {
                "name": one.qualification_type.name,
                "status": one.status,
                "time": one.submitted_at,
                "answer": one.answer,
                "reason": one.reason,
            }
            for one in worker.qualification_requests.select_related("qualification_type").order_by(
                "pk"
            )
        ],
        "tests": [
            {
                "name": one.qualification_type.name,
                "started": one.started_at,
                "deadline": one.deadline,
                "finished": one.finished_at,
            }
            for one in worker.test_attempts.select_related("qualification_type").order_by("pk")
        ],
        "messages": [
            {
                "requester": one.requester.name,
                "subject": one.subject,
                "text": one.text,
                "time": one.created_at,
                "read": one.read_at,
            }
            for one in worker.messages.select_related("requester").order_by("pk")
        ],
    }


def _postings(worker: Worker) -> QuerySet[Posting]:
    return Posting.objects.filter(account__kind=AccountKind.EARNINGS, account__worker=worker)


def _cents_of(kind: str) -> Case:
    return Case(
        When(transaction__kind=kind, then="cents"),
        default=Value(0),
        output_field=IntegerField(),
    )
