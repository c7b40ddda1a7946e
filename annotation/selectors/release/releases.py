"""What goes into a release of a campaign."""

from collections.abc import Iterator

from django.db.models import Max

from annotation import models
from annotation.models import ImageStatus


def finished_images(campaign: models.Campaign) -> Iterator[models.Image]:
    """Yield the finished images in the order of their import, with their states."""
    images = models.Image.objects.filter(
        campaign=campaign, stored_state__status=ImageStatus.FINISHED
    )
    yield from images.select_related("stored_state").order_by("pk").iterator(chunk_size=500)


def unfinished_images(campaign: models.Campaign) -> list[tuple[str, str]]:
    """Return the names and statuses of all other images."""
    return list(
        models.Image.objects.filter(campaign=campaign)
        .exclude(stored_state__status=ImageStatus.FINISHED)
        .order_by("pk")
        .values_list("name", "stored_state__status")
    )


def first_free_chain_id(campaign: models.Campaign) -> int:
    """Return a chain id above all that came with imports."""
    highest = models.Chain.objects.filter(image__campaign=campaign).aggregate(Max("public_id"))
    return int(highest["public_id__max"] or 0) + 1
