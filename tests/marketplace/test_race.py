"""Two hundred workers want fifty HITs at the same moment."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.db import connection

from marketplace.actions.assignments import WorkRefusedError, assignment_accept_any
from marketplace.models import HIT, Assignment, Worker
from marketplace.rules.lifecycle import AssignmentStatus, HITStatus
from tests.marketplace.people import make_hit, make_requester

WORKERS, HITS, AT_ONCE = 200, 50, 40


@pytest.mark.slow
@pytest.mark.postgres
@pytest.mark.django_db(transaction=True)
def test_exactly_as_many_are_accepted_as_there_are() -> None:
    requester = make_requester()
    hits = [make_hit(requester) for _ in range(HITS)]
    group = hits[0].hit_type_id
    workers = Worker.objects.bulk_create(Worker() for _ in range(WORKERS))
    start = Barrier(AT_ONCE)

    def race(share: int) -> list[str]:
        try:
            start.wait()
            outcomes = []
            for worker in workers[share::AT_ONCE]:
                try:
                    assignment_accept_any(hit_type_id=group, worker=worker)
                    outcomes.append("accepted")
                except WorkRefusedError:
                    outcomes.append("none left")
            return outcomes
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = [outcome for share in pool.map(race, range(AT_ONCE)) for outcome in share]
    assert outcomes.count("accepted") == HITS
    assert outcomes.count("none left") == WORKERS - HITS
    accepted = Assignment.objects.filter(status=AssignmentStatus.ACCEPTED)
    assert accepted.values("hit").distinct().count() == accepted.count() == HITS
    assert set(HIT.objects.values_list("status", flat=True)) == {HITStatus.UNASSIGNABLE}
