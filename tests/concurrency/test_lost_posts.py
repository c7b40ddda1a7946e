"""Final posts that get lost on their way: one in five of those that hand a sitting in.

A page hands in twice, to us and then to the marketplace. Either post, or its reply, may be lost;
the page tries again a few times and then gives up. Whatever reached the marketplace is paid, once.
"""

import random
from functools import partial

import msgspec
import pytest
from django.test import Client
from pytest_django import Settings

from annotation import models
from annotation.crowd.client import MTurk
from annotation.crowd.polling import hits_look
from annotation.crowd.sender import calls_send
from annotation.hits.endpoints import finish, open_
from annotation.models import SittingKind
from annotation.pipeline.protocol.questions import YES, Stage
from annotation.selectors.work.sittings import Claim
from common.clock import database_now
from marketplace import models as market
from marketplace.actions.assignments import assignment_accept
from marketplace.rules.lifecycle import AssignmentStatus
from tests.acceptances import accepted
from tests.concurrency.crowds import (
    QUESTIONS,
    check_states,
    crowded_campaign,
    done_by,
    post,
    workers_trusted,
)
from tests.crowd.in_process import in_process_client
from tests.crowd.published import FEE_PERCENT, hit_queue, money_agrees
from tests.marketplace.people import make_requester
from tests.sizes import WHOLE

pytestmark = [
    pytest.mark.long,
    pytest.mark.whole,
    *(pytest.mark.postgres, pytest.mark.slow, pytest.mark.django_db(transaction=True)),
    pytest.mark.usefixtures("_no_deadlock"),
]

SITTINGS = 500 if WHOLE else 100
LOST = 0.2
TRIES = 2
THREADS = 6
SEED = 1505


class LostError(Exception):
    """The page has heard nothing, however often it tried."""


class Page:
    """A worker's page at one HIT, behind a network that loses posts or their replies."""

    def __init__(self, hit: models.Hit, worker: market.Worker, seed: int) -> None:
        self.hit = hit
        self.worker = worker
        self.chance = random.Random(seed)
        self.lost = 0
        self.saved = self.submitted = False

    def work(self) -> None:
        theirs = market.HIT.objects.get(hit_id=self.hit.hit_id)
        place = assignment_accept(hit_id=theirs.pk, worker=self.worker)
        claim = Claim(
            campaign=self.hit.campaign_id,
            stage=Stage.LINKS,
            kind=SittingKind.WORK,
            assignment_id=place.assignment_id,
            hit_id=self.hit.hit_id or "",
            worker=self.worker.worker_id,
            acceptance=accepted(),
        )
        opened = msgspec.json.decode(post(open_, claim, {}).content)
        answers = [{"number": item["number"], "answer": YES} for item in opened["items"]]
        try:
            fields = self._save(claim, {"sitting": opened["id"], "answers": answers})
            self._submit(place.assignment_id, fields)
        except LostError:
            pass  # the worker closes the tab

    def _save(self, claim: Claim, body: dict[str, object]) -> dict[str, str]:
        for _ in range(TRIES):
            if self._is_lost():
                continue
            reply = post(finish, claim, body)
            assert reply.status_code == 200, reply.content
            self.saved = True
            if not self._is_lost():
                found: dict[str, str] = msgspec.json.decode(reply.content)["fields"]
                return found
        raise LostError

    def _submit(self, assignment_id: str, fields: dict[str, str]) -> None:
        for _ in range(TRIES):
            if self._is_lost():
                continue
            reply = Client().post(
                "/marketplace/mturk/externalSubmit", {"assignmentId": assignment_id, **fields}
            )
            # A second one finds that the first has come in.
            assert reply.status_code == (409 if self.submitted else 200), reply.content
            self.submitted = True
            if not self._is_lost():
                return
        raise LostError

    def _is_lost(self) -> bool:
        """Tell whether a post is lost, or a reply: each time half of what is lost in all."""
        is_lost = self.chance.random() < LOST / 2
        self.lost += is_lost
        return is_lost


def settle(client: MTurk) -> None:
    """Look and send until there is nothing left to do, as if time had passed."""
    for _ in range(10):
        models.Hit.objects.update(look_at=database_now())
        looked = hits_look(client=client, most=10 * SITTINGS)
        if not calls_send(client=client, at_once=1) and looked:
            return
    raise AssertionError("the outbox does not empty")


def test_lost_posts_leave_nothing_confirmed_unpaid(settings: Settings) -> None:
    settings.MARKETPLACE_FEE_PERCENT = FEE_PERCENT
    requester = make_requester(cents=10_000_000)
    client, _ = in_process_client(requester)
    campaign = crowded_campaign(SITTINGS * QUESTIONS)
    models.StageSupply.objects.create(campaign=campaign, stage=Stage.LINKS)
    workers = market.Worker.objects.bulk_create([market.Worker() for _ in range(SITTINGS)])
    workers_trusted(campaign, [worker.worker_id for worker in workers])
    hits = [hit_queue(campaign) for _ in range(SITTINGS)]
    while calls_send(client=client, at_once=1):
        pass
    for hit in hits:
        hit.refresh_from_db()
    pages = [
        Page(hit, worker, SEED + number)
        for number, (hit, worker) in enumerate(zip(hits, workers, strict=True))
    ]

    done_by(THREADS, [partial(page.work) for page in pages])
    settle(client)

    submitted = {page.worker.worker_id for page in pages if page.submitted}
    lost = sum(page.lost for page in pages)
    print(f"{lost} posts lost, {len(submitted)} of {SITTINGS} submitted")
    assert lost > SITTINGS * LOST / 2
    assert 0 < len(submitted) < SITTINGS, "some get through, and some give up"
    assert any(page.saved and not page.submitted for page in pages)
    approved = market.Assignment.objects.filter(status=AssignmentStatus.APPROVED)
    assert {one.worker.worker_id for one in approved.select_related("worker")} == submitted
    assert not market.Assignment.objects.filter(status=AssignmentStatus.SUBMITTED).exists()
    payments = list(models.Payment.objects.select_related("assignment__worker"))
    assert len(payments) == len(submitted)
    assert {payment.assignment.worker.name for payment in payments} == submitted
    judged = models.Fact.objects.values_list("worker__name", flat=True)
    assert sorted(judged) == sorted(name for name in submitted for _ in range(QUESTIONS))
    money_agrees(requester)
    check_states()
