"""Estimates that the dashboard asked for, made in the background one after the other."""

import logging
import time

import msgspec

from annotation import models
from annotation.actions.campaign.estimates import (
    AbandonedError,
    estimate_fail,
    estimate_finish,
    estimate_progress,
    estimate_take,
)
from annotation.simulation.estimates import EstimateError, estimate_make

log = logging.getLogger(__name__)

# Enough for a first idea within seconds; the command takes any number.
SAMPLE_IMAGES = 20
SAMPLE_RUNS = 3
# How often the progress is recorded for the page.
TELL_SECONDS = 1.0


def estimates_make() -> None:
    """Make the estimates that wait."""
    while (stored := estimate_take()) is not None:
        try:
            estimate_one(stored)
        except AbandonedError as error:
            log.warning("%s", error)


def estimate_one(stored: models.StoredEstimate) -> None:
    """Make an estimate that was taken up; record any failure in its row."""
    campaigns = models.Campaign.objects.select_related("current_settings")
    campaign = campaigns.get(pk=stored.campaign_id)
    # The prices may have changed since; the estimate uses those of the request.
    campaign.current_settings = stored.settings
    progress = _Progress(stored)
    try:
        found = estimate_make(
            campaign=campaign, images=SAMPLE_IMAGES, runs=SAMPLE_RUNS, step=progress.step
        )
    except (EstimateError, ValueError) as error:
        estimate_fail(stored=stored, error=str(error))
    except AbandonedError:
        raise
    except Exception as error:
        log.exception("%s has failed", stored)
        estimate_fail(stored=stored, error=f"an unexpected error occurred: {error!r}")
    else:
        estimate_finish(stored=stored, body=msgspec.json.encode(found).decode())


class _Progress:
    """Records how many images are simulated, now and then."""

    def __init__(self, stored: models.StoredEstimate) -> None:
        images = models.Image.objects.filter(campaign=stored.campaign_id, withdrawn_at=None).count()
        self.stored = stored
        self.total = min(images, SAMPLE_IMAGES) * SAMPLE_RUNS
        self.done = 0
        self.told_at = 0.0

    def step(self) -> None:
        self.done += 1
        if time.monotonic() - self.told_at >= TELL_SECONDS:
            self.told_at = time.monotonic()
            total = max(self.total, self.done)
            estimate_progress(stored=self.stored, done=self.done, total=total)
