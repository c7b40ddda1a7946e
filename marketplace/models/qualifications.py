"""Qualification types, requests for them, and who holds them."""

from django.db import models
from django.db.models.functions import Now

from marketplace.models.accounts import Requester, Worker
from marketplace.rules.ids import thing_id


class QualificationType(models.Model):
    """A qualification that a requester grants: by hand, by a test, or to everybody who asks."""

    qualification_type_id = models.CharField(max_length=30, unique=True, default=thing_id)
    requester = models.ForeignKey(
        Requester, on_delete=models.PROTECT, related_name="qualification_types"
    )
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    is_active = models.BooleanField(default=True)
    # Null: a worker cannot request it again.
    retry_delay = models.PositiveIntegerField(null=True, blank=True)
    test = models.TextField(blank=True)
    test_duration = models.PositiveIntegerField(null=True, blank=True)
    answer_key = models.TextField(blank=True)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(null=True, blank=True)
    disposed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                condition=models.Q(disposed_at=None),
                name="one_qualification_type_per_name",
            )
        ]

    def __str__(self) -> str:
        return self.name


class Qualification(models.Model):
    """A worker's value of a qualification, granted or revoked."""

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.PROTECT, related_name="qualifications"
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="qualifications")
    value = models.IntegerField(default=1)
    is_granted = models.BooleanField(default=True)
    reason = models.TextField(blank=True)
    granted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"], name="one_qualification_per_worker"
            )
        ]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.value}"


class QualificationRequest(models.Model):
    """A worker's request for a qualification, with the answers to its test if it has one."""

    PENDING, GRANTED, REJECTED = "pending", "granted", "rejected"

    request_id = models.CharField(max_length=30, unique=True, default=thing_id)
    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.PROTECT, related_name="requests"
    )
    worker = models.ForeignKey(
        Worker, on_delete=models.PROTECT, related_name="qualification_requests"
    )
    status = models.CharField(
        max_length=10,
        choices=[(s, s) for s in (PENDING, GRANTED, REJECTED)],
        default=PENDING,
    )
    test = models.TextField(blank=True)
    answer = models.TextField(blank=True)
    reason = models.TextField(blank=True)
    submitted_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                condition=models.Q(status="pending"),
                name="one_pending_request_per_worker",
            )
        ]

    def __str__(self) -> str:
        return self.request_id


class TestAttempt(models.Model):
    """A worker has opened a qualification's test, and its time is running."""

    __test__ = False  # not a test case, despite its name

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.PROTECT, related_name="attempts"
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="test_attempts")
    started_at = models.DateTimeField()
    deadline = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"attempt of {self.worker_id}"
