"""The state tables: the result of folding facts, for queries. Rebuilt by `state_check`."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign
from annotation.models.corpus import Image
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.state import BoxStatus, ImageState, Phase, decode_state


class ImageStatus(models.TextChoices):
    OPEN = "open"
    REVIEW = "review"
    FINISHED = "finished"
    WITHDRAWN = "withdrawn"


class StoredState(models.Model):
    """An image's folded state. A writer of facts locks this row first."""

    image = models.OneToOneField(
        Image, primary_key=True, on_delete=models.PROTECT, related_name="stored_state"
    )
    body = models.TextField()
    facts = models.PositiveIntegerField(default=0)
    status = models.CharField(max_length=10, choices=ImageStatus.choices, db_index=True)
    updated_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"state of {self.image_id} after {self.facts} facts"

    @property
    def state(self) -> ImageState:
        return decode_state(self.body)


class Chain(models.Model):
    """A chain of the stored state."""

    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="chains")
    number = models.PositiveIntegerField()
    phase = models.CharField(max_length=12, choices=[(p.value, p.value) for p in Phase])
    mentions = models.JSONField()
    types = models.CharField(max_length=100)
    review = models.CharField(max_length=200, blank=True)
    public_id = models.PositiveIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["image", "number"], name="one_chain_per_number")
        ]
        indexes = [models.Index(fields=["phase"], name="chain_phase")]

    def __str__(self) -> str:
        return f"chain {self.number} of {self.image_id}"


class Box(models.Model):
    """A box of the stored state, discarded ones included."""

    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="boxes")
    number = models.PositiveIntegerField()
    chains = models.JSONField()
    # PostgreSQL reserves the name xmin.
    x_min = models.IntegerField()
    y_min = models.IntegerField()
    x_max = models.IntegerField()
    y_max = models.IntegerField()
    status = models.CharField(max_length=10, choices=[(s.value, s.value) for s in BoxStatus])

    class Meta:
        verbose_name_plural = "boxes"
        constraints = [
            models.UniqueConstraint(fields=["image", "number"], name="one_box_per_number")
        ]

    def __str__(self) -> str:
        return f"box {self.number} of {self.image_id}"


class OpenQuestion(models.Model):
    """A question that waits for one more judgment."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="open_questions")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="open_questions")
    stage = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Stage])
    key = models.CharField(max_length=60)
    # How much its image still needs (`pipeline.protocol.progress`): the smallest comes first.
    left = models.PositiveIntegerField(default=0)
    # The workers who may not answer it (`pipeline.protocol.independence`), as `,7,12,`.
    kept_out = models.TextField(blank=True)
    opened_at = models.DateTimeField(db_default=Now())
    # Since when no qualified, active worker may answer it; null: somebody may.
    starved_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["image", "key"], name="one_open_question_per_key")
        ]
        indexes = [
            models.Index(fields=["campaign", "stage", "left", "id"], name="open_question_stage")
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.image_id}"
