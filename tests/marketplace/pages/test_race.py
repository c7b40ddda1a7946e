"""Two hundred workers want fifty HITs at the same moment, through the worker site."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

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
    group = hits[0].hit_type
    users = User.objects.bulk_create(User(username=f"worker-{n}") for n in range(WORKERS))
    Worker.objects.bulk_create(Worker(user=user, consented_at=timezone.now()) for user in users)
    clients = []
    for user in users:
        client = Client()
        client.force_login(user)
        clients.append(client)
    address = reverse("marketplace:accept", args=[group.hit_type_id])
    start = Barrier(AT_ONCE)

    def race(share: int) -> list[str]:
        try:
            start.wait()
            outcomes = []
            for client in clients[share::AT_ONCE]:
                answer = client.post(address, follow=True)
                at_work = "/marketplace/work/" in answer.request["PATH_INFO"]
                outcomes.append(f"{'at work' if at_work else 'none left'} {answer.status_code}")
            return outcomes
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        outcomes = Counter(one for share in pool.map(race, range(AT_ONCE)) for one in share)
    assert outcomes == {"at work 200": HITS, "none left 200": WORKERS - HITS}
    accepted = Assignment.objects.filter(status=AssignmentStatus.ACCEPTED)
    assert accepted.values("hit").distinct().count() == accepted.count() == HITS
    assert set(HIT.objects.values_list("status", flat=True)) == {HITStatus.UNASSIGNABLE}
