"""Steps of sittings that several tests share."""

from datetime import timedelta

import pytest

from annotation import models
from annotation.actions.work.sittings import (
    SittingRefusedError,
    Trouble,
)
from annotation.models import Sitting
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.sittings import Claim
from common.clock import database_now
from tests.web.campaigns import answer
from tests.web.work.task_pages import (
    claim_of,
)


def trouble(error: pytest.ExceptionInfo[SittingRefusedError]) -> Trouble:
    return error.value.trouble


def run_out(sitting: Sitting) -> None:
    """Let the sitting's time be over."""
    Sitting.objects.filter(pk=sitting.pk).update(until=database_now() - timedelta(seconds=1))


def drawing(campaign: models.Campaign, worker: str = "A1") -> Claim:
    """Bring every image to Box Drawing and return a claim on it."""
    for image in models.Image.objects.filter(campaign=campaign).select_related("stored_state"):
        answer(image, limit=2)
    return claim_of(campaign, Stage.DRAWING, worker)


def keys_of(sitting: Sitting) -> list[str]:
    return list(sitting.questions.values_list("key", flat=True))
