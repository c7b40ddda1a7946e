"""Campaigns and the versions of their settings."""

import msgspec
from django.db import models
from django.db.models.functions import Now

from annotation.pipeline.protocol.settings import Settings


class CampaignSettings(models.Model):
    """One version of the protocol's numbers. Append-only: facts point to the version they saw."""

    version = models.PositiveIntegerField()
    body = models.TextField()
    created_at = models.DateTimeField(db_default=Now())
    campaign = models.ForeignKey(
        "Campaign", on_delete=models.PROTECT, related_name="settings_versions"
    )

    class Meta:
        verbose_name_plural = "campaign settings"
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "version"], name="one_row_per_settings_version"
            )
        ]

    def __str__(self) -> str:
        return f"version {self.version}"

    @property
    def settings(self) -> Settings:
        return msgspec.json.decode(self.body, type=Settings)


class Campaign(models.Model):
    """A research team's project: a corpus and the settings it is annotated under."""

    name = models.CharField(max_length=100, unique=True)
    # Null only between the two inserts that create a campaign and its first settings.
    current_settings = models.ForeignKey(
        CampaignSettings, null=True, on_delete=models.PROTECT, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name

    @property
    def settings(self) -> Settings:
        """The current settings."""
        assert self.current_settings is not None  # every campaign is created with settings
        return self.current_settings.settings
