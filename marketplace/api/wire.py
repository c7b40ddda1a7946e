"""MTurk's API over HTTP: one address, JSON 1.1, an operation named by a header."""

import json
import logging
import uuid
from datetime import datetime
from typing import Any
from urllib.parse import quote

from botocore.model import OperationModel
from django.http import HttpRequest, HttpResponse
from django.views.decorators.csrf import csrf_exempt

from common.clock import database_now
from marketplace.actions.sweep import sweep
from marketplace.api.errors import FrontError, not_serialisable
from marketplace.api.operations import EXTENSION, OPERATIONS
from marketplace.api.results import written
from marketplace.api.service import is_extension, operation_named
from marketplace.api.sigv4 import SignedRequest, verify
from marketplace.api.validation import unknown_refuse, validated
from marketplace.models import AccessKey, Requester
from marketplace.rules.errors import RequestError
from marketplace.selectors.keys import valid_key

CONTENT_TYPE = "application/x-amz-json-1.1"
# Room for several times two documents of 64 KiB with every character escaped.
MOST_BYTES = 1 << 20

logger = logging.getLogger(__name__)


@csrf_exempt  # there are no cookies here: the signature identifies the caller
def api(request: HttpRequest) -> HttpResponse:
    """Answer one call of the API."""
    response = _answer(request, request_id := str(uuid.uuid4()))
    response.headers["x-amzn-RequestId"] = request_id
    return response


def _answer(request: HttpRequest, request_id: str) -> HttpResponse:
    if request.method != "POST" or request.content_type != CONTENT_TYPE:
        return HttpResponse("<UnknownOperationException/>\n", status=404, content_type="text/xml")
    # Check this before reading the body. A body without a length counts as empty.
    length = request.META.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or len(length) > 9 or int(length) > MOST_BYTES:
        return HttpResponse(status=413)
    now = None
    try:
        body = _read(request.body)
        operation = _operation(request)
        now = database_now()
        caller = _caller(request, now)
        operations = OPERATIONS
        if is_extension(operation):
            # No old clients call this service, so unknown members are refused.
            unknown_refuse(operation, body)
            operations = EXTENSION
        params = validated(operation, body)
        # First do whatever has become due, so that every state is current.
        sweep(most=50)
        return _json(200, written(operation, operations[operation.name](caller, params)))
    except FrontError as error:
        return _json(400, _front_error(error))
    except RequestError as error:
        return _json(
            400,
            {
                "__type": "RequestError",
                "Message": f"{error} ({_milliseconds(now or database_now())})",
                "TurkErrorCode": error.turk_error_code,
            },
        )
    except Exception:
        # The cause is for the log only; clients try again after a 500.
        logger.exception("API request %s failed", request_id)
        milliseconds = f" {_milliseconds(now)}" if now else ""
        return _json(
            500,
            {
                "__type": "ServiceFault",
                "Message": "There was an error with this request. "
                f"(System error code: 1001{milliseconds})",
                "TurkErrorCode": "AWS.ServiceUnavailable",
            },
        )


def _read(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body.decode(), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise not_serialisable() from None
    if not isinstance(value, dict):
        raise not_serialisable()
    return value


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON")


def _operation(request: HttpRequest) -> OperationModel:
    operation = operation_named(request.headers.get("X-Amz-Target", ""))
    if operation is None:
        raise FrontError("UnknownOperationException")
    return operation


def _caller(request: HttpRequest, now: datetime) -> Requester:
    signed = SignedRequest(
        method=request.method or "",
        # Django decodes the path; ours needs no encoding, so this restores it.
        path=quote(request.path, safe="/~"),
        query=request.META.get("QUERY_STRING", ""),
        headers={name.lower(): value for name, value in request.headers.items()},
        body=request.body,
    )
    found: dict[str, AccessKey] = {}

    def secret_of(key_id: str) -> str | None:
        key = valid_key(key_id)
        if key is None:
            return None
        found[key_id] = key
        return key.secret

    return found[verify(signed, secret_of=secret_of, now=now)].requester


def _front_error(error: FrontError) -> dict[str, Any]:
    content = {"__type": error.kind}
    if error.message:
        content["Message" if error.capital else "message"] = error.message
    return content


def _json(status: int, content: dict[str, Any] | None) -> HttpResponse:
    text = "" if content is None else json.dumps(content)
    return HttpResponse(text, status=status, content_type=CONTENT_TYPE)


def _milliseconds(time: datetime) -> int:
    return int(time.timestamp() * 1000)
