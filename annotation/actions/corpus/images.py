"""Withdrawing an image."""

from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models.functions import Now

from annotation import models
from annotation.models import ImageStatus


@transaction.atomic
def image_withdraw(*, image: models.Image, reason: str) -> None:
    """Remove an image's photo and captions for good and leave a tombstone.

    Its facts stay, so that they can be counted; they contain no words of the captions. Withdrawing
    twice does no harm: it completes what a crash may have left undone.
    """
    models.StoredState.objects.select_for_update().get(pk=image.pk)
    models.OpenQuestion.objects.filter(image=image).delete()
    models.Chain.objects.filter(image=image).delete()
    models.Box.objects.filter(image=image).delete()
    models.AnswerKey.objects.filter(image=image).delete()
    models.Mention.objects.filter(image=image).delete()
    models.Caption.objects.filter(image=image).delete()
    models.StoredState.objects.filter(pk=image.pk).update(
        body="", status=ImageStatus.WITHDRAWN, updated_at=Now()
    )
    if image.withdrawn_at is None:
        models.Image.objects.filter(pk=image.pk).update(withdrawn_at=Now(), withdrawn_reason=reason)
    file = image.file
    # Only when the tombstone is safe: a photo without captions is better than the reverse.
    transaction.on_commit(lambda: _file_remove(file))


def _file_remove(file: str) -> None:
    """Delete a photo unless another image, of any campaign, still uses it."""
    if not file:
        return
    in_use = models.Image.objects.filter(file=file, withdrawn_at=None).exists()
    if not in_use:
        default_storage.delete(file)
