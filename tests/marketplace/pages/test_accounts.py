"""Signing up, consent, invitations, exporting one's data, and leaving."""

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command
from django.test import Client
from pytest_django import Settings

from marketplace.actions.assignments import assignment_approve, assignment_submit
from marketplace.actions.workers import (
    SignUpRefusedError,
    invitation_create,
    worker_erase,
    worker_join,
    worker_sign_up,
)
from marketplace.models import Assignment, Invitation, Message, Posting, Worker
from marketplace.rules.lifecycle import AssignmentStatus
from tests.marketplace.people import make_requester
from tests.marketplace.site import (
    PASSWORD,
    accepted,
    new_hit,
    new_worker,
    page,
    signed_in,
    words,
)
from tests.web.accounts import researcher

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("_empty_cache")]


def sign_up(client: Client, path: str = "/marketplace/sign-up/", **changes: Any) -> Any:
    given = {
        "username": "mira",
        "password": PASSWORD,
        "password_again": PASSWORD,
        "email": "mira@example.org",
        "country": "US",
        "subdivision": "NY",
        "agrees": "on",
    }
    return client.post(path, {k: v for k, v in (given | changes).items() if v})


def test_signing_up_makes_a_worker_who_has_agreed(client: Client) -> None:
    assert sign_up(client).headers["Location"] == "/marketplace/"
    worker = Worker.objects.get(user__username="mira")
    assert worker.consented_at is not None
    assert (worker.country, worker.subdivision, worker.is_adult) == ("US", "NY", False)
    assert worker.user is not None
    assert not worker.user.is_staff
    assert worker.user.email == "mira@example.org"
    assert worker.worker_id in page(client, "/marketplace/")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"agrees": ""}, "must agree to the terms"),
        ({"password_again": "another horse 77"}, "passwords differ"),
        ({"password": "short", "password_again": "short"}, "too short"),
        ({"country": "XX"}, "XX is not one of the available choices"),
        ({"username": "TAKEN"}, "taken"),
        ({"email": "nobody"}, "valid email"),
    ],
)
def test_what_a_sign_up_needs(client: Client, changes: dict[str, str], said: str) -> None:
    User.objects.create_user("taken")
    response = sign_up(client, **changes)
    assert response.status_code == 400
    assert said in words(response.content)
    assert not Worker.objects.exists()


def test_a_state_is_kept_for_the_united_states_only(client: Client) -> None:
    sign_up(client, country="DE")
    assert Worker.objects.get().subdivision == ""


def test_closed_to_all_but_the_invited(client: Client, settings: Settings) -> None:
    settings.MARKETPLACE_OPEN_SIGN_UP = False
    assert "By invitation only" in words(page(client, "/marketplace/sign-up/"))
    assert sign_up(client).status_code == 200
    assert sign_up(client, code="made up").status_code == 410
    assert not Worker.objects.exists()
    _, code = invitation_create(places=1)
    form = page(client, f"/marketplace/sign-up/?code={code}")
    assert f'value="{code}"' in form
    assert sign_up(client, code=code).status_code == 302
    assert Worker.objects.count() == 1
    # It was for one person.
    assert sign_up(Client(), username="noor", code=code).status_code == 410
    with pytest.raises(SignUpRefusedError):
        worker_sign_up(
            username="noor",
            password=PASSWORD,
            country="DE",
            is_adult=True,
            open_to_all=False,
            code=code,
        )
    assert Worker.objects.count() == 1
    assert not User.objects.filter(username="noor").exists()


def test_an_invitation_ends(client: Client, settings: Settings) -> None:
    settings.MARKETPLACE_OPEN_SIGN_UP = False
    invitation, code = invitation_create(places=5, days=2)
    assert invitation.expires_at is not None
    Invitation.objects.update(expires_at=invitation.expires_at - timedelta(days=3))
    assert sign_up(client, code=code).status_code == 410
    assert code not in str(Invitation.objects.values())


def test_the_command_prints_a_link_that_works(client: Client, settings: Settings) -> None:
    settings.MARKETPLACE_OPEN_SIGN_UP = False
    settings.MARKETPLACE_URL = "https://crowd.example.org/marketplace/api"
    out = io.StringIO()
    call_command("marketplace_invite", places=2, days=7, note="students", stdout=out)
    link = out.getvalue().strip()
    assert link.startswith("https://crowd.example.org/marketplace/sign-up/?code=")
    path = link.removeprefix("https://crowd.example.org")
    assert sign_up(client, path=path).status_code == 302
    assert Invitation.objects.get().places == 1
    with pytest.raises(CommandError):
        call_command("marketplace_invite", places=0)


def test_an_account_without_a_worker_is_asked_to_become_one(client: Client) -> None:
    user = User.objects.create_user("noor", password=PASSWORD)
    client.force_login(user)
    assert client.get("/marketplace/").headers["Location"] == "/marketplace/join/"
    assert client.post("/marketplace/join/", {"country": "IE"}).status_code == 400
    assert client.post("/marketplace/join/", {"country": "IE", "agrees": "on"}).status_code == 302
    worker = Worker.objects.get(user=user)
    assert worker.country == "IE"
    assert worker_join(user=user, country="FR", is_adult=True).country == "IE"
    page(client, "/marketplace/")


def test_signing_in_and_out(client: Client) -> None:
    worker = new_worker()
    assert worker.user is not None
    to_sign_in = client.get("/marketplace/earnings/").headers["Location"]
    assert to_sign_in == "/marketplace/login/?next=/marketplace/earnings/"
    given = {"username": worker.user.username, "password": "wrong"}
    assert "blocked for 15 minutes" in words(client.post(to_sign_in, given).content)
    given |= {"password": PASSWORD, "next": "/marketplace/earnings/"}
    assert client.post(to_sign_in, given).headers["Location"] == "/marketplace/earnings/"
    assert client.post("/marketplace/logout/").headers["Location"] == "/marketplace/login/"
    assert client.get("/marketplace/").status_code == 302


def test_failures_at_this_page_are_counted_too(client: Client) -> None:
    worker = new_worker()
    assert worker.user is not None
    given = {"username": worker.user.username, "password": "wrong"}
    for _ in range(10):
        client.post("/marketplace/login/", given)
    right = client.post("/marketplace/login/", given | {"password": PASSWORD})
    assert right.status_code == 429
    assert int(right.headers["Retry-After"]) > 0
    assert "Please try again in 15 minutes" in words(right.content)
    assert client.get("/marketplace/").status_code == 302


def test_workers_do_not_see_the_researchers_pages() -> None:
    response = signed_in(new_worker()).get("/")
    assert response.status_code == 403
    assert 'href="/marketplace/"' in response.content.decode()


def test_what_one_says_about_oneself_can_be_changed() -> None:
    worker = new_worker()
    client = signed_in(worker)
    given = {"country": "US", "subdivision": "CA", "is_adult": "on"}
    assert client.post("/marketplace/account/", given).status_code == 302
    worker.refresh_from_db()
    assert (worker.country, worker.subdivision, worker.is_adult) == ("US", "CA", True)
    assert client.post("/marketplace/account/", {"country": "ZZ"}).status_code == 400


def test_the_download_has_everything() -> None:
    worker, requester = new_worker(email="mira@example.org"), make_requester()
    client = signed_in(worker)
    made = accepted(client, new_hit(requester))
    assignment_submit(assignment=made, answer="<a>my words</a>")
    assignment_approve(assignment=made, feedback="good")
    Message.objects.create(worker=worker, requester=requester, subject="Hello", text="again")
    other = new_worker()
    Message.objects.create(worker=other, requester=requester, subject="secret", text="secret")
    response = client.get("/marketplace/account/data/")
    assert "attachment" in response.headers["Content-Disposition"]
    data = json.loads(response.content)
    assert data["account"]["worker_id"] == worker.worker_id
    assert data["account"]["email"] == "mira@example.org"
    assert data["assignments"][0]["answer"] == "<a>my words</a>"
    assert data["assignments"][0]["feedback"] == "good"
    assert [line["cents"] for line in data["ledger"]] == [10]
    assert data["messages"][0]["subject"] == "Hello"
    assert "secret" not in response.content.decode()


def test_erasing_takes_the_identity_and_leaves_answers_and_ledger() -> None:
    worker, requester = new_worker(email="mira@example.org"), make_requester()
    client = signed_in(worker)
    assert worker.user is not None
    name = worker.user.username
    done, open_one = new_hit(requester), new_hit(requester, title="Another")
    made = accepted(client, done)
    assignment_submit(assignment=made, answer="<a>my words</a>")
    assignment_approve(assignment=made)
    left = accepted(client, open_one)
    Message.objects.create(worker=worker, requester=requester, subject="Hello", text="again")
    assert client.post("/marketplace/account/erase/", {"password": "wrong"}).status_code == 400
    assert User.objects.filter(username=name).exists()
    erased = client.post("/marketplace/account/erase/", {"password": PASSWORD})
    assert "Your account has been erased" in words(erased.content)
    worker.refresh_from_db()
    assert not User.objects.filter(username=name).exists()
    assert worker.user_id is None
    assert (worker.country, worker.consented_at) == ("", None)
    assert worker.erased_at is not None
    assert not Message.objects.filter(worker=worker).exists()
    assert Assignment.objects.get(pk=made.pk).answer == "<a>my words</a>"
    assert Posting.objects.get(account__worker=worker).cents == 10
    assert Assignment.objects.get(pk=left.pk).status == AssignmentStatus.RETURNED
    assert client.get("/marketplace/").status_code == 302
    again = Client().post("/marketplace/login/", {"username": name, "password": PASSWORD})
    assert again.status_code == 200


def test_an_account_with_other_duties_is_only_unlinked() -> None:
    user = researcher()
    worker = worker_join(user=user, country="DE", is_adult=False)
    worker_erase(worker=worker)
    worker.refresh_from_db()
    assert worker.user is None
    assert User.objects.filter(pk=user.pk).exists()


def test_the_terms_are_for_anybody(client: Client) -> None:
    assert "in plain words" in words(page(client, "/marketplace/terms/"))


def test_a_new_password() -> None:
    worker = new_worker()
    client = signed_in(worker)
    given = {
        "old_password": PASSWORD,
        "new_password1": "quite another 5",
        "new_password2": "quite another 5",
    }
    wrong = client.post("/marketplace/account/password/", given | {"old_password": "x"})
    assert wrong.status_code == 200
    done = client.post("/marketplace/account/password/", given)
    assert done.headers["Location"] == "/marketplace/account/"
    assert worker.user is not None
    worker.user.refresh_from_db()
    assert worker.user.check_password("quite another 5")
