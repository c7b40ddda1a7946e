"""Requesters with boto3 clients, and the check that tests make the calls that they declare."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pytest_django.live_server_helper import LiveServer

from marketplace.models import Requester, Worker
from tests.marketplace.calls import Call, client_of, hang_up
from tests.marketplace.people import make_requester, make_worker


@pytest.fixture
def calls(request: pytest.FixtureRequest) -> Iterator[list[Call]]:
    """The calls of this test's clients; at the end, they must include all that it declares."""
    record: list[Call] = []
    yield record
    for mark in request.node.iter_markers("operation"):
        name, *codes = mark.args
        for code in codes or [None]:
            assert (name, code) in record, f"{request.node.name} never saw {name}: {code}"


@pytest.fixture
def requester(transactional_db: None) -> Requester:
    return make_requester()


@pytest.fixture
def worker(transactional_db: None) -> Worker:
    return make_worker()


@pytest.fixture
def client_for(live_server: LiveServer, calls: list[Call]) -> Iterator[Callable[[Requester], Any]]:
    """Make clients for requesters. Their connections end with the test, as the database's do."""
    made: list[Any] = []

    def make(requester: Requester) -> Any:
        made.append(client_of(requester, live_server.url, calls))
        return made[-1]

    yield make
    for client in made:
        hang_up(client)
    for thread in threading.enumerate():
        if "process_request_thread" in thread.name:
            thread.join(timeout=2)


@pytest.fixture
def mturk(client_for: Callable[[Requester], Any], requester: Requester) -> Any:
    """The requester's client."""
    return client_for(requester)


@pytest.fixture
def stranger(client_for: Callable[[Requester], Any]) -> Any:
    """The client of another requester."""
    return client_for(make_requester())
