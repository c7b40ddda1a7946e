"""Requesters with their access keys, and workers."""

import base64
import hashlib
import hmac

from django.conf import settings
from django.db import models
from django.db.models.functions import Now

from marketplace.rules.ids import access_key_id, person_id


class Requester(models.Model):
    """A requester publishes HITs, through the API only."""

    name = models.CharField(max_length=100, unique=True)
    requester_id = models.CharField(max_length=20, unique=True, default=person_id)
    is_active = models.BooleanField(default=True)
    # Whether the requester may invite workers through the API.
    may_invite = models.BooleanField(default=False)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name

    @property
    def webhook_secret(self) -> str:
        """The key that signs this requester's notifications."""
        return derived_secret(f"webhook:{self.requester_id}")


class AccessKey(models.Model):
    """An access key. Its secret is derived, not stored, so a copy of the database reveals none."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="keys")
    key_id = models.CharField(max_length=20, unique=True, default=access_key_id)
    revoked_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.key_id

    @property
    def secret(self) -> str:
        return derived_secret(f"access-key:{self.key_id}")


class Worker(models.Model):
    """A worker. Requesters see the opaque id only; erasing removes the account, not this row."""

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="worker",
    )
    worker_id = models.CharField(max_length=20, unique=True, default=person_id)
    # ISO 3166 country, and optionally a subdivision, for Locale requirements.
    country = models.CharField(max_length=2, blank=True)
    subdivision = models.CharField(max_length=2, blank=True)
    is_adult = models.BooleanField(default=False)
    consented_at = models.DateTimeField(null=True, blank=True)
    erased_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.worker_id


class Invitation(models.Model):
    """A sign-up link. Only the hash of its code is stored."""

    code_hash = models.CharField(max_length=64, unique=True)
    # The requester who made it through the API; null: the command made it.
    requester = models.ForeignKey(
        Requester, null=True, blank=True, on_delete=models.PROTECT, related_name="invitations"
    )
    note = models.CharField(max_length=100, blank=True)
    # How many people can still sign up with it.
    places = models.PositiveIntegerField(default=1)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.note or f"invitation {self.pk}"


def derived_secret(purpose: str) -> str:
    """Return 40 characters that only this site can compute."""
    digest = hmac.new(settings.SECRET_KEY.encode(), purpose.encode(), hashlib.sha256).digest()
    return base64.b64encode(digest)[:40].decode()
