"""Workers at a campaign's stages: what happened, and the standing that results."""

import msgspec
from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign, CampaignSettings
from annotation.models.corpus import Image
from annotation.models.people import Worker
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.trust.standing import Standing, Trust


class TrustEvent(models.Model):
    """Something that happened to a worker at a stage. Append-only: standings fold from these."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="trust_events")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="trust_events")
    stage = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Stage])
    # Identifies the event, so that it is recorded once: `check/<sitting>/<number>`.
    key = models.CharField(max_length=60)
    # The settings that it folds under.
    settings = models.ForeignKey(CampaignSettings, on_delete=models.PROTECT, related_name="+")
    # Its encoding in `pipeline.trust.standing`.
    body = models.TextField()
    # For a researcher's decision: who decided.
    by = models.CharField(max_length=150, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "worker", "stage", "key"], name="one_trust_event_per_key"
            )
        ]

    def __str__(self) -> str:
        return f"{self.key} of {self.worker_id}"


class WorkerStanding(models.Model):
    """A worker's standing at a stage. A writer of events locks this row first."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="standings")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="standings")
    stage = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Stage])
    trust = models.CharField(
        max_length=10, choices=[(t.value, t.value) for t in Trust], default=Trust.NEW.value
    )
    # Its encoding in `pipeline.trust.standing`.
    body = models.TextField(default="{}")
    updated_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "worker", "stage"], name="one_standing_per_worker_and_stage"
            )
        ]
        indexes = [models.Index(fields=["campaign", "stage", "trust"], name="standing_trust")]

    def __str__(self) -> str:
        return f"{self.worker_id} is {self.trust} at {self.stage}"

    @property
    def standing(self) -> Standing:
        return msgspec.json.decode(self.body, type=Standing)


class PendingDoubt(models.Model):
    """A judgment of a revoked worker that is to be doubted; deleted once the doubt is a fact."""

    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="pending_doubts")
    judgment = models.PositiveIntegerField()
    reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["image", "judgment"], name="one_doubt_per_judgment")
        ]

    def __str__(self) -> str:
        return f"doubt of fact {self.judgment} of {self.image_id}"


class Appeal(models.Model):
    """An appeal by a worker who lost trust. Its text is erased with the person."""

    standing = models.ForeignKey(WorkerStanding, on_delete=models.PROTECT, related_name="appeals")
    words = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    # When a researcher decided, and what they told the worker.
    decided_at = models.DateTimeField(null=True, blank=True)
    reinstated = models.BooleanField(null=True, blank=True)
    reply = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["standing"],
                condition=models.Q(decided_at__isnull=True),
                name="one_open_appeal_per_standing",
            )
        ]

    def __str__(self) -> str:
        return f"appeal {self.pk}"
