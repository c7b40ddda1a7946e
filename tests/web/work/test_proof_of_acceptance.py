"""Proof of acceptance: which claims are good, for how long, and what replaying one gets."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from annotation import models
from annotation.actions.crowd.notifications import PlatformEvent, events_take
from annotation.actions.crowd.workers import worker_ensure
from annotation.actions.work.sittings import SittingRefusedError, sitting_open
from annotation.hits.checks import proof_check
from annotation.models import SittingStatus
from annotation.pipeline.protocol.questions import Stage
from common.clock import database_now
from tests.acceptances import KEY_ID, SECRET, accepted, key_set, with_acceptance
from tests.concurrency.crowds import workers_trusted
from tests.offers import offered
from tests.web.work.task_pages import claim_of
from tests.web.work.visitors import (
    MARKET,
    Visitor,
    campaign_with_test,
    held,
    hit_of_test,
    work_hits,
)

pytestmark = pytest.mark.django_db

BOTH = pytest.mark.parametrize("proof", ["required", "none"])


@pytest.fixture(autouse=True)
def _marketplace(settings: Settings) -> None:
    settings.CHAINBOX_MARKETPLACE_ORIGINS = [MARKET]
    key_set(settings)


@pytest.fixture
def campaign(tmp_path: Path) -> models.Campaign:
    return campaign_with_test(tmp_path)


# The proof itself


def signed(**changes: Any) -> Callable[[dict[str, str]], dict[str, str]]:
    return lambda query: with_acceptance(query, **changes)


def moved(name: str, value: str) -> Callable[[dict[str, str]], dict[str, str]]:
    """Sign one address, and use the signature with another."""
    return lambda query: (
        query | {"acceptance": with_acceptance(query | {name: value})["acceptance"]}
    )


@pytest.mark.parametrize(
    ("sign", "words"),
    [
        (None, "does not show that you have accepted"),
        (lambda query: query | {"acceptance": ""}, "does not show that you have accepted"),
        (lambda query: query | {"acceptance": "yes"}, "did not make the address"),
        (lambda query: query | {"acceptance": "1." * 5000}, "did not make the address"),
        (lambda query: query | {"acceptance": "1.1.9\x01"}, "did not make the address"),
        (signed(keys={KEY_ID: "another secret"}), "did not make the address"),
        (signed(keys={"AKANOTHER": SECRET}), "did not make the address"),
        (moved("workerId", "A2"), "did not make the address"),
        (moved("assignmentId", "OTHER"), "did not make the address"),
        (moved("hitId", "OTHER"), "did not make the address"),
        (signed(since=timedelta(hours=3), left=-timedelta(minutes=21)), "has run out"),
    ],
)
def test_a_page_without_a_good_claim_is_refused_in_words(
    campaign: models.Campaign,
    sign: Callable[[dict[str, str]], dict[str, str]] | None,
    words: str,
) -> None:
    worker_ensure(name="A1")
    visitor = Visitor(campaign, hit_of_test(campaign), test=True)
    assert visitor.load("A1", "REAL", sign) == 400
    assert (visitor.page["mode"], visitor.page["token"]) == ("problem", "")
    assert words in visitor.page["problem"]["text"]
    assert "return the HIT" in visitor.page["problem"]["text"]


@pytest.mark.parametrize(
    "sign",
    [
        signed(),
        # Two keys are valid while a requester changes from one to the other.
        signed(keys={"AKANOTHER": "of the other key", KEY_ID: SECRET}),
        # The marketplace's clock may be ten minutes from ours.
        signed(since=timedelta(hours=2), left=-timedelta(minutes=19)),
        signed(since=-timedelta(minutes=19)),
    ],
)
def test_a_good_claim_opens_the_page(
    campaign: models.Campaign, sign: Callable[[dict[str, str]], dict[str, str]]
) -> None:
    assert Visitor(campaign, hit_of_test(campaign), test=True).sit("A1", "REAL", sign).status == 200


def test_without_our_key_nobody_is_believed(campaign: models.Campaign, settings: Settings) -> None:
    settings.CHAINBOX_CROWD_SECRET = settings.CHAINBOX_CROWD_KEY_ID = ""
    sign = signed(keys={"": ""})
    assert Visitor(campaign, hit_of_test(campaign), test=True).load("A1", "REAL", sign) == 400


def test_a_ticket_from_before_proof_was_asked_for(
    campaign: models.Campaign, settings: Settings
) -> None:
    hit = hit_of_test(campaign)
    settings.CHAINBOX_CROWD_PROOF = "none"
    visitor = Visitor(campaign, hit, test=True)
    visitor.load("A1", "FAKE")
    settings.CHAINBOX_CROWD_PROOF = "required"
    for name, body in (("consent", {"version": 1}), ("open", {})):
        reply = visitor.call(name, body)
        assert reply.status == 400
        assert "does not show that you have accepted" in reply.body["message"]
    assert not models.Worker.objects.exists()


def test_an_acceptance_runs_out_while_the_page_is_open(campaign: models.Campaign) -> None:
    workers_trusted(campaign, ["A1"])
    offered(campaign, Stage.LINKS, "WORK", places=1)
    over = accepted(since=timedelta(hours=3), left=-timedelta(minutes=21))
    with pytest.raises(SittingRefusedError, match="has run out"):
        sitting_open(claim=claim_of(campaign, hit_id="WORK", acceptance=over))


@pytest.mark.parametrize(
    ("endpoint", "proof", "warned"),
    [
        ("https://mturk-requester.us-east-1.amazonaws.com", "required", ["hits.W002"]),
        ("https://mturk-requester.us-east-1.amazonaws.com", "none", []),
        ("https://chainbox.example.org/marketplace/api", "required", []),
        ("https://chainbox.example.org/marketplace/api", "none", ["hits.W003"]),
    ],
)
def test_an_operator_is_warned_of_the_wrong_setting(
    settings: Settings, endpoint: str, proof: str, warned: list[str]
) -> None:
    settings.MARKETPLACE_URL = "https://chainbox.example.org/marketplace/api"
    settings.CHAINBOX_CROWD_ENDPOINT, settings.CHAINBOX_CROWD_PROOF = endpoint, proof
    assert [message.id for message in proof_check()] == warned


# Replaying an address


def give_back(hit_id: str, assignment: str, type_: str = "AssignmentReturned") -> None:
    at = database_now().replace(microsecond=0)
    events_take(events=[PlatformEvent(type=type_, hit_id=hit_id, assignment_id=assignment, at=at)])


@pytest.mark.parametrize("event", ["AssignmentReturned", "AssignmentAbandoned"])
@BOTH
def test_an_old_address_holds_nothing_after_the_hit_was_given_back(
    campaign: models.Campaign, settings: Settings, proof: str, event: str
) -> None:
    settings.CHAINBOX_CROWD_PROOF = proof
    workers_trusted(campaign, ["A1", "A2"])
    (hit,) = work_hits(campaign, 1)
    long_ago = signed(since=timedelta(minutes=5))
    assert Visitor(campaign, hit).sit("A1", "PLACE", long_ago).status == 200
    models.Sitting.objects.update(opened_at=database_now() - timedelta(minutes=4))
    give_back(hit, "PLACE", event)
    assert (held(), models.Sitting.objects.get().status) == (0, SittingStatus.LAPSED)

    reply = Visitor(campaign, hit).sit("A1", "PLACE", long_ago)
    assert reply.status == 404
    assert "was returned" in reply.body["message"]
    assert held() == 0
    # Whoever accepts it next is served, were it the same worker with the same id.
    later = signed(since=-timedelta(seconds=2))
    accepted_event = PlatformEvent(
        type="AssignmentAccepted",
        hit_id=hit,
        assignment_id="PLACE",
        at=database_now() + timedelta(seconds=2),
    )
    events_take(events=[accepted_event])
    assert Visitor(campaign, hit).sit("A1", "PLACE", later).status == 200
    assert held() > 0


def test_an_address_that_was_never_opened_is_dead_too_once_given_back(
    campaign: models.Campaign,
) -> None:
    workers_trusted(campaign, ["A1"])
    (hit,) = work_hits(campaign, 1)
    give_back(hit, "PLACE")
    long_ago = signed(since=timedelta(minutes=5))
    assert Visitor(campaign, hit).sit("A1", "PLACE", long_ago).status == 404
