"""Sittings: what workers were given, what they have answered so far, and what they agreed to.

None of this is a fact: answers become judgments when the platform confirms the assignment. Rows may
be erased with the person.
"""

from django.db import models
from django.db.models.functions import Now

from annotation.models.campaigns import Campaign
from annotation.models.corpus import Image
from annotation.models.gold import GoldQuestion
from annotation.models.guides import Guide
from annotation.models.people import Worker
from annotation.pipeline.protocol.questions import Stage


class SittingKind(models.TextChoices):
    WORK = "work"
    TEST = "test"


class SittingStatus(models.TextChoices):
    OPEN = "open"
    # The worker has submitted all answers; they are final.
    FINISHED = "finished"
    # Its time ran out, or the worker returned it: the questions went to others.
    LAPSED = "lapsed"


class Sitting(models.Model):
    """One worker's work on one assignment."""

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="sittings")
    stage = models.CharField(max_length=12, choices=[(s.value, s.value) for s in Stage])
    kind = models.CharField(max_length=4, choices=SittingKind.choices)
    # Null while an unknown worker has not proven their identity: we store nothing about them.
    worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.PROTECT, related_name="sittings"
    )
    # Whether the worker proved on opening that they had accepted the assignment, or the platform
    # has confirmed it since.
    is_proven = models.BooleanField(default=True)
    # While there is no worker: a keyed hash of their name, to count their attempts at a test.
    mark = models.CharField(max_length=64, blank=True)
    # When the worker accepted the assignment, by the marketplace's clock; null without proof.
    accepted_at = models.DateTimeField(null=True, blank=True)
    # Until it is proven: the consent text that the worker agreed to; it is recorded for them later.
    agreed = models.ForeignKey(
        Guide, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # The platform's ids. After a return, another worker may get the same assignment id.
    assignment_id = models.CharField(max_length=64)
    hit_id = models.CharField(max_length=64, blank=True)
    # A keyed hash of assignment and worker: finds the submission of a worker erased since.
    proof = models.CharField(max_length=64, blank=True)
    # For a test: the version of the guide that the questions come from.
    guide = models.ForeignKey(
        Guide, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # The ways of drawing that this sitting offers, separated by slashes, the initial one first.
    ways = models.CharField(max_length=20, blank=True)
    status = models.CharField(
        max_length=8, choices=SittingStatus.choices, default=SittingStatus.OPEN
    )
    opened_at = models.DateTimeField(db_default=Now())
    # By the database's clock. If finished: how long the questions wait for the platform to confirm.
    until = models.DateTimeField()
    finished_at = models.DateTimeField(null=True, blank=True)
    # A digest of the submitted answers: the same answers get the same reply, others are refused.
    digest = models.CharField(max_length=64, blank=True)
    # When its answers became judgments, after the platform confirmed the assignment.
    confirmed_at = models.DateTimeField(null=True, blank=True)
    # For a finished test: right answers, all answers, and the share needed to pass at the time.
    right = models.PositiveSmallIntegerField(null=True, blank=True)
    asked = models.PositiveSmallIntegerField(null=True, blank=True)
    needed = models.FloatField(null=True, blank=True)
    # How long the worker took, by the page's own clock: the sum over all answers.
    milliseconds = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["assignment_id", "worker"],
                condition=~models.Q(status="lapsed"),
                name="one_sitting_per_assignment_and_worker",
            ),
            models.UniqueConstraint(
                fields=["proof"],
                condition=models.Q(worker=None) & ~models.Q(status="lapsed"),
                name="one_sitting_per_unknown_worker",
            ),
        ]
        indexes = [
            models.Index(fields=["assignment_id"], name="sitting_assignment"),
            models.Index(fields=["proof"], name="sitting_proof"),
            models.Index(fields=["hit_id"], name="sitting_hit"),
            models.Index(fields=["mark"], condition=~models.Q(mark=""), name="sitting_mark"),
            # To find current work and leases that have ended.
            models.Index(
                fields=["until"],
                condition=models.Q(kind="work", confirmed_at=None) & ~models.Q(status="lapsed"),
                name="sitting_until",
            ),
        ]

    def __str__(self) -> str:
        return f"sitting {self.pk} ({self.stage})"

    @property
    def known_worker(self) -> Worker:
        """The worker of a sitting that has one: all work, and every test that is proven."""
        assert self.worker is not None
        return self.worker


class SittingQuestion(models.Model):
    """A question of a sitting. While it is not released, no other sitting gets this question."""

    sitting = models.ForeignKey(Sitting, on_delete=models.PROTECT, related_name="questions")
    number = models.PositiveSmallIntegerField()
    image = models.ForeignKey(Image, on_delete=models.PROTECT, related_name="+")
    # The question's key within its image; empty for tests and gold questions.
    key = models.CharField(max_length=60, blank=True)
    # The gold question shown here, if any, and whether the answer was right.
    gold = models.ForeignKey(
        GoldQuestion, null=True, blank=True, on_delete=models.PROTECT, related_name="askings"
    )
    right = models.BooleanField(null=True, blank=True)
    # The sitting's worker, for gold questions only: nobody gets the same one twice.
    checked_worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.PROTECT, related_name="+"
    )
    # What is shown, as numbers and coordinates, fixed when the sitting was opened.
    shown = models.TextField()
    # The answer so far, and the worker's comment, which is not part of the dataset.
    answer = models.TextField(blank=True)
    comment = models.TextField(blank=True)
    saved_at = models.DateTimeField(null=True, blank=True)
    # When the page sent it, in milliseconds: a message older than the stored one changes nothing.
    sent_at = models.BigIntegerField(default=0)
    released_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["sitting", "number"], name="one_question_per_number_of_a_sitting"
            ),
            models.UniqueConstraint(
                fields=["image", "key"],
                condition=models.Q(released_at__isnull=True) & ~models.Q(key=""),
                name="one_live_lease_per_question",
            ),
            models.UniqueConstraint(
                fields=["checked_worker", "gold"], name="one_asking_of_gold_per_worker"
            ),
            models.CheckConstraint(
                condition=models.Q(gold=None, checked_worker=None)
                | models.Q(gold__isnull=False, checked_worker__isnull=False),
                name="gold_questions_name_their_worker",
            ),
        ]

    def __str__(self) -> str:
        return f"question {self.number} of {self.sitting_id}"


class Consent(models.Model):
    """A worker has read this version of the campaign's consent text and agrees."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="consents")
    guide = models.ForeignKey(Guide, on_delete=models.PROTECT, related_name="consents")
    given_at = models.DateTimeField(db_default=Now())

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "guide"], name="one_consent_per_text")
        ]

    def __str__(self) -> str:
        return f"consent of {self.worker_id}"
