"""The table of counted sign-in attempts."""

from django.db import models


class SignInCount(models.Model):
    """The recent attempts for one account name, or from one address.

    The key is a keyed hash: people type passwords where the name belongs, and nobody should read
    them here. Rows that nobody has touched for a while are deleted.
    """

    key = models.CharField(max_length=64, primary_key=True)
    # Pairs: milliseconds since 1970 by the database's clock, and whether the device was known.
    attempts = models.JSONField(default=list)
    touched_at = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name = "sign-in count"

    def __str__(self) -> str:
        return self.key
