"""Two simultaneous requests with one token do their work once."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.db import connection

from marketplace.api.operations import OPERATIONS
from marketplace.models import HIT, Account, BonusPayment, Requester
from marketplace.rules.errors import RequestError
from tests.marketplace.hits import HIT_VALUES, submit
from tests.marketplace.people import make_requester, make_worker

pytestmark = [pytest.mark.postgres, pytest.mark.django_db(transaction=True)]
AT_ONCE = 6


def together(requester: Requester, name: str, params: dict[str, Any]) -> list[str]:
    """Make the same call several times at once; return the errors' codes, or "done"."""
    barrier = Barrier(AT_ONCE)

    def call() -> str:
        try:
            barrier.wait()
            OPERATIONS[name](requester, params)
            return "done"
        except RequestError as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(AT_ONCE) as pool:
        futures = [pool.submit(call) for _ in range(AT_ONCE)]
        return sorted(future.result() for future in futures)


def test_one_hit() -> None:
    requester = make_requester()
    outcomes = together(requester, "CreateHIT", HIT_VALUES | {"UniqueRequestToken": "t"})
    assert outcomes == ["HitAlreadyExists"] * (AT_ONCE - 1) + ["done"]
    assert HIT.objects.count() == 1


@pytest.mark.parametrize("token", [{"UniqueRequestToken": "t"}, {}])
def test_one_bonus(token: dict[str, str]) -> None:
    requester, worker = make_requester(), make_worker()
    hit = OPERATIONS["CreateHIT"](requester, HIT_VALUES)["HIT"]
    assignment = submit(hit, worker)
    bonus = {
        "WorkerId": worker.worker_id,
        "AssignmentId": assignment.assignment_id,
        "BonusAmount": "1.00",
        "Reason": "r",
    }
    outcomes = together(requester, "SendBonus", bonus | token)
    paid = 1 if token else AT_ONCE
    assert outcomes == ["DuplicateRequest"] * (AT_ONCE - paid) + ["done"] * paid
    assert BonusPayment.objects.count() == paid
    assert Account.objects.get(worker=worker).balance == 100 * paid


def test_one_qualification_type_of_a_name() -> None:
    values = {"Name": "n", "Description": "d", "QualificationTypeStatus": "Active"}
    outcomes = together(make_requester(), "CreateQualificationType", values)
    assert outcomes == ["QualificationTypeAlreadyExists"] * (AT_ONCE - 1) + ["done"]
