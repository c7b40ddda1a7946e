"""Many guesses at one password at the same moment, and a thousand in all: ten are evaluated."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from common.accounts.attempts import KEPT, attempt_reserve
from common.accounts.models import SignInCount
from common.accounts.rules import MOST_BY_STRANGERS, MOST_PER_ACCOUNT
from tests.sizes import WHOLE
from tests.web.sign_in.password_evaluations import Evaluations, counting_passwords

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "correct horse battery"
AT_ONCE = 40
GUESSES = 1000
THREADS = 8
PAGES = ["/accounts/login/", "/marketplace/login/"]


@pytest.fixture(autouse=True)
def _counted() -> Iterator[None]:
    with counting_passwords():
        yield


def guess(number: int, password: str, name: str = "mira", client: Client | None = None) -> Any:
    """Send a sign-in form, now to one page and now to the other, from one of many addresses."""
    try:
        return (client or Client()).post(
            PAGES[number % 2],
            {"username": name, "password": password},
            REMOTE_ADDR=f"192.0.2.{number % 250}",
        )
    finally:
        connection.close()


@pytest.mark.slow
def test_forty_at_once() -> None:
    User.objects.create_user("mira", password=PASSWORD)
    evaluations = Evaluations()
    start = Barrier(AT_ONCE)

    def one(number: int) -> int:
        start.wait()
        return int(guess(number, f"guess {number}").status_code)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        statuses = list(pool.map(one, range(AT_ONCE)))
    assert evaluations.count == MOST_BY_STRANGERS <= MOST_PER_ACCOUNT == 10
    assert statuses.count(429) == AT_ONCE - MOST_BY_STRANGERS
    assert set(statuses) == {200, 429}


@pytest.mark.slow
def test_a_thousand_guesses() -> None:
    """The right password among them is not found, and the owner gets in all the time."""
    User.objects.create_user("mira", password=PASSWORD)
    home = Client()
    assert guess(0, PASSWORD, client=home).status_code == 302
    evaluations = Evaluations()
    owner = 0
    with ThreadPoolExecutor(THREADS) as pool:
        for first in range(0, GUESSES, 100):
            numbers = range(first, first + 100)
            answers = list(
                pool.map(guess, numbers, [PASSWORD if n == 500 else f"guess {n}" for n in numbers])
            )
            assert all(answer.status_code in (200, 429) for answer in answers)
            owner += guess(first, PASSWORD, client=home).status_code == 302
    assert owner == GUESSES // 100
    assert evaluations.count - owner == MOST_BY_STRANGERS <= MOST_PER_ACCOUNT


@pytest.mark.slow
def test_purging_and_counting_at_once_lose_nothing() -> None:
    """Rows are made, counted in and deleted by many at the same moment."""
    names = [f"name{number}" for number in range(4)]
    rounds = 20 if WHOLE else 5
    for _ in range(rounds):
        attempts = SignInCount.objects.all()
        for row in attempts:
            # Old enough for everybody to want to delete it, and with nothing that counts.
            SignInCount.objects.filter(pk=row.pk).update(
                touched_at=row.touched_at - 2 * KEPT, attempts=[]
            )

        def one(number: int) -> bool:
            try:
                reserved = attempt_reserve(
                    name=names[number % 4], address="192.0.2.1", is_known=False
                )
                return not reserved.wait_seconds
            finally:
                connection.close()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            let_through = list(pool.map(one, range(4 * AT_ONCE)))
        assert let_through.count(True) == 4 * MOST_BY_STRANGERS
        counted = [len(row.attempts) for row in SignInCount.objects.all()]
        assert sorted(counted) == [*[MOST_BY_STRANGERS] * 4, 4 * MOST_BY_STRANGERS]
