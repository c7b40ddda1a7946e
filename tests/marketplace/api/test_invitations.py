"""Inviting workers through the API: signed like any other call, and only with permission."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from common.clock import database_now
from marketplace.actions.requesters import access_key_issue, requester_let_invite
from marketplace.api.extension import MOST_DAYS, MOST_PLACES
from marketplace.api.operations import EXTENSION, OPERATIONS
from marketplace.api.service import extension
from marketplace.models import AccessKey, Invitation, Requester, Worker
from tests.marketplace.api.signer import sign
from tests.marketplace.pages.test_accounts import sign_up
from tests.marketplace.people import make_requester

pytestmark = pytest.mark.django_db

URL = "http://testserver/marketplace/api"
JSON = "application/x-amz-json-1.1"


@pytest.fixture
def inviter() -> Requester:
    requester = make_requester(0)
    requester_let_invite(requester=requester, may_invite=True)
    return requester


def key_of(requester: Requester) -> AccessKey:
    return requester.keys.first() or access_key_issue(requester=requester)


def call(
    requester: Requester, operation: str, body: Any, prefix: str = "ChainboxMarketplaceV1"
) -> tuple[int, dict[str, Any]]:
    """Make a signed call; return status and reply."""
    data = json.dumps(body).encode()
    target = {"Content-Type": JSON, "X-Amz-Target": f"{prefix}.{operation}"}
    key = key_of(requester)
    headers = sign(
        now=database_now(),
        url=URL,
        headers=target,
        body=data,
        key_id=key.key_id,
        secret=key.secret,
    )
    reply = Client().post("/marketplace/api", data, content_type=JSON, headers=headers)
    return reply.status_code, json.loads(reply.content)


def test_the_table_is_the_models() -> None:
    assert set(extension().operation_names) == set(EXTENSION)
    assert not set(EXTENSION) & set(OPERATIONS)


@pytest.mark.usefixtures("_empty_cache")
def test_an_invitation_lets_as_many_in_as_it_says(inviter: Requester, settings: Settings) -> None:
    settings.MARKETPLACE_OPEN_SIGN_UP = False
    settings.MARKETPLACE_URL = "https://market.example/marketplace/api"
    before = database_now()
    status, made = call(inviter, "CreateInvitation", {"Places": 1, "Days": 14, "Note": "spring"})
    assert status == 200
    told = made["Invitation"]
    assert (told["PlacesLeft"], told["Note"]) == (1, "spring")
    two_weeks = timedelta(days=14).total_seconds()
    assert abs(told["Expiration"] - before.timestamp() - two_weeks) < 60
    link = made["SignUpURL"]
    assert link.startswith("https://market.example/marketplace/sign-up/?code=")
    path = link.removeprefix("https://market.example")
    assert sign_up(Client(), path).status_code == 302
    assert Worker.objects.count() == 1
    assert sign_up(Client(), path, username="second").status_code == 410
    # The code itself is kept nowhere.
    assert link.rpartition("=")[2] not in str(Invitation.objects.values().get())


def test_a_requester_lists_their_own_invitations_newest_first(inviter: Requester) -> None:
    other = make_requester(0)
    requester_let_invite(requester=other, may_invite=True)
    call(other, "CreateInvitation", {"Places": 5, "Days": 1})
    call_command("marketplace_invite", "--places=7", stdout=StringIO())
    for note in ("first", "second", "third"):
        call(inviter, "CreateInvitation", {"Places": 2, "Days": 3, "Note": note})
    found: list[str] = []
    token: dict[str, str] = {}
    while True:
        _, page = call(inviter, "ListInvitations", {"MaxResults": 2, **token})
        assert page["NumResults"] == len(page["Invitations"])
        if "NextToken" not in page:
            break
        found += [one["Note"] for one in page["Invitations"]]
        token = {"NextToken": page["NextToken"]}
    assert found == ["third", "second", "first"]
    assert "code" not in json.dumps(page).lower()


@pytest.mark.parametrize("is_open", [True, False])
def test_the_sign_up_link(inviter: Requester, settings: Settings, is_open: bool) -> None:
    settings.MARKETPLACE_OPEN_SIGN_UP = is_open
    status, reply = call(inviter, "GetSignUpLink", {})
    assert (status, reply["IsOpen"]) == (200, is_open)
    assert reply["SignUpURL"].endswith("/marketplace/sign-up/")


@pytest.mark.parametrize("operation", sorted(EXTENSION))
def test_who_may_not_invite_is_refused(operation: str) -> None:
    body = {"Places": 1, "Days": 1} if operation == "CreateInvitation" else {}
    status, reply = call(make_requester(0), operation, body)
    assert status == 400
    assert reply["TurkErrorCode"] == "AWS.MechanicalTurk.PermissionDeniedException"
    assert "may not invite workers" in reply["Message"]
    assert not Invitation.objects.exists()


@pytest.mark.parametrize(
    ("body", "kind", "said"),
    [
        ({}, "ValidationException", "'places'"),
        ({"Places": 1}, "ValidationException", "'days'"),
        ({"Places": 0, "Days": 1}, "ValidationException", "greater than or equal to 1"),
        ({"Places": 1, "Days": 0}, "ValidationException", "greater than or equal to 1"),
        ({"Places": MOST_PLACES + 1, "Days": 1}, "ValidationException", "less than or equal to"),
        ({"Places": 1, "Days": MOST_DAYS + 1}, "ValidationException", "less than or equal to"),
        ({"Places": 1, "Days": 1, "Note": "n" * 101}, "ValidationException", "'note'"),
        ({"Places": 1, "Days": 1, "Plaecs": 3}, "ValidationException", "does not know: Plaecs"),
        ({"Places": "1", "Days": 1}, "SerializationException", "Integer"),
        ({"Places": 1.5, "Days": 1}, "SerializationException", "Integer"),
        ({"Places": True, "Days": 1}, "SerializationException", "Integer"),
        ({"Places": 1, "Days": 1, "Note": "a\0b"}, "RequestError", "not valid"),
        ([1], "SerializationException", ""),
    ],
)
def test_what_an_invitation_needs(inviter: Requester, body: Any, kind: str, said: str) -> None:
    status, reply = call(inviter, "CreateInvitation", body)
    assert (status, reply["__type"]) == (400, kind)
    assert said in reply.get("message", "") + reply.get("Message", "")
    assert not Invitation.objects.exists()


def test_ours_are_not_to_be_had_under_mturks_name_nor_the_other_way(inviter: Requester) -> None:
    mturk = "MTurkRequesterServiceV20170117"
    unknown = {"__type": "UnknownOperationException"}
    assert call(inviter, "GetSignUpLink", {}, prefix=mturk) == (400, unknown)
    assert call(inviter, "GetAccountBalance", {}) == (400, unknown)
    assert call(inviter, "GetAccountBalance", {}, prefix=mturk)[0] == 200


def test_without_a_good_signature_nobody_is_asked(inviter: Requester) -> None:
    target = {"X-Amz-Target": "ChainboxMarketplaceV1.GetSignUpLink"}
    reply = Client().post("/marketplace/api", b"{}", content_type=JSON, headers=target)
    assert json.loads(reply.content)["__type"] == "MissingAuthenticationTokenException"
    headers = sign(
        now=database_now(),
        url=URL,
        headers={"Content-Type": JSON, **target},
        body=b"{}",
        key_id=key_of(inviter).key_id,
        secret="0" * 40,
    )
    reply = Client().post("/marketplace/api", b"{}", content_type=JSON, headers=headers)
    assert json.loads(reply.content)["__type"] == "InvalidSignatureException"


def test_the_command_lets_a_requester_invite_and_takes_it_back() -> None:
    call_command("marketplace_requester", "lab", stdout=StringIO())
    assert not Requester.objects.get().may_invite
    for option, may in (("--may-invite", True), ("--no-may-invite", False)):
        call_command("marketplace_requester", "lab", option, stdout=StringIO())
        assert Requester.objects.get().may_invite is may
        call_command("marketplace_requester", "lab", stdout=StringIO())
        assert Requester.objects.get().may_invite is may
