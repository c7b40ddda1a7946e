"""Workers who look for an experiment at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection
from pytest_django.fixtures import Settings

from grounding.actions import experiment_take
from grounding.models import Experiment

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]

WORKERS = 8


@pytest.mark.parametrize("at_once", [1, 2])
def test_no_more_are_taken_up_than_may_be_at_once(at_once: int, settings: Settings) -> None:
    settings.CHAINBOX_EXPERIMENTS_AT_ONCE = at_once
    Experiment.objects.bulk_create(
        Experiment(recipe="image_sentence", release="one", vectors="captions")
        for _ in range(WORKERS)
    )
    start = Barrier(WORKERS, timeout=60)

    def take(_: int) -> int | None:
        try:
            connection.ensure_connection()
            start.wait()
            taken = experiment_take()
            return taken.pk if taken else None
        finally:
            connection.close()

    with ThreadPoolExecutor(WORKERS) as pool:
        taken = [pk for pk in pool.map(take, range(WORKERS)) if pk]
    assert len(taken) == len(set(taken)) == at_once
    assert min(Experiment.objects.values_list("pk", flat=True)) in taken
