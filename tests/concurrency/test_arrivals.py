"""Many requests at once, of somebody who makes up assignments: the caps hold all the same."""

from functools import partial
from pathlib import Path

import pytest
from django.test import override_settings
from msgspec.structs import replace

from annotation import models
from annotation.actions.work.guides import guide_save
from annotation.actions.work.sittings import SittingRefusedError, consent_give, sitting_open
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import Stage
from annotation.selectors.work.guides import consent_guide
from annotation.selectors.work.sittings import Claim
from tests.acceptances import accepted
from tests.concurrency.crowds import done_by, live_leases, workers_trusted
from tests.offers import offered
from tests.web.campaigns import small_campaign
from tests.web.work.task_pages import LINKS_TEST

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

AT_ONCE = 12


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    made = small_campaign(tmp_path, ["first", "second", *(f"more{n}" for n in range(10))])
    guide_save(campaign=made, topic="links", source=LINKS_TEST)
    return made


def claim(campaign: models.Campaign, hit: str, number: int, kind: SittingKind) -> Claim:
    return Claim(
        campaign=campaign.pk,
        stage=Stage.LINKS,
        kind=kind,
        assignment_id=f"FAKE{number}",
        hit_id=hit,
        worker="A1",
    )


def is_opened(claim: Claim) -> bool:
    try:
        return sitting_open(claim=claim).sitting is not None
    except SittingRefusedError:
        return False


def agreed(claim: Claim) -> Claim:
    campaign = models.Campaign.objects.get(pk=claim.campaign)
    row = consent_guide(campaign).row
    return consent_give(claim=claim, version=row.version if row else 1)


def test_a_place_is_held_once_without_proof(campaign: models.Campaign) -> None:
    workers_trusted(campaign, ["A1"])
    offered(campaign, Stage.LINKS, "WORK", places=1)
    claims = [claim(campaign, "WORK", number, SittingKind.WORK) for number in range(AT_ONCE)]
    with override_settings(CHAINBOX_CROWD_PROOF="none"):
        opened = done_by(AT_ONCE, [partial(is_opened, one) for one in claims])
    assert sum(opened) == models.Sitting.objects.count() == 1
    assert live_leases() <= 10


@pytest.mark.parametrize("proof", ["required", "none"])
def test_tries_at_once_are_counted_like_one_after_the_other(
    campaign: models.Campaign, proof: str
) -> None:
    for number in range(AT_ONCE):
        offered(campaign, Stage.LINKS, f"TEST{number}", SittingKind.TEST, 100)
    claims = [
        claim(campaign, f"TEST{number}", number, SittingKind.TEST) for number in range(AT_ONCE)
    ]
    if proof == "required":
        claims = [replace(one, acceptance=accepted()) for one in claims]
    with override_settings(CHAINBOX_CROWD_PROOF=proof):
        claims = [agreed(one) for one in claims]
        opened = done_by(AT_ONCE, [partial(is_opened, one) for one in claims])
    assert sum(opened) == models.Sitting.objects.count() == 2


def test_one_test_opened_twice_at_once_is_one_try(campaign: models.Campaign) -> None:
    """Also when it is the last: a page that is loaded twice is not turned away."""
    offered(campaign, Stage.LINKS, "TEST", SittingKind.TEST, 100)
    first = replace(claim(campaign, "TEST", 1, SittingKind.TEST), acceptance=accepted())
    assert is_opened(agreed(first))
    last = replace(claim(campaign, "TEST", 2, SittingKind.TEST), acceptance=accepted())
    opened = done_by(AT_ONCE, [partial(is_opened, last)] * AT_ONCE)
    assert opened == [True] * AT_ONCE
    assert models.Sitting.objects.count() == 2
