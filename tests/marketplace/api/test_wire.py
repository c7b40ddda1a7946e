"""The API over real HTTP, called by an unmodified boto3."""

import http.client
import json
import logging
import re
from collections.abc import Iterator
from datetime import timedelta
from io import StringIO
from typing import Any
from urllib.parse import urlsplit

import boto3
import botocore
import pytest
from botocore.awsrequest import AWSPreparedRequest
from botocore.config import Config
from botocore.exceptions import ClientError
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from django.test.utils import override_settings
from pytest_django.live_server_helper import LiveServer

from common.clock import database_now
from marketplace.actions.requesters import access_key_issue, access_key_revoke, requester_create
from marketplace.api.wire import MOST_BYTES
from marketplace.models import HIT, AccessKey, Requester
from marketplace.rules.lifecycle import HITStatus
from tests.marketplace.api.signer import sign
from tests.marketplace.people import make_hit, make_requester

JSON = "application/x-amz-json-1.1"
TARGET = "MTurkRequesterServiceV20170117.GetAccountBalance"
REQUEST_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
MISMATCH = "The request signature we calculated does not match the signature you provided."
INVALID_TOKEN = "The security token included in the request is invalid."
HIT_ID = "3FTID4TN8LYCH8GR30YO1PFCULVLY0"


@pytest.fixture
def requester(transactional_db: None) -> Requester:
    return make_requester(12_345)


@pytest.fixture
def key(requester: Requester) -> AccessKey:
    return access_key_issue(requester=requester)


@pytest.fixture
def url(live_server: LiveServer) -> str:
    return f"{live_server.url}/marketplace/api"


def connect(url: str, key_id: str, secret: str, **options: Any) -> Any:
    config = Config(retries={"total_max_attempts": 1}, **options.pop("config", {}))
    return boto3.session.Session().client(
        "mturk",
        endpoint_url=url,
        region_name=options.pop("region_name", "us-east-1"),
        aws_access_key_id=key_id,
        aws_secret_access_key=secret,
        config=config,
        **options,
    )


@pytest.fixture
def mturk(url: str, key: AccessKey) -> Iterator[Any]:
    client = connect(url, key.key_id, key.secret)
    yield client
    client.close()


def refusal(client: Any, operation: str = "get_account_balance", **params: Any) -> dict[str, Any]:
    """The reply to a call that must fail, as botocore understands it."""
    with pytest.raises(ClientError) as caught:
        getattr(client, operation)(**params)
    reply: dict[str, Any] = {**caught.value.response}
    metadata = reply["ResponseMetadata"]
    assert REQUEST_ID.fullmatch(metadata["RequestId"])
    assert metadata["HTTPHeaders"]["content-type"] == JSON
    return reply


def code_and_message(reply: dict[str, Any]) -> tuple[str, str]:
    assert reply["ResponseMetadata"]["HTTPStatusCode"] == 400
    return reply["Error"]["Code"], reply["Error"].get("Message", "")


def change_when_sent(client: Any, **changes: Any) -> None:
    """Alter a request between its signing and its sending: `body`, or a header (None: lost)."""

    def change(request: AWSPreparedRequest, **_: Any) -> None:
        if (body := changes.get("body")) is not None:
            request.body = body
            request.headers["Content-Length"] = str(len(body))
        for name, value in changes.items():
            if name != "body":
                del request.headers[name.replace("_", "-")]
                if value is not None:
                    request.headers[name.replace("_", "-")] = value

    client.meta.events.register("before-send.mturk", change)


def test_the_balance(mturk: Any) -> None:
    reply = mturk.get_account_balance()
    metadata = reply["ResponseMetadata"]
    assert reply["AvailableBalance"] == "123.45"
    assert metadata["HTTPStatusCode"] == 200
    assert REQUEST_ID.fullmatch(metadata["RequestId"])
    assert metadata["HTTPHeaders"]["content-type"] == JSON
    assert "set-cookie" not in metadata["HTTPHeaders"]


def test_two_equal_calls_at_once_both_count(mturk: Any) -> None:
    assert mturk.get_account_balance()["AvailableBalance"] == "123.45"
    assert mturk.get_account_balance()["AvailableBalance"] == "123.45"


def test_any_region_and_a_slash_at_the_end(url: str, key: AccessKey) -> None:
    client = connect(f"{url}/", key.key_id, key.secret, region_name="eu-west-1")
    assert client.get_account_balance()["AvailableBalance"] == "123.45"
    client.close()


def test_a_program_needs_nothing_but_the_environment(
    url: str, transactional_db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = StringIO()
    with override_settings(MARKETPLACE_URL=url):
        call_command("marketplace_requester", "lab", "--funds", "100.5", stdout=out)
    for name, value in re.findall(r"^(AWS_\w+)=(.*)$", out.getvalue(), re.MULTILINE):
        monkeypatch.setenv(name, value)
    client = boto3.session.Session().client("mturk")
    assert client.get_account_balance()["AvailableBalance"] == "100.50"
    client.close()


def test_a_wrong_secret(url: str, key: AccessKey) -> None:
    client = connect(url, key.key_id, "x" * 40)
    code, message = code_and_message(refusal(client))
    assert code == "InvalidSignatureException"
    assert message.startswith(MISMATCH)


def test_an_unknown_key(url: str, key: AccessKey) -> None:
    client = connect(url, "AKIA0123456789ABCDEF", key.secret)
    assert code_and_message(refusal(client)) == ("UnrecognizedClientException", INVALID_TOKEN)


def test_a_revoked_key(url: str, mturk: Any, key: AccessKey, requester: Requester) -> None:
    other = access_key_issue(requester=requester)
    assert access_key_revoke(requester=requester, key_id=key.key_id)
    assert code_and_message(refusal(mturk)) == ("UnrecognizedClientException", INVALID_TOKEN)
    client = connect(url, other.key_id, other.secret)
    assert client.get_account_balance()["AvailableBalance"] == "123.45"


def test_a_requester_that_is_not_active(mturk: Any, requester: Requester) -> None:
    Requester.objects.filter(pk=requester.pk).update(is_active=False)
    assert code_and_message(refusal(mturk)) == ("UnrecognizedClientException", INVALID_TOKEN)


def test_a_session_token(url: str, key: AccessKey) -> None:
    client = connect(url, key.key_id, key.secret, aws_session_token="temporary")
    assert code_and_message(refusal(client)) == (
        "UnrecognizedClientException",
        INVALID_TOKEN.removesuffix("."),
    )


@pytest.mark.parametrize(
    ("minutes", "told"), [(-20, "Signature expired: "), (20, "Signature not yet current: ")]
)
def test_a_clock_that_is_wrong(
    mturk: Any, url: str, key: AccessKey, minutes: int, told: str
) -> None:
    headers = sign(
        now=database_now() + timedelta(minutes=minutes),
        url=f"{url}/",
        headers={"X-Amz-Target": TARGET, "Content-Type": JSON},
        body=b"{}",
        key_id=key.key_id,
        secret=key.secret,
    )
    wrong = {"Authorization": headers["Authorization"], "X_Amz_Date": headers["X-Amz-Date"]}
    change_when_sent(mturk, **wrong)
    code, message = code_and_message(refusal(mturk))
    assert code == "InvalidSignatureException"
    assert message.startswith(told + headers["X-Amz-Date"])
    assert message.endswith("15 min.)")


def test_a_body_that_was_changed_on_the_way(mturk: Any) -> None:
    change_when_sent(mturk, body=b'{"MaxResults": 1}')
    code, message = code_and_message(refusal(mturk))
    assert code == "InvalidSignatureException"
    assert message.startswith(MISMATCH)


def test_another_operation_on_the_way(mturk: Any) -> None:
    change_when_sent(mturk, X_Amz_Target=TARGET.replace("GetAccountBalance", "ListHITs"))
    assert code_and_message(refusal(mturk))[0] == "InvalidSignatureException"


def test_no_signature(url: str, key: AccessKey) -> None:
    client = connect(url, key.key_id, key.secret, config={"signature_version": botocore.UNSIGNED})
    assert code_and_message(refusal(client)) == (
        "MissingAuthenticationTokenException",
        "Request is missing Authentication Token",
    )


def test_half_a_signature(mturk: Any) -> None:
    change_when_sent(mturk, Authorization="AWS4-HMAC-SHA256 Credential=a/b/c/d/e")
    code, message = code_and_message(refusal(mturk))
    assert code == "IncompleteSignatureException"
    assert message.startswith("Authorization header requires 'Signature' parameter. ")


@pytest.mark.parametrize(
    "target",
    [
        None,
        "GetAccountBalance",
        "MTurkRequesterServiceV20170117.",
        "MTurkRequesterServiceV20170117.GetRich",
        "AnotherService.GetAccountBalance",
    ],
)
def test_an_unknown_target(mturk: Any, target: str | None) -> None:
    change_when_sent(mturk, X_Amz_Target=target)
    reply = refusal(mturk)
    assert code_and_message(reply)[0] == "UnknownOperationException"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b"\xff",
        b'{"a": NaN}',
        b"[" * 100_000,
        b'{"a": ' + b"1" * 5000 + b"}",
        '{"a": 1}'.encode("utf-16"),
    ],
    ids=lambda body: repr(body[:10]),
)
def test_a_body_that_is_no_json(mturk: Any, body: bytes) -> None:
    change_when_sent(mturk, body=body)
    assert code_and_message(refusal(mturk))[0] == "SerializationException"


def test_what_the_model_forbids(mturk: Any) -> None:
    assert code_and_message(refusal(mturk, "list_hits", MaxResults=500)) == (
        "ValidationException",
        "1 validation error detected: Value '500' at 'maxResults' failed to satisfy constraint: "
        "Member must have value less than or equal to 100",
    )
    assert code_and_message(refusal(mturk, "get_hit", HITId="bad id lower")) == (
        "ValidationException",
        "1 validation error detected: Value 'bad id lower' at 'hITId' failed to satisfy "
        "constraint: Member must satisfy regular expression pattern: ^[A-Z0-9]+$",
    )


def test_a_request_error_has_mturks_code_and_the_time(mturk: Any) -> None:
    reply = refusal(
        mturk, "reject_assignment", AssignmentId=HIT_ID, RequesterFeedback="no \x07 bells"
    )
    code, message = code_and_message(reply)
    assert code == "RequestError"
    assert reply["TurkErrorCode"] == "AWS.MechanicalTurk.InvalidParameterValue"
    assert reply["Message"] == message
    found = re.fullmatch(r'The value ".*" is not valid for the parameter \w+\. \((\d+)\)', message)
    assert found
    assert abs(int(found[1]) / 1000 - database_now().timestamp()) < 600
    with pytest.raises(mturk.exceptions.RequestError):
        mturk.reject_assignment(AssignmentId=HIT_ID, RequesterFeedback="\x07")


def test_a_fault_of_ours_is_logged_and_not_told(
    mturk: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE marketplace_account RENAME TO marketplace_lost")
    try:
        with caplog.at_level(logging.ERROR, "marketplace.api.wire"):
            reply = refusal(mturk)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE marketplace_lost RENAME TO marketplace_account")
    assert reply["ResponseMetadata"]["HTTPStatusCode"] == 500
    assert reply["Error"]["Code"] == "ServiceFault"
    assert reply["TurkErrorCode"] == "AWS.ServiceUnavailable"
    assert re.fullmatch(
        r"There was an error with this request\. \(System error code: 1001 \d+\)", reply["Message"]
    )
    [record] = [record for record in caplog.records if record.name == "marketplace.api.wire"]
    assert reply["ResponseMetadata"]["RequestId"] in record.getMessage()
    assert record.exc_info is not None
    assert "marketplace_account" in str(record.exc_info[1])


def test_what_is_due_is_done_before_the_answer(mturk: Any, requester: Requester) -> None:
    hit = make_hit(requester, assignments=5, reward=100)
    assert mturk.get_account_balance()["AvailableBalance"] == "118.45"
    HIT.objects.filter(pk=hit.pk).update(expires_at=database_now() - timedelta(seconds=1))
    assert mturk.get_account_balance()["AvailableBalance"] == "123.45"
    hit.refresh_from_db()
    assert hit.status == HITStatus.REVIEWABLE


def test_a_query_may_be_signed_too(live_server: LiveServer, key: AccessKey) -> None:
    url = f"{live_server.url}/marketplace/api/?b=2&a=%C3%A9%20x"
    headers = sign(
        now=database_now(),
        url=url,
        headers={"X-Amz-Target": TARGET, "Content-Type": JSON, "X-Note": "  two   blanks é "},
        body=b"{}",
        key_id=key.key_id,
        secret=key.secret,
    )
    parts = urlsplit(url)
    connected = http.client.HTTPConnection(str(parts.hostname), parts.port)
    raw = {name: value.encode() for name, value in headers.items()}
    connected.request("POST", f"{parts.path}?{parts.query}", b"{}", raw)
    reply = connected.getresponse()
    assert json.loads(reply.read())["AvailableBalance"] == "123.45"
    connected.close()


def test_anything_but_a_post_of_json_is_not_found(client: Client) -> None:
    for reply in [
        client.get("/marketplace/api/"),
        client.put("/marketplace/api/", b"{}", content_type=JSON),
        client.post("/marketplace/api/", b"{}", content_type="application/json"),
        client.post("/marketplace/api/", {"Action": "GetAccountBalance"}),
    ]:
        assert reply.status_code == 404
        assert b"<UnknownOperationException/>" in reply.content
        assert REQUEST_ID.fullmatch(reply.headers["x-amzn-RequestId"])


def test_a_body_that_is_too_large(client: Client) -> None:
    reply = client.post("/marketplace/api/", b" " * (MOST_BYTES + 1), content_type=JSON)
    assert reply.status_code == 413
    assert reply.content == b""
    assert client.post("/marketplace/api/", b" " * MOST_BYTES, content_type=JSON).status_code == 400


def test_no_page_token_is_asked_for(db: None) -> None:
    strict = Client(enforce_csrf_checks=True)
    reply = strict.post("/marketplace/api/", b"{}", content_type=JSON)
    assert json.loads(reply.content) == {"__type": "UnknownOperationException"}


# --- The command that makes requesters --------------------------------------------------------


def tell(*arguments: str) -> str:
    out = StringIO()
    call_command("marketplace_requester", *arguments, stdout=out)
    return out.getvalue()


def told(text: str, name: str) -> str:
    found = re.search(rf"^{name}=(.*)$", text, re.MULTILINE)
    assert found, f"{name} is not told"
    return found[1]


@pytest.mark.django_db
def test_the_command_makes_a_requester_once_and_tells_the_same_again() -> None:
    first = tell("lab", "--funds", "100.00")
    again = tell("lab")
    requester = Requester.objects.get()
    assert "made" in first
    assert "found" in again
    for text in (first, again):
        assert "# Available: 100.00" in text
        assert told(text, "AWS_ACCESS_KEY_ID") == requester.keys.get().key_id
        assert told(text, "AWS_SECRET_ACCESS_KEY") == requester.keys.get().secret
        assert told(text, "AWS_ENDPOINT_URL_MTURK").endswith("/marketplace/api")
        assert told(text, "MARKETPLACE_WEBHOOK_SECRET") == requester.webhook_secret
    assert len(told(first, "AWS_SECRET_ACCESS_KEY")) == 40
    assert "# Available: 150.00" in tell("lab", "--funds", "50")


@pytest.mark.django_db
def test_the_command_changes_keys() -> None:
    old = told(tell("lab"), "AWS_ACCESS_KEY_ID")
    text = tell("lab", "--new-key")
    new = told(text, "AWS_ACCESS_KEY_ID")
    assert new != old
    assert f"# Also valid: {old}" in text
    text = tell("lab", "--revoke", old)
    assert told(text, "AWS_ACCESS_KEY_ID") == new
    assert old not in text
    text = tell("lab", "--revoke", new)
    assert "AWS_ACCESS_KEY_ID" not in text
    assert "--new-key" in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [
        ["nobody", "--revoke", "AKIA0"],
        ["lab", "--revoke", "AKIA0"],
        ["lab", "--funds", "-5"],
        ["lab", "--funds", "0"],
        ["lab", "--funds", "lots"],
        ["lab", "--funds", "9" * 30],
        [""],
        [" lab "],
        ["x" * 101],
        ["two\nlines"],
    ],
)
def test_what_the_command_refuses_changes_nothing(arguments: list[str]) -> None:
    before = tell("lab")
    with pytest.raises(CommandError):
        tell(*arguments)
    assert Requester.objects.count() == 1
    assert tell("lab") == before.replace("made", "found")


@pytest.mark.django_db
def test_a_key_of_another_requester_cannot_be_revoked() -> None:
    mine, other = requester_create(name="mine"), requester_create(name="other")
    key_id = other.keys.get().key_id
    assert not access_key_revoke(requester=mine, key_id=key_id)
    assert AccessKey.objects.filter(key_id=key_id, revoked_at=None).exists()


@pytest.mark.django_db
def test_names_are_taken_once() -> None:
    requester_create(name="lab")
    with pytest.raises(ValueError, match="already"):
        requester_create(name="lab")
