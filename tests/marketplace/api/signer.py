"""Requests that botocore itself signs, for any time: the reference for our own check."""

from collections.abc import Mapping
from datetime import datetime

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

KEY_ID = "AKIAABCDEFGHIJKLMNOP"
SECRET = "not/a+secret/at+all/but/forty/characters"


class SignerAt(SigV4Auth):
    """botocore's signer, with a clock of its own."""

    def __init__(self, credentials: Credentials, *, now: datetime, scope: tuple[str, str]) -> None:
        service, region = scope
        super().__init__(credentials, service, region)
        self._now = now

    def _modify_request_before_signing(self, request: AWSRequest) -> None:
        request.context["timestamp"] = self._now.strftime("%Y%m%dT%H%M%SZ")
        super()._modify_request_before_signing(request)  # type: ignore[misc]  # not in the stubs


def sign(
    *,
    now: datetime,
    url: str,
    headers: Mapping[str, str],
    body: bytes,
    method: str = "POST",
    key_id: str = KEY_ID,
    secret: str = SECRET,
    token: str | None = None,
    scope: tuple[str, str] = ("mturk-requester", "us-east-1"),
) -> dict[str, str]:
    """Return the headers of the signed request, the host among them."""
    request = AWSRequest(method=method, url=url, headers=dict(headers), data=body)
    signer = SignerAt(Credentials(key_id, secret, token), now=now, scope=scope)
    signer.add_auth(request)
    host = signer.headers_to_sign(request)["host"]
    return {**dict(request.headers.items()), "Host": host}
