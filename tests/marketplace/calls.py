"""Calls of the API in tests: an unmodified client, and a record of what it was told.

`@operation("CreateHIT")` on a test says that it drives the operation to success,
`@operation("CreateHIT", "HitAlreadyExists")` that it meets this error code. The record shows
whether that is so, and `test_operation_coverage.py` whether every operation has such tests.
"""

import socket
from collections.abc import Callable
from typing import Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from marketplace.models import AccessKey, Requester

PREFIX = "AWS.MechanicalTurk."
# None: the call succeeded.
Call = tuple[str, str | None]

_session = boto3.Session()


def operation(name: str, *codes: str) -> pytest.MarkDecorator:
    """Mark a test as driving an operation, to success or to these error codes."""
    return pytest.mark.operation(name, *codes)


def client_of(requester: Requester, url: str, record: list[Call]) -> Any:
    """Return boto3's own client for a requester; all it does is noted in the record."""
    key = AccessKey.objects.create(requester=requester)
    client = _session.client(
        "mturk",
        endpoint_url=f"{url}/marketplace/api",
        region_name="us-east-1",
        aws_access_key_id=key.key_id,
        aws_secret_access_key=key.secret,
        config=Config(retries={"max_attempts": 0}),
    )

    def note(parsed: dict[str, Any], model: Any, **_: Any) -> None:
        error = parsed.get("Error")
        code = parsed.get("TurkErrorCode", error["Code"]).removeprefix(PREFIX) if error else None
        record.append((model.name, code))

    client.meta.events.register("after-call.mturk", note)
    return client


def refusal(call: Callable[..., Any], **params: Any) -> tuple[str, str]:
    """Make a call that fails; return its TurkErrorCode without the prefix, and its message."""
    with pytest.raises(ClientError) as caught:
        call(**params)
    response: Any = caught.value.response
    assert response["Error"]["Code"] == "RequestError"
    assert response["ResponseMetadata"]["HTTPStatusCode"] == 400
    assert response["TurkErrorCode"].startswith(PREFIX)
    return response["TurkErrorCode"].removeprefix(PREFIX), response["Message"]


def pages(call: Callable[..., Any], key: str, **params: Any) -> list[list[Any]]:
    """Read a listing as old scripts do: to the first page with nothing on it."""
    found: list[list[Any]] = []
    token: dict[str, str] = {}
    while True:
        answer = call(**params, **token)
        assert answer["NumResults"] == len(answer[key])
        if not answer["NumResults"]:
            assert "NextToken" not in answer
            return found
        found.append(answer[key])
        assert len(answer["NextToken"]) <= 255
        assert answer["NextToken"] != token.get("NextToken")
        token = {"NextToken": answer["NextToken"]}


def hang_up(client: Any) -> None:
    """End a client's connections now. Closing alone leaves them open while anything, such as the
    log record of a refused request, still holds on to them."""
    manager = client._endpoint.http_session._manager
    for key in list(manager.pools.keys()):
        for connection in manager.pools[key].pool.queue:
            if connection is not None and connection.sock is not None:
                connection.sock.shutdown(socket.SHUT_RDWR)
    client.close()
