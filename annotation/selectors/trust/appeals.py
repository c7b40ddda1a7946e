"""Links with which workers who lost trust can appeal."""

from django.conf import settings
from django.core import signing
from django.urls import reverse

from annotation import models

_SALT = "chainbox.appeal"


def appeal_url(standing: models.WorkerStanding) -> str:
    """Return the address of the page where this worker can appeal; empty if there is none."""
    base: str = settings.CHAINBOX_TASK_URL
    token = signing.dumps(standing.pk, salt=_SALT)
    return base + reverse("hits:appeal", kwargs={"token": token}) if base else ""


def appeal_standing(token: str) -> models.WorkerStanding | None:
    """Return the standing that a link is about; None if the link is not ours."""
    try:
        number = signing.loads(token, salt=_SALT)
    except signing.BadSignature:
        return None
    return (
        models.WorkerStanding.objects.select_related("worker", "campaign__current_settings")
        .filter(pk=number)
        .exclude(worker__name__startswith="erased-")
        .first()
    )
