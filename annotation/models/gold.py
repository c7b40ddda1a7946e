"""Gold questions: questions whose answer is known."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign
from annotation.models.corpus import Image
from annotation.pipeline.gold.gold_question import Gold, GoldSource, decode_gold
from annotation.pipeline.protocol.questions import Stage


class GoldQuestion(models.Model):
    """A gold question of a stage. Retired ones stay: answers point to them."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="gold")
    stage = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Stage])
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="gold")
    # `Gold.key`: each question is kept once, however it was made.
    key = models.CharField(max_length=32)
    answer = models.CharField(max_length=10)
    # Its encoding in `pipeline.gold.gold_question`.
    body = models.TextField()
    source = models.CharField(max_length=10, choices=[(s.value, s.value) for s in GoldSource])
    # How often it was handed out: the least used ones come first.
    uses = models.PositiveIntegerField(default=0)
    retired_at = models.DateTimeField(null=True, blank=True)
    # Why it was retired: leaked, disputed, or a researcher's words.
    retired_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "key"], name="one_gold_question_per_key")
        ]
        indexes = [
            models.Index(
                fields=["campaign", "stage", "answer", "uses"],
                condition=models.Q(retired_at__isnull=True),
                name="gold_in_use",
            )
        ]

    def __str__(self) -> str:
        return f"gold {self.pk} ({self.stage})"

    @property
    def gold(self) -> Gold:
        return decode_gold(self.body)
