"""The table of counted sign-in attempts."""

from django.db import models


class SignInCount(models.Model):
    """The recent attempts for one account name, or from one address.

    The key is a keyed hash: people type passwords into the name field, and nobody should be able to
    read them here. Old rows are deleted.
    """

    key = models.CharField(max_length=64, primary_key=True)
    # Pairs: milliseconds since 1970 by the database's clock, and whether the device was known.
    attempts = models.JSONField(default=list)
    touched_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "sign-in count"

    def __str__(self) -> str:
        return self.key
