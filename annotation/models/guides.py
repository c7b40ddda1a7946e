"""What researchers tell workers: guidelines, examples, tests, the consent text."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign
from annotation.pipeline.protocol.questions import Stage

CONSENT = "consent"


class Guide(models.Model):
    """One version of a stage's guide, or of the consent text; the highest version is current."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="guides")
    topic = models.CharField(
        max_length=12, choices=[(CONSENT, CONSENT), *((s.value, s.value) for s in Stage)]
    )
    version = models.PositiveIntegerField()
    # TOML, kept exactly as written, with comments; `pipeline.work.guides` reads it.
    source = models.TextField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "topic", "version"], name="one_guide_per_version"
            )
        ]

    def __str__(self) -> str:
        return f"{self.topic} guide, version {self.version}"
