"""Several processes send and poll at once: no call is under way twice at the same time."""

from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier, Lock

import pytest
from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from django.db import connection
from django.utils import timezone

from annotation import models
from annotation.crowd.client import MTurk
from annotation.crowd.polling import hits_look
from annotation.crowd.sender import calls_send
from annotation.models import CallStatus
from marketplace.models import Requester
from tests.crowd.in_process import InProcess, in_process_client, params_of
from tests.crowd.published import each_hit_is_there_once, hit_queue, money_agrees, terms_of

SENDERS, CALLS = 4, 60

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]


def together(work: Callable[[MTurk], int], clients: list[MTurk]) -> list[int]:
    """Run each client's work at the same time; return the result of each."""
    start = Barrier(len(clients))

    def run(client: MTurk) -> int:
        try:
            start.wait()
            return work(client)
        finally:
            connection.close()

    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(run, clients))


class Watch:
    """Sees every request, and whether another one like it is on its way."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self._lock = Lock()

    def network(
        self, request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]
    ) -> AWSResponse:
        params = params_of(request)
        name = params.get("UniqueRequestToken") or params.get("HITId", "")
        with self._lock:
            self.seen[name] += 1
        return carry_out()


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def clients(funded: Requester, watch: Watch) -> list[MTurk]:
    """As many clients as there are senders, all watched."""

    def made() -> MTurk:
        client, server = in_process_client(funded)
        server.network = watch.network
        return client

    return [made() for _ in range(SENDERS)]


def test_no_call_is_sent_twice(
    zoo: models.Campaign, clients: list[MTurk], watch: Watch, funded: Requester
) -> None:
    terms = terms_of(zoo)
    for _ in range(CALLS):
        hit_queue(zoo, terms=terms)
    tried = together(lambda client: calls_send(client=client, at_once=1), clients)
    assert sum(tried) == CALLS
    tokens = models.OutboxCall.objects.values_list("token", flat=True)
    assert {watch.seen[token] for token in tokens} == {1}
    assert set(models.OutboxCall.objects.values_list("status", "attempts")) == {
        (CallStatus.DONE, 1)
    }
    each_hit_is_there_once()
    money_agrees(funded)


def test_no_hit_is_looked_at_twice(
    zoo: models.Campaign, clients: list[MTurk], watch: Watch
) -> None:
    for _ in range(CALLS):
        hit_queue(zoo)
    calls_send(client=clients[0], at_once=1)
    watch.seen.clear()
    models.Hit.objects.update(look_at=timezone.now() - timedelta(seconds=1))
    assert sum(together(lambda client: hits_look(client=client), clients)) == CALLS
    # Of a HIT that nobody has: one listing, and the HIT.
    hits = models.Hit.objects.values_list("hit_id", flat=True)
    assert {watch.seen[str(hit_id)] for hit_id in hits} == {2}


def test_a_sender_keeps_several_calls_on_their_way(zoo: models.Campaign, funded: Requester) -> None:
    """The threads of one sender do not use the database: threads here answer their calls."""
    client, server = in_process_client(funded)
    _answer_in_threads(server)
    for _ in range(10):
        hit_queue(zoo)
    assert calls_send(client=client, at_once=4) == 10
    each_hit_is_there_once()
    money_agrees(funded)


def _answer_in_threads(server: InProcess) -> None:
    """Let four requests begin before the first is answered, with connections of their own."""
    together_at = Barrier(4)
    waiting = [4]
    lock = Lock()

    def network(request: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
        if not params_of(request).get("UniqueRequestToken"):
            return carry_out()
        with lock:
            waiting[0] -= 1
            is_first = waiting[0] >= 0
        try:
            if is_first:
                together_at.wait(timeout=30)
            return carry_out()
        finally:
            connection.close()

    server.network = network
