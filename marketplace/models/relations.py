"""Blocks and bonuses between a requester and a worker; request tokens of a requester."""

from django.db import models
from django.db.models.functions import Now

from marketplace.models.accounts import Requester, Worker
from marketplace.models.hits import Assignment


class WorkerBlock(models.Model):
    """A requester no longer wants this worker's work."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="blocks")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "worker"], name="one_block_per_worker")
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} by {self.requester_id}"


class BonusPayment(models.Model):
    """Money beyond the reward, for an assignment."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="bonuses")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="bonuses")
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="bonuses")
    cents = models.PositiveIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.cents} to {self.worker_id}"


class RequestToken(models.Model):
    """A used UniqueRequestToken, and its result."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="tokens")
    operation = models.CharField(max_length=40)
    token = models.CharField(max_length=64)
    # The id of the created object, so that the same request gets the same answer.
    result = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "operation", "token"], name="one_use_per_request_token"
            )
        ]

    def __str__(self) -> str:
        return self.token
