"""Passwords may be tried only so often, from anywhere together; the owner still gets in."""

from collections.abc import Iterator
from http.cookies import Morsel
from typing import Any

import pytest
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.core.cache import cache
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext, override_settings

from common.accounts import rules
from common.accounts.addresses import client_address
from common.accounts.attempts import KEPT, PURGED_AT_ONCE
from common.accounts.devices import COOKIE
from common.accounts.models import SignInCount
from common.accounts.rules import (
    MOST_BY_STRANGERS,
    MOST_PER_ACCOUNT,
    WINDOW_MS,
)
from tests.marketplace.site import PASSWORD as WORKERS_PASSWORD
from tests.marketplace.site import new_worker, signed_in, words
from tests.web.sign_in.password_evaluations import Evaluations, counting_passwords

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse battery"
PAGES = ["/accounts/login/", "/marketplace/login/"]


@pytest.fixture(autouse=True)
def _counted() -> Iterator[None]:
    with counting_passwords():
        yield


@pytest.fixture
def user() -> User:
    return User.objects.create_user("mira", password=PASSWORD)


def sign_in(
    client: Client, password: str, name: str = "mira", *, page: str = PAGES[0], **extra: str
) -> Any:
    """Send the sign-in form."""
    return client.post(
        page,
        {"username": name, "password": password},
        **extra,  # type: ignore[arg-type]  # headers; the stubs take them for named arguments
    )


def known_device(name: str = "mira") -> Client:
    """Return a browser in which somebody has signed in before, and signed out again."""
    client = Client()
    assert sign_in(client, PASSWORD, name).status_code == 302
    client.post("/accounts/logout/")
    assert "_auth_user_id" not in client.session
    return client


def cookie_of(client: Client) -> "Morsel[str]":
    return client.cookies[COOKIE]


def later(milliseconds: int) -> None:
    """Let so much time go by, for everything that was counted."""
    for row in SignInCount.objects.all():
        row.attempts = [[at - milliseconds, is_known] for at, is_known in row.attempts]
        row.save()


# One account, from anywhere


def test_forty_guesses_from_many_addresses(user: User) -> None:
    evaluations = Evaluations()
    for number in range(40):
        sign_in(Client(), f"guess {number}", REMOTE_ADDR=f"192.0.2.{number % 3}")
    assert evaluations.count == MOST_BY_STRANGERS <= 10


@pytest.mark.slow
def test_fifty_two_a_minute_on_both_pages_from_three_addresses(user: User) -> None:
    evaluations = Evaluations()
    for number in range(52):
        sign_in(Client(), f"{number}", page=PAGES[number % 2], REMOTE_ADDR=f"192.0.2.{number % 3}")
    assert 0 < evaluations.count <= 10


@pytest.mark.parametrize("page", PAGES)
def test_who_has_to_wait_is_told_so(client: Client, user: User, page: str) -> None:
    for _ in range(MOST_BY_STRANGERS):
        assert sign_in(client, "wrong", page=page).status_code == 200
    refused = sign_in(client, PASSWORD, page=page)
    assert refused.status_code == 429, "the right password does not help while waiting"
    assert 0 < int(refused.headers["Retry-After"]) <= WINDOW_MS // 1000
    said = words(refused.content)
    assert "Too many failed sign-in attempts. Please try again in 15 minutes" in said
    assert "or use a browser where you have signed in before" in said
    assert "_auth_user_id" not in client.session


def test_the_wait_ends_when_it_was_said_to(client: Client, user: User) -> None:
    for _ in range(MOST_BY_STRANGERS):
        sign_in(client, "wrong")
    wait = int(sign_in(client, PASSWORD).headers["Retry-After"])
    later((wait - 5) * 1000)
    assert sign_in(client, PASSWORD).status_code == 429
    later(5 * 1000)
    assert sign_in(client, PASSWORD).status_code == 302


def test_waiting_is_not_prolonged_by_trying(client: Client, user: User) -> None:
    for _ in range(MOST_BY_STRANGERS):
        sign_in(client, "wrong")
    later(WINDOW_MS // 2)
    for _ in range(20):
        assert int(sign_in(client, "wrong").headers["Retry-After"]) <= WINDOW_MS // 2000
    later(WINDOW_MS // 2)
    assert sign_in(client, PASSWORD).status_code == 302


def test_right_passwords_are_not_counted(client: Client, user: User) -> None:
    for _ in range(3 * MOST_PER_ACCOUNT):
        assert sign_in(Client(), PASSWORD).status_code == 302


def test_the_owners_success_gives_strangers_no_new_guesses(user: User) -> None:
    home = known_device()
    evaluations = Evaluations()
    for _ in range(3):
        for _ in range(MOST_PER_ACCOUNT):
            sign_in(Client(), "wrong")
        assert sign_in(home, PASSWORD).status_code == 302
    assert evaluations.count == MOST_BY_STRANGERS + 3


def test_capitals_are_no_way_round(client: Client, user: User) -> None:
    for name in ["mira", "Mira", "MIRA", "miRA", "mIra"] * 2:
        sign_in(client, "wrong", name)
    assert sign_in(client, PASSWORD).status_code == 429


def test_others_are_not_locked_out(client: Client, user: User) -> None:
    User.objects.create_user("noor", password=PASSWORD)
    for _ in range(MOST_PER_ACCOUNT):
        sign_in(client, "wrong")
    assert sign_in(client, PASSWORD).status_code == 429
    assert sign_in(client, PASSWORD, "noor").status_code == 302


def test_an_invented_name_is_treated_like_a_real_one(user: User) -> None:
    told = {}
    for name in ("mira", "nobody"):
        evaluations = Evaluations()
        answers = [sign_in(Client(), "wrong", name) for _ in range(12)]
        told[name] = (
            evaluations.count,
            [answer.status_code for answer in answers],
            {words(answer.content).replace(name, "NAME") for answer in answers},
        )
    assert told["mira"] == told["nobody"]


def test_every_way_in_is_covered(client: Client, user: User) -> None:
    request = RequestFactory().post("/api/", REMOTE_ADDR="127.0.0.1")
    for _ in range(MOST_BY_STRANGERS):
        assert authenticate(request, username="mira", password="wrong") is None
    assert authenticate(request, username="mira", password=PASSWORD) is None
    assert authenticate(None, username="mira", password=PASSWORD) is None
    assert client.get("/admin/login/?next=/admin/").headers["Location"] == (
        "/accounts/login/?next=/admin/"
    )


def test_the_cache_has_no_part_in_it(client: Client, user: User) -> None:
    for _ in range(MOST_BY_STRANGERS):
        sign_in(client, "wrong")
        cache.clear()
    assert sign_in(client, PASSWORD).status_code == 429


@pytest.mark.slow
def test_counts_outlast_many_other_names(client: Client, user: User) -> None:
    for _ in range(MOST_BY_STRANGERS):
        sign_in(client, "wrong")
    for number in range(320):
        request = RequestFactory().post("/", REMOTE_ADDR=f"10.0.{number % 7}.{number % 200}")
        authenticate(request, username=f"somebody{number}", password="wrong")
    assert sign_in(client, PASSWORD).status_code == 429


# The owner, at a known device


@pytest.mark.slow
def test_a_known_device_is_not_shut_out_by_strangers(user: User) -> None:
    home = known_device()
    for number in range(100):
        sign_in(Client(), "wrong", REMOTE_ADDR=f"192.0.2.{number % 3}")
    assert sign_in(Client(), PASSWORD).status_code == 429
    assert sign_in(home, PASSWORD).status_code == 302


@pytest.mark.parametrize("page", PAGES)
def test_known_devices_and_strangers_together_get_ten(user: User, page: str) -> None:
    home = known_device()
    evaluations = Evaluations()
    for _ in range(20):
        sign_in(Client(), "wrong", page=page)
    for _ in range(20):
        answer = sign_in(home, "wrong", page=page)
    assert evaluations.count == MOST_PER_ACCOUNT == 10
    assert answer.status_code == 429
    assert words(answer.content).count("Please try again in 15 minutes.") == 1


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(user: User) -> None:
    cookie = cookie_of(known_device())
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")
    assert not cookie["secure"]
    assert "mira" not in cookie.value
    with override_settings(SESSION_COOKIE_SECURE=True):
        assert cookie_of(known_device())["secure"]


def test_a_made_up_cookie_and_somebody_elses_make_nobody_known(user: User) -> None:
    User.objects.create_user("noor", password=PASSWORD)
    theirs = known_device("noor")
    made_up = Client()
    made_up.cookies[COOKIE] = cookie_of(known_device()).value[:-1] + "x"
    for _ in range(MOST_BY_STRANGERS):
        sign_in(Client(), "wrong")
    for stranger in (theirs, made_up):
        assert sign_in(stranger, PASSWORD).status_code == 429


def test_several_accounts_in_one_browser(user: User) -> None:
    User.objects.create_user("noor", password=PASSWORD)
    shared = known_device()
    sign_in(shared, PASSWORD, "noor")
    for name in ("mira", "noor"):
        for _ in range(MOST_BY_STRANGERS):
            sign_in(Client(), "wrong", name)
        assert sign_in(shared, PASSWORD, name).status_code == 302


def test_a_new_password_makes_strangers_of_old_devices(user: User) -> None:
    home = known_device()
    user.set_password("another horse battery")
    user.save()
    for _ in range(MOST_BY_STRANGERS):
        sign_in(Client(), "wrong")
    assert sign_in(home, "another horse battery").status_code == 429


# Pages that ask for the password once more


def change(client: Client, path: str, old: str, new: str = "another horse battery") -> Any:
    """Send the form for a new password."""
    return client.post(path, {"old_password": old, "new_password1": new, "new_password2": new})


@pytest.mark.parametrize("path", ["/marketplace/account/password/", "/admin/password_change/"])
def test_the_old_password_cannot_be_guessed_either(user: User, path: str) -> None:
    user.is_staff = True
    user.save()
    client = Client()
    client.force_login(user)
    evaluations = Evaluations()
    for _ in range(30):
        answer = change(client, path, "wrong")
    assert evaluations.count == MOST_PER_ACCOUNT
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert "Please try again in 15 minutes." in words(answer.content)
    assert change(client, path, PASSWORD).status_code == 429
    later(WINDOW_MS)
    assert change(client, path, PASSWORD).status_code == 302


@pytest.mark.parametrize("path", ["/marketplace/account/password/", "/admin/password_change/"])
def test_the_owner_changes_the_password_while_strangers_guess(user: User, path: str) -> None:
    user.is_staff = True
    user.save()
    here, elsewhere = known_device(), known_device()
    sign_in(here, PASSWORD)
    for _ in range(MOST_PER_ACCOUNT):
        sign_in(Client(), "wrong")
    new = "another horse battery"
    assert change(here, path, PASSWORD, new).status_code == 302
    assert sign_in(elsewhere, new).status_code == 429, "signed in with the old password only"
    here.post("/accounts/logout/")
    assert sign_in(here, new).status_code == 302, "this is where it was changed"


def test_the_password_for_erasing_an_account_cannot_be_guessed() -> None:
    worker = new_worker()
    client = signed_in(worker)
    path = "/marketplace/account/erase/"
    evaluations = Evaluations()
    for _ in range(30):
        answer = client.post(path, {"password": "wrong"})
    assert evaluations.count == MOST_PER_ACCOUNT
    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0
    assert "Please try again in 15 minutes." in words(answer.content)
    assert client.post(path, {"password": WORKERS_PASSWORD}).status_code == 429
    later(WINDOW_MS)
    assert client.post(path, {"password": WORKERS_PASSWORD}).status_code == 200
    assert not User.objects.exists()


def test_who_has_just_signed_up_is_known() -> None:
    new_worker()
    client = Client()
    given = {"username": "mira", "password": PASSWORD, "password_again": PASSWORD}
    client.post("/marketplace/sign-up/", {**given, "country": "DE", "agrees": "on"})
    client.post("/marketplace/logout/")
    for _ in range(MOST_PER_ACCOUNT):
        sign_in(Client(), "wrong")
    assert sign_in(client, PASSWORD, page=PAGES[1]).status_code == 302


# One address, many accounts


@pytest.mark.slow
def test_a_hundred_failures_under_any_names_shut_out_nobody_else(user: User) -> None:
    home = known_device()
    for number in range(100):
        sign_in(Client(), "wrong", f"guess{number}", REMOTE_ADDR="192.0.2.1")
    assert sign_in(home, PASSWORD, REMOTE_ADDR="192.0.2.1").status_code == 302
    assert sign_in(Client(), PASSWORD, REMOTE_ADDR="192.0.2.1").status_code == 302


@pytest.fixture
def most(monkeypatch: pytest.MonkeyPatch) -> int:
    """Fewer guesses from one address than the real number, which takes long to reach."""
    monkeypatch.setattr(rules, "MOST_PER_ADDRESS", 30)
    return 30


def test_one_address_gets_so_many_guesses_in_all(user: User, most: int) -> None:
    home = known_device()
    evaluations = Evaluations()
    rows = SignInCount.objects.count()
    for number in range(most + 20):
        answer = sign_in(Client(), "wrong", f"guess{number}", REMOTE_ADDR="192.0.2.1")
    assert evaluations.count == most
    assert answer.status_code == 429
    stored = SignInCount.objects.count() - rows
    assert stored == most + 1, "who has to wait leaves nothing behind"
    assert sign_in(Client(), PASSWORD, REMOTE_ADDR="192.0.2.1").status_code == 429
    assert sign_in(home, PASSWORD, REMOTE_ADDR="192.0.2.1").status_code == 302
    assert sign_in(Client(), PASSWORD, REMOTE_ADDR="192.0.2.2").status_code == 302


def test_behind_a_proxy_that_nobody_has_configured(user: User, most: int) -> None:
    proxy: dict[str, str] = {"REMOTE_ADDR": "10.0.0.1", "HTTP_X_FORWARDED_FOR": "203.0.113.9"}
    for number in range(most + 1):
        sign_in(Client(), "wrong", f"guess{number}", **proxy)
    assert sign_in(Client(), PASSWORD, **proxy).status_code == 302


@pytest.mark.parametrize(
    ("proxies", "forwarded", "expected"),
    [
        (0, None, "192.0.2.1"),
        (0, "203.0.113.9", ""),
        (0, "", ""),
        (1, "203.0.113.9", "203.0.113.9"),
        (1, "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        (2, "6.6.6.6, 203.0.113.9, 198.51.100.1", "203.0.113.9"),
        (2, "203.0.113.9", ""),
        (1, "", ""),
        (1, None, ""),
        (1, "unknown", ""),
        (1, "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        (1, "::ffff:203.0.113.9", "203.0.113.9"),
    ],
)
def test_address_behind_proxies(proxies: int, forwarded: str | None, expected: str) -> None:
    headers = {} if forwarded is None else {"x-forwarded-for": forwarded}
    request = RequestFactory().get("/", REMOTE_ADDR="192.0.2.1", headers=headers)
    with override_settings(TRUSTED_PROXIES=proxies):
        assert client_address(request) == expected


# What is stored


def test_names_and_addresses_are_not_stored(client: Client) -> None:
    sign_in(client, "wrong", "my secret typed by mistake", REMOTE_ADDR="192.0.2.77")
    rows = str(list(SignInCount.objects.values()))
    assert len(SignInCount.objects.all()) == 2
    assert "secret" not in rows
    assert "192.0.2" not in rows


@pytest.mark.slow
def test_old_counts_are_deleted_by_whoever_comes_by(client: Client, user: User) -> None:
    for number in range(3 * PURGED_AT_ONCE):
        sign_in(Client(), "wrong", f"invented{number}", REMOTE_ADDR=f"192.0.2.{number}")
    rows = SignInCount.objects.count()
    assert rows == 6 * PURGED_AT_ONCE
    touched = SignInCount.objects.first()
    assert touched is not None
    SignInCount.objects.update(touched_at=touched.touched_at - KEPT * 2)
    counts = []
    for _ in range(7):
        sign_in(Client(), PASSWORD)
        counts.append(SignInCount.objects.count())
    assert counts[-1] == 2, f"{counts}: only the last one's own are left"


def statements(client: Client, name: str) -> int:
    with CaptureQueriesContext(connection) as captured:
        sign_in(client, "wrong", name)
    return len(captured)


@pytest.mark.slow
def test_an_attempt_takes_the_same_few_statements_whatever_was_counted(user: User) -> None:
    first = statements(Client(), "mira")
    for number in range(60):
        sign_in(Client(), "wrong", f"invented{number}", REMOTE_ADDR=f"192.0.2.{number}")
    assert statements(Client(), "mira") == first == statements(Client(), "nobody")
    for _ in range(MOST_BY_STRANGERS):
        sign_in(Client(), "wrong")
    assert statements(Client(), "mira") < first, "to be refused costs less"
