"""Experiments started from the dashboard. Their inputs and results are in folders."""

from pathlib import Path

from django.conf import settings as site
from django.db import models
from django.db.models.functions import Now


class ExperimentStatus(models.TextChoices):
    """The state of an experiment."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


class Experiment(models.Model):
    """A recipe on a release, from the request to its result."""

    recipe = models.CharField(max_length=64)
    # Names, not paths: of folders and files in the folders that the settings of the site name.
    release = models.CharField(max_length=200)
    backbone = models.CharField(max_length=100)
    vectors = models.CharField(max_length=200)
    # Of the recipe. Settings that are not here have their defaults.
    settings = models.JSONField(default=dict, blank=True)
    status = models.CharField(
        max_length=16, choices=ExperimentStatus.choices, default=ExperimentStatus.WAITING
    )
    # The current step and how much of it is done, as of `beat_at`, the last sign of life.
    step = models.CharField(max_length=200, blank=True)
    done = models.PositiveBigIntegerField(default=0)
    total = models.PositiveBigIntegerField(default=0)
    beat_at = models.DateTimeField(null=True, blank=True)
    # Counts the workers that took it up. Only the latest may write its progress and result.
    attempt = models.PositiveIntegerField(default=0)
    # How many workers died while they ran it, since it was last requested.
    deaths = models.PositiveIntegerField(default=0)
    metrics = models.JSONField(null=True, blank=True)
    notes = models.TextField(blank=True)
    error = models.TextField(blank=True)
    by = models.ForeignKey(site.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
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
        """The folder of its results."""
        return Path(site.CHAINBOX_EXPERIMENTS) / str(self.pk)
