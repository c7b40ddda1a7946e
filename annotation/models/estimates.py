"""Estimates of a campaign's costs, finished or still being computed."""

from django.conf import settings as site
from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign, CampaignSettings


class EstimateStatus(models.TextChoices):
    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


UNDER_WAY = [EstimateStatus.WAITING, EstimateStatus.RUNNING]


class StoredEstimate(models.Model):
    """An estimate from the request to its result; a campaign computes one at a time."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="estimates")
    # The prices and rules that the estimate is for.
    settings = models.ForeignKey(CampaignSettings, on_delete=models.PROTECT, related_name="+")
    status = models.CharField(
        max_length=10, choices=EstimateStatus.choices, default=EstimateStatus.WAITING
    )
    # Images simulated so far, as of `beat_at`: the last sign of life.
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    beat_at = models.DateTimeField(null=True, blank=True)
    # Counts the attempts: a worker process that takes it up later replaces the earlier one.
    attempt = models.PositiveIntegerField(default=0)
    # The result, or the reason why there is none.
    body = models.TextField(blank=True)
    error = models.TextField(blank=True)
    by = models.ForeignKey(
        site.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    asked_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        default_permissions = ()
        permissions = [("estimate_campaign", "Can have a campaign's costs estimated")]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign"],
                condition=models.Q(status__in=["waiting", "running"]),
                name="one_estimate_under_way",
            )
        ]

    def __str__(self) -> str:
        return f"estimate {self.pk} of {self.campaign}"
