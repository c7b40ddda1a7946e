"""Requesters with boto3 clients, and the check that tests called what they say they call."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from marketplace.models import Requester, Worker
from tests.marketplace.calls import Call, client_of
from tests.marketplace.people import make_requester, make_worker


@pytest.fixture
def calls(request: pytest.FixtureRequest) -> Iterator[list[Call]]:
    """What the clients of this test have called; in the end, all it claims must be there."""
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
def client_for(live_server: Any, calls: list[Call]) -> Callable[[Requester], Any]:
    return lambda requester: client_of(requester, live_server.url, calls)


@pytest.fixture
def mturk(client_for: Callable[[Requester], Any], requester: Requester) -> Any:
    """The requester's client."""
    return client_for(requester)


@pytest.fixture
def stranger(client_for: Callable[[Requester], Any]) -> Any:
    """The client of another requester."""
    return client_for(make_requester())
