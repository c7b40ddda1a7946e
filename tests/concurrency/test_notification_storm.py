"""Ten thousand notifications, doubled and in any order, while workers hand in and we confirm.

The marketplace is the real one, in this process: what it tells when asked is what counts.
"""

import json
import random
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event, Thread
from xml.sax.saxutils import escape

import msgspec
import pytest
from django.db import connection
from django.db.models import Sum
from django.test import Client
from pytest_django import Settings

from annotation import models
from annotation.actions.campaign.campaigns import campaign_settings_change
from annotation.actions.gold.gold_questions import gold_store
from annotation.actions.work.sittings import sitting_open
from annotation.crowd.client import MTurk
from annotation.crowd.polling import hits_look
from annotation.crowd.sender import calls_send
from annotation.hits.endpoints import finish, open_
from annotation.models import CallStatus, Operation, SittingStatus
from annotation.pipeline.protocol.facts import Judgment, decode_body
from annotation.pipeline.protocol.questions import NO, YES, Stage
from annotation.pipeline.protocol.settings import CrowdSettings
from annotation.selectors.work.sittings import Claim
from common.clock import database_now
from marketplace import models as market
from marketplace.actions.assignments import (
    assignment_accept,
    assignment_return,
    assignment_submit,
)
from marketplace.actions.notices.delivery import signature
from tests.acceptances import accepted
from tests.concurrency.crowds import (
    check_states,
    done_by,
    post,
    workers_trusted,
)
from tests.crowd.in_process import InProcess, in_process_client
from tests.crowd.published import FEE_PERCENT, hit_queue, money_agrees
from tests.crowd.work import link_gold
from tests.marketplace.people import make_requester
from tests.web.campaigns import small_campaign

pytestmark = [
    pytest.mark.long,
    *(pytest.mark.postgres, pytest.mark.slow, pytest.mark.django_db(transaction=True)),
    pytest.mark.usefixtures("_no_deadlock"),
]

HITS = 100
NOTIFICATIONS = 10_000
IMAGES = 600
# Of the HITs: handed in by who came first; given back and handed in by who came next; given back,
# and nobody has come since; given back, and who came next is still at it.
AT_ONCE, BY_THE_NEXT, GIVEN_BACK = 50, 80, 90
MOST_IN_A_DOCUMENT = 60
THREADS = 6
SEED = 20260417
SECRET = "a secret of forty characters, more or less"
ANSWERS = (
    '<QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/'
    'AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd">{}</QuestionFormAnswers>'
)
FIELD = "<Answer><QuestionIdentifier>{}</QuestionIdentifier><FreeText>{}</FreeText></Answer>"


class Told(msgspec.Struct, frozen=True):
    """An event, as the marketplace puts it."""

    EventType: str
    EventTimestamp: str
    HITTypeId: str
    HITId: str
    AssignmentId: str


class Place:
    """A HIT, whoever had it, and what the marketplace tells of that."""

    def __init__(self, number: int, hit: models.Hit, workers: Sequence[market.Worker]) -> None:
        self.number = number
        self.hit = hit
        self.first, self.next = workers
        self.events: list[Told] = []

    @property
    def is_returned(self) -> bool:
        return self.number >= AT_ONCE

    @property
    def is_handed_in(self) -> bool:
        return self.number < BY_THE_NEXT

    @property
    def holder(self) -> market.Worker | None:
        """Who has it in the end."""
        if not self.is_returned:
            return self.first
        return None if BY_THE_NEXT <= self.number < GIVEN_BACK else self.next

    def begin(self, now: datetime) -> None:
        """Let workers accept, open and give back, some of that two minutes ago."""
        theirs = market.HIT.objects.get(hit_id=self.hit.hit_id)
        self.place = assignment_accept(hit_id=theirs.pk, worker=self.first)
        opened = sitting_open(claim=self.claim(self.first)).sitting
        assert opened is not None
        self._tell("AssignmentAccepted", now - timedelta(seconds=121))
        if not self.is_returned:
            return
        models.Sitting.objects.filter(pk=opened.pk).update(
            opened_at=now - timedelta(seconds=120), accepted_at=now - timedelta(seconds=121)
        )
        before = self.place.assignment_id
        assignment_return(assignment=self.place)
        self._tell("AssignmentReturned", now - timedelta(seconds=60))
        if self.holder is not None:
            self.place = assignment_accept(hit_id=theirs.pk, worker=self.next)
            assert self.place.assignment_id == before, "ids name places, not workers"
            assert sitting_open(claim=self.claim(self.next)).sitting is not None
            self._tell("AssignmentAccepted", now - timedelta(seconds=50))

    def claim(self, worker: market.Worker) -> Claim:
        return Claim(
            campaign=self.hit.campaign_id,
            stage=Stage.LINKS,
            kind=models.SittingKind.WORK,
            assignment_id=self.place.assignment_id,
            hit_id=self.hit.hit_id or "",
            worker=worker.worker_id,
            acceptance=accepted(),
        )

    def _tell(self, type_: str, at: datetime) -> None:
        self.events.append(
            Told(
                EventType=type_,
                EventTimestamp=at.strftime("%Y-%m-%dT%H:%M:%SZ"),
                HITTypeId=self.hit.terms.hit_type_id,
                HITId=self.hit.hit_id or "",
                AssignmentId=self.place.assignment_id,
            )
        )

    def rumours(self, now: datetime, chance: random.Random, count: int) -> list[Told]:
        """Return so many events: each that has happened, some that have not, many doubled."""
        for type_ in ("AssignmentSubmitted", "AssignmentApproved", "AssignmentRejected"):
            self._tell(type_, now)
        for type_ in ("HITReviewable", "HITExpired", "HITExtended", "HITDisposed"):
            self._tell(type_, now)
        return self.events + chance.choices(self.events, k=count - len(self.events))

    def hand_in(self) -> None:
        """Finish at our page, then submit at the marketplace, which tells us that it was."""
        assert self.holder is not None
        claim = self.claim(self.holder)
        opened = msgspec.json.decode(post(open_, claim, {}).content)
        answers = [{"number": item["number"], "answer": YES} for item in opened["items"]]
        reply = post(finish, claim, {"sitting": opened["id"], "answers": answers})
        assert reply.status_code == 200, reply.content
        fields = msgspec.json.decode(reply.content)["fields"]
        form = "".join(FIELD.format(name, escape(text)) for name, text in fields.items())
        assignment_submit(assignment=self.place, answer=ANSWERS.format(form))
        self._tell("AssignmentSubmitted", database_now())
        notify(self.events[-1:])


def notify(events: Sequence[Told]) -> None:
    """Send events in one document to our webhook, signed."""
    body = json.dumps(
        {
            "EventDocVersion": "2014-08-15",
            "EventDocId": "d0c",
            "CustomerId": "AREQUESTER",
            "Events": msgspec.to_builtins(list(events)),
        }
    ).encode()
    reply = Client().post(
        "/crowd/notifications",
        data=body,
        content_type="application/json",
        headers={"X-Chainbox-Signature": signature(body, SECRET)},
    )
    assert reply.status_code == 200, reply.content


def documents(events: Sequence[Told], chance: random.Random) -> list[list[Told]]:
    """Put events into documents of one to many."""
    rest, found = list(events), []
    while rest:
        size = chance.randint(1, MOST_IN_A_DOCUMENT)
        found.append(rest[:size])
        rest = rest[size:]
    return found


def look(client: MTurk) -> int:
    return hits_look(client=client)


def send(client: MTurk) -> int:
    return calls_send(client=client, at_once=1)


class Office:
    """Our own side meanwhile: two that look at HITs, one that sends what is in the outbox."""

    def __init__(self, requester: market.Requester) -> None:
        self.over = Event()
        self.servers: list[InProcess] = []
        self.errors: list[BaseException] = []
        self._threads = [
            Thread(target=self._work, args=(work, self.client(requester)))
            for work in (look, look, send)
        ]

    def client(self, requester: market.Requester) -> MTurk:
        client, server = in_process_client(requester)
        self.servers.append(server)
        return client

    def _work(self, work: Callable[[MTurk], int], client: MTurk) -> None:
        try:
            while not self.over.wait(0.2):
                work(client)
            while work(client):
                pass
        except BaseException as error:
            self.errors.append(error)
        finally:
            connection.close()

    def open(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        self.over.set()
        for thread in self._threads:
            thread.join()

    def calls(self, operation: str) -> int:
        return sum(server.operations.count(operation) for server in self.servers)


def checked(folder: Path) -> models.Campaign:
    """Make a campaign in whose sittings half are gold questions, few, for all workers."""
    names = [f"image-{number}" for number in range(IMAGES)]
    campaign = small_campaign(folder, names)
    golds = [link_gold(name, answer) for name in names[:10] for answer in (YES, NO)]
    gold_store(campaign=campaign, golds=golds)
    campaign_settings_change(
        campaign=campaign,
        questions_per_hit={stage.value: 4 for stage in Stage},
        # Who loses trust here has nothing more to do: that is another test's.
        crowd=CrowdSettings(check_share=0.5, trust_limit=0.0, trust_drop_limit=0.0),
    )
    return models.Campaign.objects.select_related("current_settings").get(pk=campaign.pk)


def test_10000_notifications_in_any_order_lead_to_one_judgment_and_one_payment_each(
    tmp_path: Path, settings: Settings
) -> None:
    settings.MARKETPLACE_FEE_PERCENT = FEE_PERCENT
    settings.CHAINBOX_CROWD_WEBHOOK_SECRET = SECRET
    chance = random.Random(SEED)
    requester = make_requester(cents=10_000_000)
    office = Office(requester)
    campaign = checked(tmp_path)
    models.StageSupply.objects.create(campaign=campaign, stage=Stage.LINKS)
    workers = market.Worker.objects.bulk_create([market.Worker() for _ in range(2 * HITS)])
    workers_trusted(campaign, [worker.worker_id for worker in workers])
    hits = [hit_queue(campaign) for _ in range(HITS)]
    while send(office.client(requester)):
        pass
    now = database_now()
    places = []
    for number, hit in enumerate(hits):
        hit.refresh_from_db()
        places.append(Place(number, hit, workers[2 * number : 2 * number + 2]))
        places[-1].begin(now)
    each = NOTIFICATIONS // HITS
    events = [told for place in places for told in place.rumours(now, chance, each)]
    assert len(events) == NOTIFICATIONS
    chance.shuffle(events)
    jobs: list[Callable[[], None]] = [partial(notify, one) for one in documents(events, chance)]
    jobs += [place.hand_in for place in places if place.is_handed_in]
    chance.shuffle(jobs)

    office.open()
    try:
        done_by(THREADS, jobs)
    finally:
        office.close()
    assert office.errors == []

    _check_judgments(places)
    _check_money(places, office)
    money_agrees(requester)
    for place in places:
        place.hit.refresh_from_db()
        assert place.hit.is_free == (place.holder is None)
    at_work = models.Sitting.objects.filter(status=SittingStatus.OPEN)
    still_there = [place.next.worker_id for place in places[GIVEN_BACK:]]
    assert sorted(sitting.known_worker.name for sitting in at_work) == sorted(still_there)
    leases = models.SittingQuestion.objects.filter(released_at=None)
    assert {row.sitting_id for row in leases} == {sitting.pk for sitting in at_work}
    check_states()


def _check_judgments(places: Sequence[Place]) -> None:
    """See that each answer of who handed in is one judgment or one check, and nobody else's is."""
    wanted, checks = set(), 0
    for place in places:
        for sitting in models.Sitting.objects.filter(hit_id=place.hit.hit_id):
            is_theirs = (
                place.holder is not None and sitting.known_worker.name == place.holder.worker_id
            )
            if place.is_handed_in and is_theirs:
                assert sitting.confirmed_at is not None
                checks += sitting.questions.exclude(gold=None).count()
                for row in sitting.questions.filter(gold=None):
                    wanted.add((sitting.worker_id, row.image_id, row.key))
            else:
                assert sitting.confirmed_at is None
    facts = list(models.Fact.objects.all())
    assert len(facts) == len(wanted)
    assert {(fact.worker_id, fact.image_id, fact.question) for fact in facts} == wanted
    for fact in facts:
        body = decode_body(fact.body)
        assert isinstance(body, Judgment)
        assert (body.answer, body.worker) == (YES, fact.worker_id)
    assert checks > 0
    assert models.TrustEvent.objects.filter(key__startswith="check/").count() == checks
    assert models.GoldQuestion.objects.aggregate(sum=Sum("uses"))["sum"] == checks


def _check_money(places: Sequence[Place], office: Office) -> None:
    """See that who handed in was paid once, and with one call."""
    handed_in = {
        place.hit.pk: place.holder.worker_id
        for place in places
        if place.is_handed_in and place.holder is not None
    }
    approvals = models.OutboxCall.objects.filter(operation=Operation.APPROVE)
    assert {call.status for call in approvals} == {CallStatus.DONE}
    assert approvals.count() == office.calls("ApproveAssignment") == len(handed_in)
    assert not models.OutboxCall.objects.filter(operation=Operation.REJECT).exists()
    payments = list(models.Payment.objects.select_related("assignment__worker"))
    assert len(payments) == len(handed_in)
    assert {one.assignment.hit_id: one.assignment.worker.name for one in payments} == handed_in
