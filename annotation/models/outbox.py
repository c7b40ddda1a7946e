"""The outbox: calls to the marketplace, committed with the state that caused them."""

import uuid

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign
from annotation.models.hits import Assignment, Hit
from annotation.models.people import Worker


class Operation(models.TextChoices):
    CREATE_HIT = "create_hit"
    EXPIRE_HIT = "expire_hit"
    APPROVE = "approve"
    REJECT = "reject"
    BONUS = "bonus"
    QUALIFY = "qualify"
    MESSAGE = "message"


class CallStatus(models.TextChoices):
    WAITING = "waiting"
    DONE = "done"
    # The marketplace refuses, and would again: somebody has to look at it.
    FAILED = "failed"
    # A later call replaces this one, or the worker is gone.
    DROPPED = "dropped"


def new_token() -> str:
    return uuid.uuid4().hex


class OutboxCall(models.Model):
    """One call, sent until the marketplace confirms it."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="outbox")
    operation = models.CharField(max_length=10, choices=Operation.choices)
    # What the call is about; each is queued once. `approve/<assignment>`, `create_hit/<hit>`.
    key = models.CharField(max_length=120, unique=True)
    # Only the latest call of a lane counts: `qualify/<stage>/<worker>`. Empty: no lane.
    lane = models.CharField(max_length=80, blank=True)
    # The idempotency token; what the marketplace later tells us about the call contains it.
    token = models.CharField(max_length=32, unique=True, default=new_token)
    hit = models.ForeignKey(
        Hit, null=True, blank=True, on_delete=models.PROTECT, related_name="calls"
    )
    assignment = models.ForeignKey(
        Assignment, null=True, blank=True, on_delete=models.PROTECT, related_name="calls"
    )
    worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.PROTECT, related_name="calls"
    )
    stage = models.CharField(max_length=12, blank=True)
    # Further parameters, as JSON; never a worker's identity, because erasing could miss it.
    details = models.TextField(default="{}")
    # What it will cost, with fees; for bonuses only.
    cents = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=7, choices=CallStatus.choices, default=CallStatus.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    first_tried_at = models.DateTimeField(null=True, blank=True)
    # When it is due; during an attempt, when others may try. Null: it is finished.
    next_try_at = models.DateTimeField(null=True, blank=True, db_default=Now())
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["next_try_at", "id"],
                condition=models.Q(next_try_at__isnull=False),
                name="outbox_due",
            ),
            models.Index(
                fields=["lane", "id"], condition=models.Q(status="waiting"), name="outbox_lane"
            ),
        ]

    def __str__(self) -> str:
        return self.key
