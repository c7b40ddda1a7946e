"""Experiments that were started from the dashboard. What they need and make is in folders."""

from pathlib import Path

from django.conf import settings
from django.db import models
from django.db.models.functions import Now


class ExperimentStatus(models.TextChoices):
    """How far an experiment is."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Experiment(models.Model):
    """A recipe on a release, from the wish to its result."""

    recipe = models.CharField(max_length=64)
    # Names, not paths: folders and files below those that the settings name.
    release = models.CharField(max_length=200)
    backbone = models.CharField(max_length=100)
    vectors = models.CharField(max_length=200)
    status = models.CharField(
        max_length=16, choices=ExperimentStatus.choices, default=ExperimentStatus.WAITING
    )
    # What is being done, and how much of it, as of `beat_at`: the last sign of life.
    step = models.CharField(max_length=200, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    beat_at = models.DateTimeField(null=True, blank=True)
    # Who took it up: another worker that takes it up later ends the first one's say.
    attempt = models.PositiveIntegerField(default=0)
    # How many workers fell silent while they ran it, since it was last asked for.
    deaths = models.PositiveIntegerField(default=0)
    metrics = models.JSONField(null=True, blank=True)
    notes = models.TextField(blank=True)
    error = models.TextField(blank=True)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL
    )
    created_at = models.DateTimeField(db_default=Now())
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["created_at"],
                condition=models.Q(status__in=["waiting", "running"]),
                name="experiment_to_do",
            )
        ]

    def __str__(self) -> str:
        return f"experiment {self.pk} ({self.recipe} on {self.release})"

    @property
    def folder(self) -> Path:
        """Where its results are."""
        return Path(settings.CHAINBOX_EXPERIMENTS) / str(self.pk)
