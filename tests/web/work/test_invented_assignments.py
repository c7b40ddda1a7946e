"""Made-up assignments reserve nothing, reveal nothing and leave nothing behind.

The tests use HTTP, as an attacker would. Where the marketplace gives proof of acceptance, as ours
does, such assignments do not even get a ticket; where it gives none, they get at most as many
places as its HITs have.
"""

import json
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.work.guides import guide_save
from annotation.pipeline.protocol.questions import Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from common.clock import database_now
from tests.acceptances import key_set, with_acceptance
from tests.concurrency.crowds import workers_trusted
from tests.web.work.visitors import (
    MARKET,
    Reply,
    Visitor,
    campaign_with_test,
    confirm,
    held,
    hit_of_test,
    where,
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


# Holding questions


def test_a_trusted_worker_s_name_holds_nothing(campaign: models.Campaign) -> None:
    """Workers' ids are not secret. Four sittings in such a name held all open questions."""
    workers_trusted(campaign, ["A1TRUSTED"])
    (hit,) = work_hits(campaign, 1)
    for number in range(4):
        reply = Visitor(campaign, hit).sit("A1TRUSTED", f"FAKE{number}")
        assert reply.status == 400
        assert "does not show that you have accepted the HIT" in reply.body["text"]
    assert (held(), models.Sitting.objects.count()) == (0, 0)


def test_without_proof_a_hit_s_places_are_all_that_can_be_held(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    workers_trusted(campaign, ["A1TRUSTED", "A2TRUSTED"])
    (hit,) = work_hits(campaign, 1)
    first = Visitor(campaign, hit).sit("A1TRUSTED", "FAKE0")
    assert first.status == 200
    asked = len(first.body["items"])
    assert held() == asked
    # For minutes, not for an hour.
    assert first.body["secondsLeft"] <= 600
    for number in range(1, 4):
        for name in ("A1TRUSTED", "A2TRUSTED"):
            reply = Visitor(campaign, hit).sit(name, f"FAKE{number}")
            assert reply.status == 404
            assert "Somebody else is working on this HIT" in reply.body["message"]
    assert held() == asked
    # The next worker gets the place as soon as those minutes are over.
    models.Sitting.objects.update(until=database_now() - timedelta(seconds=1))
    assert Visitor(campaign, hit).sit("A2TRUSTED", "REAL").status == 200


def test_without_proof_one_sitting_per_worker_and_hit(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    hit = hit_of_test(campaign)
    assert Visitor(campaign, hit, test=True).sit("A1", "FAKE0").status == 200
    assert Visitor(campaign, hit, test=True).sit("A1", "FAKE1").status == 404
    assert Visitor(campaign, hit, test=True).sit("A2", "FAKE2").status == 200


def test_without_proof_an_answer_keeps_the_questions_no_longer_than_a_sitting(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    workers_trusted(campaign, ["A1TRUSTED"])
    (hit,) = work_hits(campaign, 1)
    visitor = Visitor(campaign, hit)
    visitor.sit("A1TRUSTED", "A")
    sitting = models.Sitting.objects.get()
    draft = {"number": 1, "answer": {"answer": "yes"}}

    models.Sitting.objects.update(until=database_now() + timedelta(seconds=5))
    assert 590 <= visitor.call("draft", draft).body["secondsLeft"] <= 600
    models.Sitting.objects.update(opened_at=database_now() - timedelta(minutes=58))
    assert 110 <= visitor.call("draft", draft).body["secondsLeft"] <= 120
    # Handing in keeps them for minutes too: only the platform's word makes it real.
    answers = [
        {"number": number, "answer": "yes"}
        for number in sitting.questions.values_list("number", flat=True)
    ]
    assert visitor.call("finish", {"answers": answers}).status == 200
    sitting.refresh_from_db()
    assert sitting.until <= database_now() + timedelta(minutes=10)


def test_with_proof_a_sitting_lasts_as_long_as_ever(campaign: models.Campaign) -> None:
    workers_trusted(campaign, ["A1TRUSTED"])
    (hit,) = work_hits(campaign, 1)
    reply = Visitor(campaign, hit).sit("A1TRUSTED", "REAL", with_acceptance)
    assert reply.status == 200
    assert 3590 <= reply.body["secondsLeft"] <= 3600
    assert models.Sitting.objects.get().is_proven


# Learning a test's answers


def attack(campaign: models.Campaign, hit: str, tries: int) -> list[Reply]:
    """Try a test under one name again and again, each time with the knowledge from before."""
    known: dict[str, str] = {}
    ends = []
    for number in range(tries):
        visitor = Visitor(campaign, hit, test=True)
        opened = visitor.sit("A1EVIL", f"FAKE{number}")
        if opened.status != 200:
            ends.append(opened)
            continue
        items = opened.body["items"]
        for item, reply in zip(items, visitor.answer(items, known), strict=True):
            if reply.body["feedback"]:
                known[where(item)] = reply.body["feedback"]["expected"]
        answers = [
            {"number": item["number"], "answer": known.get(where(item), "yes")} for item in items
        ]
        ends.append(visitor.call("finish", {"answers": answers}))
        # Another moment, another HIT: what is open does not keep the next try out.
        models.Sitting.objects.update(until=database_now() - timedelta(seconds=1))
    assert not known, "nobody has been told what was right"
    return ends


@BOTH
def test_invented_tries_of_a_test_learn_nothing_and_are_counted(
    campaign: models.Campaign, settings: Settings, proof: str
) -> None:
    """Six of six were admitted, and the second had every answer right."""
    settings.CHAINBOX_CROWD_PROOF = proof
    ends = attack(campaign, hit_of_test(campaign), 6)
    admitted = [reply for reply in ends if reply.status == 200]
    assert len(admitted) == (0 if proof == "required" else 2)
    assert all(reply.body["score"] is None for reply in admitted)
    assert not any(sitting.right == sitting.asked for sitting in models.Sitting.objects.all()), (
        "no try was better than guessing"
    )


def test_a_try_counts_when_it_is_opened(campaign: models.Campaign) -> None:
    """Also with proof: workers who return a test have seen answers."""
    hit = hit_of_test(campaign)
    for number in range(2):
        reply = Visitor(campaign, hit, test=True).sit("A1", f"REAL{number}", with_acceptance)
        assert reply.status == 200
    reply = Visitor(campaign, hit, test=True).sit("A1", "REAL2", with_acceptance)
    assert reply.status == 403
    assert "as often as is allowed" in reply.body["message"]
    # The same assignment again is no other try.
    assert Visitor(campaign, hit, test=True).sit("A1", "REAL1", with_acceptance).status == 200


def test_an_invented_try_keeps_nobody_from_the_test_for_good(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    hit = hit_of_test(campaign)
    for number in range(2):
        Visitor(campaign, hit, test=True).sit("A1", f"FAKE{number}")
        models.Sitting.objects.update(until=database_now() - timedelta(seconds=1))
    assert Visitor(campaign, hit, test=True).sit("A1", "REAL").status == 403
    models.Sitting.objects.update(opened_at=database_now() - timedelta(hours=25))
    assert Visitor(campaign, hit, test=True).sit("A1", "REAL").status == 200


def test_without_proof_feedback_comes_with_the_confirmation(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    hit = hit_of_test(campaign)
    visitor = Visitor(campaign, hit, test=True)
    opened = visitor.sit("A1", "REAL")
    assert opened.body["withheld"]
    items = opened.body["items"]
    assert all(reply.body["feedback"] is None for reply in visitor.answer(items, {}))
    assert all(item["feedback"] is None for item in visitor.call("open").body["items"])
    answers = [{"number": item["number"], "answer": "yes"} for item in items]
    finished = visitor.call("finish", {"answers": answers})
    assert (finished.status, finished.body["score"]) == (200, None)
    assert visitor.call("open").body["score"] is None

    confirm(hit, "A1", "REAL", finished.body["fields"])
    again = visitor.call("open").body
    assert again["score"] == {"right": 1, "asked": 2, "needed": 0.8, "passed": False}
    assert [item["feedback"]["right"] for item in again["items"]] == [True, False]


def test_with_proof_feedback_comes_at_once(campaign: models.Campaign) -> None:
    visitor = Visitor(campaign, hit_of_test(campaign), test=True)
    opened = visitor.sit("A1", "REAL", with_acceptance)
    assert not opened.body["withheld"]
    replies = visitor.answer(opened.body["items"], {})
    assert [reply.body["feedback"]["right"] for reply in replies] == [True, False]


# Leaving names behind


@BOTH
def test_invented_names_are_not_written_down(
    campaign: models.Campaign, settings: Settings, proof: str
) -> None:
    settings.CHAINBOX_CROWD_PROOF = proof
    workers, consents = models.Worker.objects.count(), models.Consent.objects.count()
    for hit, test in ((hit_of_test(campaign), True), (work_hits(campaign, 1)[0], False)):
        for number in range(3):
            Visitor(campaign, hit, test=test).sit(f"A{number}INVENTED", f"FAKE{number}")
    assert (models.Worker.objects.count(), models.Consent.objects.count()) == (workers, consents)
    assert not models.WorkerStanding.objects.exists()
    assert not models.TrustEvent.objects.exists()
    assert "INVENTED" not in json.dumps(list(models.Sitting.objects.values()), default=str)


def test_without_proof_consent_is_noted_when_the_platform_confirms(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    hit = hit_of_test(campaign)
    visitor = Visitor(campaign, hit, test=True)
    opened = visitor.sit("A1", "REAL")
    answers = [{"number": item["number"], "answer": "yes"} for item in opened.body["items"]]
    # A page that was loaded again need not ask again.
    assert visitor.load("A1", "REAL") == 200
    assert visitor.page["consent"] is None
    finished = visitor.call("finish", {"answers": answers})
    confirm(hit, "A1", "REAL", finished.body["fields"])

    consent = models.Consent.objects.get()
    assert (consent.worker.name, consent.guide.topic) == ("A1", "consent")
    sitting = models.Sitting.objects.get()
    assert (sitting.known_worker.name, sitting.is_proven) == ("A1", True)
    assert (sitting.mark, sitting.agreed) == ("", None)
    assert models.WorkerStanding.objects.get().trust == "testing"
    assert models.Assignment.objects.get().worker.name == "A1"
    # And is theirs from then on, whichever HIT they come with.
    assert visitor.load("A1", "OTHER") == 200
    assert visitor.page["consent"] is None


def test_without_proof_nobody_opens_a_sitting_without_agreeing(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    visitor = Visitor(campaign, hit_of_test(campaign), test=True)
    visitor.load("A1", "REAL")
    assert visitor.call("open").status == 403
    visitor.agree()
    guide_save(campaign=campaign, topic="consent", source='title = "New"\nparagraphs = ["New."]\n')
    assert visitor.call("open").body["error"] == "consent", "what they agreed to is another text"


def test_a_ticket_of_one_worker_says_nothing_about_another_s_consent(
    campaign: models.Campaign, settings: Settings
) -> None:
    settings.CHAINBOX_CROWD_PROOF = "none"
    hit = hit_of_test(campaign)
    Visitor(campaign, hit, test=True).sit("A1", "REAL")
    other = Visitor(campaign, hit, test=True)
    other.load("A2", "REAL")
    assert other.page["consent"] is not None
    assert other.call("open").status == 403


# Cost


@BOTH
def test_statements_do_not_grow_with_what_others_have_opened(
    campaign: models.Campaign, settings: Settings, proof: str
) -> None:
    settings.CHAINBOX_CROWD_PROOF = proof

    campaign_settings_change(
        campaign=campaign,
        questions_per_hit={stage.value: 2 for stage in Stage},
        crowd=CrowdSettings(check_share=0.0),
    )
    trusted = [f"A{number}TRUSTED" for number in range(4)]
    workers_trusted(campaign, trusted)
    hits = work_hits(campaign, len(trusted))

    def statements(visitor: Visitor, name: str) -> int:
        visitor.load(name, f"of-{name}", with_acceptance)
        visitor.agree()
        with CaptureQueriesContext(connection) as queries:
            assert visitor.call("open").status == 200
        return len(queries)

    tests = [
        statements(Visitor(campaign, hit_of_test(campaign), test=True), f"A{number}NEW")
        for number in range(4)
    ]
    work = [
        statements(Visitor(campaign, hit), name) for hit, name in zip(hits, trusted, strict=True)
    ]
    assert len(set(tests)) == len(set(work)) == 1
