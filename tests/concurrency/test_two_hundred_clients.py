"""Two hundred workers who come, go and come back: each question is with one of them at most."""

import time
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
from django.db import connection

from annotation import models
from annotation.actions.work.leases import leases_expire
from annotation.actions.work.sittings import sitting_open
from common.clock import database_now
from tests.concurrency.clients import Process, Task
from tests.concurrency.crowds import (
    check_states,
    claim_on,
    crowded_campaign,
    hits_offered,
    live_leases,
    workers_trusted,
)
from tests.sizes import WHOLE

pytestmark = [
    pytest.mark.long,
    *(pytest.mark.postgres, pytest.mark.slow, pytest.mark.django_db(transaction=True)),
    pytest.mark.whole,
    pytest.mark.usefixtures("_no_deadlock"),
]

CLIENTS = 200
SITTINGS = 50 if WHOLE else 10
# Fewer than all clients at once could take, and more than all of them judge in the end: there is
# always something that is open, and often nothing that is free.
OPEN = 360 if WHOLE else 120
PROCESSES = 2
SEED = 20260417
# The most leases that one question has, and the leases of questions that need no judgment: that
# are not open, and were not judged this moment either.
SAMPLE = """
WITH live AS (
    SELECT image_id, key FROM annotation_sittingquestion WHERE released_at IS NULL AND key <> ''
)
SELECT (SELECT coalesce(max(n), 0) FROM (SELECT count(*) AS n FROM live GROUP BY image_id, key) x),
       (SELECT count(*) FROM live WHERE NOT EXISTS (
           SELECT FROM annotation_openquestion o
           WHERE o.image_id = live.image_id AND o.key = live.key
       ) AND NOT EXISTS (
           SELECT FROM annotation_fact f
           WHERE f.image_id = live.image_id AND f.question = live.key
       ))
"""


def test_200_clients_who_come_and_go_never_share_a_question(tmp_path: Path) -> None:
    campaign = crowded_campaign(OPEN)
    workers_trusted(campaign, [f"A{number}" for number in range(CLIENTS)] + ["last"])
    hits_offered(campaign, CLIENTS + 1)
    bounds = [CLIENTS * n // PROCESSES for n in range(PROCESSES + 1)]
    processes = [
        Process(Task(first=first, last=last, of=CLIENTS, sittings=SITTINGS, seed=SEED), tmp_path)
        for first, last in pairwise(bounds)
    ]
    try:
        for process in processes:
            process.start()
        while any(process.is_running for process in processes):
            with connection.cursor() as cursor:
                cursor.execute(SAMPLE)
                of_one, unneeded = cursor.fetchone()
            assert of_one <= 1
            assert unneeded == 0
            # The sweeper comes by as well.
            leases_expire()
            time.sleep(0.1)
        results = [process.done() for process in processes]
    finally:
        for process in processes:
            process.stop()

    assert [error for result in results for error in result.errors] == []
    counts: Counter[str] = Counter()
    for result in results:
        counts += Counter(result.counts)
    assert counts["sittings"] == CLIENTS * SITTINGS
    assert counts["with_others"] > 0, "there was not always enough for everybody"
    assert counts["nothing_left"] == 0, "and always something open"
    # What was with one worker was with nobody else: nobody's answer came too late to count.
    assert models.Fact.objects.filter(counted=True).count() == counts["judgments"]
    assert models.Fact.objects.count() == counts["judgments"] > 0
    assert models.Assignment.objects.count() == counts["confirmed"]
    models.Sitting.objects.filter(confirmed_at=None).update(until=database_now())
    leases_expire()
    assert live_leases() == 0
    # Nothing was lost on the way: whoever comes now gets something.
    assert sitting_open(claim=claim_on(campaign, "last", CLIENTS)).sitting is not None
    check_states()
