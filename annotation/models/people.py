"""Workers, known only by an opaque name."""

from django.db import models
from django.db.models.functions import Now


class Worker(models.Model):
    """A worker. Facts use the row's number, so the identity can be erased while judgments stay."""

    # The platform's worker id, such as A2XYZ; a simulated one starts with "simulated".
    name = models.CharField(max_length=100, unique=True)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.name
