"""A marketplace in this process, a requester with funds, and a launched campaign."""

from collections.abc import Iterator

import pytest
from celery import current_app
from pytest_django import Settings

from annotation import models
from annotation.crowd.client import MTurk
from marketplace.models import Requester
from tests.crowd.calls import send
from tests.crowd.in_process import InProcess, in_process_client
from tests.crowd.published import FEE_PERCENT, confirmed, hit_queue, launched
from tests.marketplace.people import make_requester, make_worker


@pytest.fixture
def funded(settings: Settings, db: None) -> Requester:
    """The requester that we are, on a marketplace that takes a fee."""
    settings.MARKETPLACE_FEE_PERCENT = FEE_PERCENT
    return make_requester(cents=10_000_000)


@pytest.fixture
def crowd(funded: Requester) -> tuple[MTurk, InProcess]:
    return in_process_client(funded)


@pytest.fixture
def mturk_client(crowd: tuple[MTurk, InProcess]) -> MTurk:
    return crowd[0]


@pytest.fixture
def server(crowd: tuple[MTurk, InProcess]) -> InProcess:
    return crowd[1]


@pytest.fixture
def zoo(db: None) -> models.Campaign:
    return launched()


@pytest.fixture
def hit(zoo: models.Campaign, mturk_client: MTurk) -> models.Hit:
    """A HIT that is published."""
    made = hit_queue(zoo)
    send(mturk_client)
    made.refresh_from_db()
    assert made.hit_id, models.OutboxCall.objects.get().last_error
    return made


@pytest.fixture
def assignment(hit: models.Hit) -> models.Assignment:
    """An assignment that somebody has submitted and we have confirmed."""
    return confirmed(make_worker(), hit)


@pytest.fixture(autouse=True)
def _broker_in_memory() -> Iterator[None]:
    """Wake nobody: tests call the tasks that they need."""
    before = current_app.conf.broker_url
    current_app.conf.update(broker_url="memory://localhost/")
    yield
    current_app.conf.update(broker_url=before)
