"""Who is woken here is nobody: tests call what they want to see done."""

from collections.abc import Iterator

import pytest
from celery import current_app


@pytest.fixture(autouse=True)
def _broker_in_memory() -> Iterator[None]:
    before = current_app.conf.broker_url
    current_app.conf.broker_url = "memory://localhost/"
    yield
    current_app.conf.broker_url = before
