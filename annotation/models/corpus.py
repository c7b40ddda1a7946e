"""The corpus: images, captions and mentions as they were imported."""

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign, CampaignSettings


class Image(models.Model):
    """A photo; without a file only its captions are known, if withdrawn only that it existed."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="images")
    # The stem of the release's file names.
    name = models.CharField(max_length=200)
    filename = models.CharField(max_length=200)
    split = models.CharField(max_length=20, blank=True)
    width = models.PositiveIntegerField(default=0)
    height = models.PositiveIntegerField(default=0)
    depth = models.PositiveSmallIntegerField(default=3)
    # The photo's path in the file storage, by content; empty while there is no file.
    file = models.CharField(max_length=200, blank=True, db_index=True)
    sha256 = models.CharField(max_length=64, blank=True)
    begun_under = models.ForeignKey(CampaignSettings, on_delete=models.PROTECT, related_name="+")
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    withdrawn_reason = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["campaign", "name"], name="one_image_per_name")
        ]

    def __str__(self) -> str:
        return self.name


class Caption(models.Model):
    """A caption; `text` is its tokens, separated by single spaces."""

    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="captions")
    number = models.PositiveSmallIntegerField()
    text = models.TextField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["image", "number"], name="one_caption_per_number")
        ]

    def __str__(self) -> str:
        return self.text


class Mention(models.Model):
    """A mention as it was found; review decisions change the state, not this row."""

    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="mentions")
    number = models.PositiveSmallIntegerField()
    caption = models.PositiveSmallIntegerField()
    start = models.PositiveSmallIntegerField()
    end = models.PositiveSmallIntegerField()
    # Entity types separated by slashes, as in the release: vehicles/scene.
    types = models.CharField(max_length=100)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["image", "number"], name="one_mention_per_number"),
            models.CheckConstraint(
                condition=models.Q(start__lt=models.F("end")), name="mention_has_tokens"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.image_id}:{self.number}"


class AnswerKey(models.Model):
    """Gold chains and boxes that came with the corpus: for simulation and scoring only."""

    image = models.OneToOneField(
        Image, primary_key=True, on_delete=models.PROTECT, related_name="answer_key"
    )
    body = models.TextField()

    def __str__(self) -> str:
        return f"answer key of {self.image_id}"
