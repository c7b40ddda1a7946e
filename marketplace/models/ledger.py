"""A double-entry ledger in whole cents. Every transaction's postings sum to zero."""

from django.db import models
from django.db.models.functions import Now

from marketplace.models.accounts import Requester, Worker


class AccountKind(models.TextChoices):
    # The outside world, where money comes from and goes to; the only account below zero.
    OUTSIDE = "outside"
    AVAILABLE = "available"
    HELD = "held"
    EARNINGS = "earnings"
    FEES = "fees"


class Account(models.Model):
    """The owner and purpose of money. `balance` is the sum of its postings, updated with them."""

    kind = models.CharField(max_length=10, choices=AccountKind.choices)
    requester = models.ForeignKey(
        Requester, null=True, blank=True, on_delete=models.PROTECT, related_name="accounts"
    )
    worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.PROTECT, related_name="accounts"
    )
    balance = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "requester"],
                condition=models.Q(requester__isnull=False),
                name="one_account_per_requester_and_kind",
            ),
            models.UniqueConstraint(
                fields=["kind", "worker"],
                condition=models.Q(worker__isnull=False),
                name="one_account_per_worker_and_kind",
            ),
            models.UniqueConstraint(
                fields=["kind"],
                condition=models.Q(requester=None, worker=None),
                name="one_house_account_per_kind",
            ),
            models.CheckConstraint(
                condition=models.Q(kind="outside") | models.Q(balance__gte=0),
                name="only_the_outside_is_below_zero",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.requester_id or self.worker_id or ''}".strip()


class Transaction(models.Model):
    """The reason for a movement. `key` makes it happen only once, however often it is requested."""

    kind = models.CharField(max_length=20)
    key = models.CharField(max_length=100, unique=True)
    memo = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.key


class Posting(models.Model):
    """Cents into (or, below zero, out of) an account."""

    transaction = models.ForeignKey(Transaction, on_delete=models.PROTECT, related_name="postings")
    account = models.ForeignKey(Account, on_delete=models.PROTECT, related_name="postings")
    cents = models.BigIntegerField()

    def __str__(self) -> str:
        return f"{self.cents} to {self.account_id}"
