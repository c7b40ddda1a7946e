"""A marketplace in this process, a requester with funds, and a campaign that is launched."""

from collections.abc import Iterator

import pytest
from celery import current_app
from pytest_django import Settings

from annotation import models
from annotation.crowd.client import MTurk
from marketplace.models import Requester
from tests.crowd.in_process import InProcess, in_process_client
from tests.crowd.publishing import FEE_PERCENT, launched
from tests.marketplace.people import make_requester


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


@pytest.fixture(autouse=True)
def _broker_in_memory() -> Iterator[None]:
    """Who is woken here is nobody: tests call what they want to see done."""
    before = current_app.conf.broker_url
    current_app.conf.update(broker_url="memory://localhost/")
    yield
    current_app.conf.update(broker_url=before)
