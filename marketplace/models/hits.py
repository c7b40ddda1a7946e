"""HIT types, HITs and assignments."""

from django.db import models
from django.db.models.functions import Now

from marketplace.models.accounts import Requester, Worker
from marketplace.rules.ids import thing_id
from marketplace.rules.lifecycle import HELD, AssignmentStatus, HITStatus


class HITType(models.Model):
    """The common properties of a group of HITs. The same properties always give the same type."""

    hit_type_id = models.CharField(max_length=30, unique=True, default=thing_id)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hit_types")
    title = models.CharField(max_length=128)
    description = models.TextField()
    keywords = models.TextField(blank=True)
    reward_cents = models.PositiveIntegerField()
    assignment_duration = models.PositiveIntegerField()
    auto_approval_delay = models.PositiveIntegerField()
    # As the API takes them: a list of QualificationRequirement structures.
    requirements = models.JSONField(default=list)
    fingerprint = models.CharField(max_length=64)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "fingerprint"], name="one_hit_type_per_properties"
            )
        ]

    def __str__(self) -> str:
        return self.title


class HIT(models.Model):
    """A task. The actions update `status` from the clock and the assignments."""

    hit_id = models.CharField(max_length=30, unique=True, default=thing_id)
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="hits")
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="hits")
    question = models.TextField()
    max_assignments = models.PositiveIntegerField()
    # HITs made with fewer than ten assignments never grow to ten.
    first_max_assignments = models.PositiveIntegerField()
    annotation = models.CharField(max_length=255, blank=True)
    expires_at = models.DateTimeField(db_index=True)
    status = models.CharField(
        max_length=12,
        choices=[(s.value, s.value) for s in HITStatus],
        default=HITStatus.ASSIGNABLE.value,
    )
    reviewing = models.BooleanField(default=False)
    # The marketplace's fee for one assignment when the HIT was created, and the requester's money
    # that is held for this HIT now.
    fee_cents = models.PositiveIntegerField(default=0)
    held_cents = models.PositiveBigIntegerField(default=0)
    disposed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name = "HIT"
        indexes = [
            models.Index(fields=["requester", "status"], name="hit_requester_status"),
            models.Index(fields=["hit_type", "status"], name="hit_type_status"),
        ]

    def __str__(self) -> str:
        return self.hit_id


class Assignment(models.Model):
    """One worker's sitting at a HIT.

    A returned place keeps its assignment id for the next worker. So the id alone does not name a
    worker: (assignment id, worker) does.
    """

    assignment_id = models.CharField(max_length=30, default=thing_id, db_index=True)
    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    status = models.CharField(
        max_length=10,
        choices=[(s.value, s.value) for s in AssignmentStatus],
        default=AssignmentStatus.ACCEPTED.value,
    )
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approval_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    # QuestionFormAnswers XML.
    answer = models.TextField(blank=True)
    feedback = models.TextField(blank=True)
    # When the sweep must look at it again: at the deadline, then at the auto-approval.
    due_at = models.DateTimeField(null=True, blank=True, db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment_id"],
                condition=models.Q(status__in=[s.value for s in HELD]),
                name="one_holder_per_assignment_id",
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                condition=models.Q(status__in=[s.value for s in HELD]),
                name="one_assignment_per_worker_and_hit",
            ),
        ]
        indexes = [models.Index(fields=["worker", "status"], name="assignment_worker_status")]

    def __str__(self) -> str:
        return self.assignment_id
