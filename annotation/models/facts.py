"""Facts: the only truth about an image. The database refuses to change or delete them."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import CampaignSettings
from annotation.models.corpus import Image
from annotation.models.people import Worker


class Fact(models.Model):
    """One fact of an image's sequence; `body` is its encoding in `pipeline.protocol.facts`."""

    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="facts")
    number = models.PositiveIntegerField()
    settings = models.ForeignKey(CampaignSettings, on_delete=models.PROTECT, related_name="+")
    kind = models.CharField(max_length=20)
    body = models.TextField()
    # For judgments only: who answered, what about, and whether it counted.
    worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.PROTECT, related_name="facts"
    )
    question = models.CharField(max_length=60, null=True, blank=True)  # noqa: DJ001 (null is "no judgment" and stays out of the unique constraint)
    counted = models.BooleanField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["image", "number"], name="one_fact_per_number"),
            models.UniqueConstraint(
                fields=["image", "question", "worker"], name="one_judgment_per_worker_and_question"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    kind="judgment",
                    worker__isnull=False,
                    question__isnull=False,
                    counted__isnull=False,
                )
                | (
                    ~models.Q(kind="judgment")
                    & models.Q(worker__isnull=True, question__isnull=True, counted__isnull=True)
                ),
                name="judgments_and_only_they_name_a_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"fact {self.number} of {self.image_id}"
