"""Our own marketplace as a recruiter: invitations and the open sign-up link, over HTTP."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeVar

import msgspec
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import BotoCoreError, HTTPClientError
from botocore.httpsession import URLLib3Session
from botocore.utils import get_environ_proxies
from django.conf import settings

from annotation import models
from annotation.crowd.recruiters.recruiter import Invitation, Link, RecruitingError

_PREFIX = "ChainboxMarketplaceV1"
_SERVICE = "mturk-requester"
_TIMEOUT_SECONDS = 30
# The marketplace keeps this much of a note.
_LONGEST_NOTE = 100

T = TypeVar("T")


class _Invitation(msgspec.Struct, frozen=True, rename="pascal"):
    places_left: int
    expiration: datetime | None = None
    note: str = ""


class _Created(msgspec.Struct, frozen=True):
    invitation: _Invitation = msgspec.field(name="Invitation")
    sign_up_url: str = msgspec.field(name="SignUpURL")


class _Listed(msgspec.Struct, frozen=True, rename="pascal"):
    invitations: tuple[_Invitation, ...]
    next_token: str = ""


class _SignUp(msgspec.Struct, frozen=True):
    sign_up_url: str = msgspec.field(name="SignUpURL")
    is_open: bool = msgspec.field(name="IsOpen")


class _Refusal(msgspec.Struct, frozen=True):
    kind: str = msgspec.field(name="__type", default="")
    message: str = msgspec.field(name="Message", default="")
    words: str = msgspec.field(name="message", default="")


class MarketplaceRecruiter:
    """The marketplace that the settings name."""

    name = "marketplace"

    def __init__(self, *, endpoint: str, key_id: str, secret: str, region: str) -> None:
        self._endpoint = endpoint
        self._signer = SigV4Auth(Credentials(key_id, secret), _SERVICE, region)

    def links(self, campaign: models.Campaign) -> Sequence[Link]:
        """Return the open sign-up link, if sign-up is open to everybody."""
        found = self._call("GetSignUpLink", {}, _SignUp)
        if not found.is_open:
            return ()
        return (Link(url=found.sign_up_url),)

    def invite(self, campaign: models.Campaign, *, places: int, days: int, note: str) -> Link:
        """Make an invitation whose note names the campaign; its link is shown only this once."""
        noted = f"{campaign.name}: {note}" if note else campaign.name
        asked = {"Places": places, "Days": days, "Note": noted[:_LONGEST_NOTE]}
        made = self._call("CreateInvitation", asked, _Created)
        return Link(
            url=made.sign_up_url,
            places=made.invitation.places_left,
            until=made.invitation.expiration,
        )

    def invitations(self) -> Sequence[Invitation]:
        """Return all invitations made with our key, newest first."""
        found: list[Invitation] = []
        token: dict[str, str] = {}
        while True:
            page = self._call("ListInvitations", {"MaxResults": 100, **token}, _Listed)
            found += (
                Invitation(one.places_left, one.expiration, one.note) for one in page.invitations
            )
            if not page.next_token:
                return found
            token = {"NextToken": page.next_token}

    def _call(self, operation: str, params: dict[str, Any], result: type[T]) -> T:
        request = AWSRequest(
            method="POST",
            url=self._endpoint,
            headers={
                "Content-Type": "application/x-amz-json-1.1",
                "X-Amz-Target": f"{_PREFIX}.{operation}",
            },
            data=json.dumps(params).encode(),
        )
        self._signer.add_auth(request)
        session = URLLib3Session(
            proxies=get_environ_proxies(self._endpoint), timeout=_TIMEOUT_SECONDS
        )
        try:
            reply = session.send(request.prepare())
            status, body = reply.status_code, reply.content
        except (HTTPClientError, BotoCoreError) as error:
            raise RecruitingError(f"The marketplace cannot be reached: {error}") from None
        finally:
            session.close()
        if status != 200:
            raise RecruitingError(_refusal(status, body))
        try:
            return msgspec.convert(json.loads(body), result, strict=False)
        except (ValueError, UnicodeDecodeError):
            raise RecruitingError(
                f"{self._endpoint} gave an answer to {operation} that cannot be read. Check that "
                "CHAINBOX_CROWD_ENDPOINT is the address of the marketplace's API."
            ) from None


def marketplace_recruiter() -> MarketplaceRecruiter:
    """Return the recruiter of the marketplace that the settings name (RecruitingError)."""
    if not settings.CHAINBOX_CROWD_ENDPOINT or not settings.CHAINBOX_CROWD_KEY_ID:
        raise RecruitingError(
            "No marketplace is set. Set CHAINBOX_CROWD_ENDPOINT, CHAINBOX_CROWD_KEY_ID and "
            "CHAINBOX_CROWD_SECRET; `make run` does so by itself."
        )
    return MarketplaceRecruiter(
        endpoint=settings.CHAINBOX_CROWD_ENDPOINT,
        key_id=settings.CHAINBOX_CROWD_KEY_ID,
        secret=settings.CHAINBOX_CROWD_SECRET,
        region=settings.CHAINBOX_CROWD_REGION,
    )


def _refusal(status: int, body: bytes) -> str:
    try:
        told = msgspec.json.decode(body, type=_Refusal)
    except (msgspec.DecodeError, UnicodeDecodeError):
        told = _Refusal()
    if told.kind == "UnknownOperationException":
        return "The marketplace at CHAINBOX_CROWD_ENDPOINT cannot invite people through its API."
    words = told.message or told.words or told.kind or "no reason given"
    return f"The marketplace refused it ({status}): {words}"
