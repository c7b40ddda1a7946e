"""Notifications to requesters' webhooks, and messages to workers."""

from django.db import models
from django.db.models.functions import Now

from marketplace.models.accounts import Requester, Worker
from marketplace.models.hits import HITType


class NotificationSettings(models.Model):
    """Where the events of a HIT type go."""

    hit_type = models.OneToOneField(
        HITType, on_delete=models.PROTECT, related_name="notification_settings"
    )
    destination = models.CharField(max_length=500)
    transport = models.CharField(max_length=10)
    version = models.CharField(max_length=20)
    event_types = models.JSONField(default=list)
    is_active = models.BooleanField(default=True)

    class Meta:
        verbose_name_plural = "notification settings"

    def __str__(self) -> str:
        return self.destination


class Event(models.Model):
    """A notification to deliver: an outbox row, tried until delivered or given up."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="events")
    destination = models.CharField(max_length=500)
    body = models.TextField()
    attempts = models.PositiveIntegerField(default=0)
    next_try_at = models.DateTimeField(null=True, blank=True, db_index=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    last_error = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"event {self.pk}"


class Message(models.Model):
    """A requester's message to a worker, shown on the worker site."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="messages")
    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="messages")
    subject = models.CharField(max_length=200)
    text = models.TextField()
    read_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.subject
