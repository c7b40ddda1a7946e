"""The requester's side: HITs on the marketplace, their submissions, and payments."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign
from annotation.models.people import Worker
from annotation.models.sittings import Sitting, SittingKind
from annotation.pipeline.protocol.questions import Stage

_STAGES = [(s.value, s.value) for s in Stage]


class SupplyStatus(models.TextChoices):
    RUNNING = "running"
    # Nobody should begin: waiting HITs are taken back. Work under way goes on.
    PAUSED = "paused"
    # Nothing is added; waiting HITs stay as long as they are needed.
    DRAINING = "draining"


class StageSupply(models.Model):
    """Whether a stage of a launched campaign is supplied with HITs. No row: not launched."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="supplies")
    stage = models.CharField(max_length=12, choices=_STAGES)
    status = models.CharField(
        max_length=8, choices=SupplyStatus.choices, default=SupplyStatus.RUNNING
    )
    # The marketplace's id of the stage's qualification, once there is one.
    qualification_type_id = models.CharField(max_length=64, blank=True)
    changed_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "stage supplies"
        constraints = [
            models.UniqueConstraint(fields=["campaign", "stage"], name="one_supply_per_stage")
        ]

    def __str__(self) -> str:
        return f"{self.stage} is {self.status}"


class HitTerms(models.Model):
    """A HIT's description and pay, which the marketplace calls a HIT type; equal terms, one row."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="hit_terms")
    stage = models.CharField(max_length=12, choices=_STAGES)
    kind = models.CharField(max_length=4, choices=SittingKind.choices)
    # The digest of `body`.
    digest = models.CharField(max_length=64)
    # The parameters of CreateHITType, as JSON.
    body = models.TextField()
    reward_cents = models.PositiveIntegerField()
    # What one assignment costs, with the marketplace's fee.
    cost_cents = models.PositiveIntegerField()
    # The marketplace's id, once it knows the terms and sends notifications about them.
    hit_type_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        verbose_name_plural = "hit terms"
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "stage", "kind", "digest"], name="one_row_per_terms"
            )
        ]

    def __str__(self) -> str:
        return f"terms {self.pk} of {self.stage}"


class HitStatus(models.TextChoices):
    # The marketplace has not confirmed it yet.
    CREATING = "creating"
    OPEN = "open"
    # It was taken back or has expired; somebody may still be working on it.
    CLOSING = "closing"
    # Everything due is paid.
    CLOSED = "closed"


class Hit(models.Model):
    """A HIT: a slot for one worker's sitting or, for a test, for many workers' sittings."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="hits")
    stage = models.CharField(max_length=12, choices=_STAGES)
    kind = models.CharField(max_length=4, choices=SittingKind.choices)
    terms = models.ForeignKey(HitTerms, on_delete=models.PROTECT, related_name="hits")
    status = models.CharField(max_length=8, choices=HitStatus.choices, default=HitStatus.CREATING)
    # The marketplace's id; null until the HIT is there.
    hit_id = models.CharField(max_length=64, null=True, blank=True, unique=True)
    places = models.PositiveIntegerField(default=1)
    # Whether, as far as we know, nobody is working on it; for a test, whether places are left.
    is_free = models.BooleanField(default=True)
    # What we may still have to pay for it, with fees.
    held_cents = models.PositiveIntegerField(default=0)
    # When a place was last accepted and last returned; the marketplace tells us in any order.
    accepted_at = models.DateTimeField(null=True, blank=True)
    given_back_at = models.DateTimeField(null=True, blank=True)
    # When to ask the marketplace about it next; null once it is closed.
    look_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    closed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["campaign", "stage", "kind", "status"],
                condition=~models.Q(status="closed"),
                name="hit_live",
            ),
            models.Index(
                fields=["look_at"], condition=models.Q(look_at__isnull=False), name="hit_look_at"
            ),
        ]

    def __str__(self) -> str:
        return f"hit {self.pk} ({self.stage})"


class AssignmentStatus(models.TextChoices):
    SUBMITTED = "submitted"
    APPROVED = "approved"
    REJECTED = "rejected"


class Assignment(models.Model):
    """A submitted assignment that the marketplace confirmed: this worker, this HIT."""

    hit = models.ForeignKey(Hit, on_delete=models.PROTECT, related_name="assignments")
    assignment_id = models.CharField(max_length=64)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    # A keyed hash of assignment and worker: recognises the assignment after the worker is erased.
    proof = models.CharField(max_length=64)
    # Null: the worker's answers could not be found.
    sitting = models.OneToOneField(
        Sitting, null=True, blank=True, on_delete=models.PROTECT, related_name="assignment"
    )
    status = models.CharField(
        max_length=9, choices=AssignmentStatus.choices, default=AssignmentStatus.SUBMITTED
    )
    # What we tell the worker with a rejection.
    reason = models.TextField(blank=True)
    submitted_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit", "proof"], name="one_assignment_per_claim")
        ]

    def __str__(self) -> str:
        return self.assignment_id


class PaymentKind(models.TextChoices):
    REWARD = "reward"
    BONUS = "bonus"


class Payment(models.Model):
    """Money that the marketplace has paid out for us. Append-only."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="payments")
    stage = models.CharField(max_length=12, choices=_STAGES)
    kind = models.CharField(max_length=6, choices=PaymentKind.choices)
    assignment = models.ForeignKey(Assignment, on_delete=models.PROTECT, related_name="payments")
    # One per reward of an assignment and one per bonus: `reward/<assignment>`, `bonus/<call>`.
    key = models.CharField(max_length=60, unique=True)
    cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        indexes = [models.Index(fields=["campaign", "created_at"], name="payment_day")]

    def __str__(self) -> str:
        return self.key
