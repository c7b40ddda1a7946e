"""The marketplace in this process: boto3's own requests, answered without a socket.

Signing, the wire format and the whole of Django's handling are real; only the network is not. That
makes thousands of calls affordable, and lets a test break the network where it likes.
"""

import json
from collections.abc import Callable, Iterator
from io import BytesIO
from typing import Any
from urllib.parse import urlsplit

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from django.test.client import ClientHandler

from annotation.crowd.client import MTurk, boto_client
from marketplace.models import AccessKey, Requester

ADDRESS = "http://localhost/marketplace/api"
# Gets the request and what carries it out; may do either more or less than that.
Network = Callable[[AWSPreparedRequest, Callable[[], AWSResponse]], AWSResponse]


class _Raw:
    def __init__(self, body: bytes) -> None:
        self.body = body

    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.body


def spoilt(request: AWSPreparedRequest, status: int, body: str) -> AWSResponse:
    """Return an answer that is not the marketplace's, such as a proxy gives."""
    kind = "text/html" if body.startswith("<") else "application/x-amz-json-1.1"
    headers: Any = {"Content-Type": kind}
    return AWSResponse(request.url, status, headers, _Raw(body.encode()))


def _plain(_: AWSPreparedRequest, carry_out: Callable[[], AWSResponse]) -> AWSResponse:
    return carry_out()


class InProcess:
    """Answers a client's requests; `network` may be replaced by one that fails."""

    def __init__(self) -> None:
        self.network: Network = _plain
        self.operations: list[str] = []
        self._handler = ClientHandler(enforce_csrf_checks=True)

    def send(self, request: AWSPreparedRequest, **_: Any) -> AWSResponse:
        """Take the place of the HTTP session: a handler of botocore's `before-send`."""
        return self.network(request, lambda: self._answer(request))

    def _answer(self, request: AWSPreparedRequest) -> AWSResponse:
        self.operations.append(operation_of(request))
        response: Any = self._handler(_environ(request))
        headers: Any = dict(response.headers)
        return AWSResponse(request.url, response.status_code, headers, _Raw(response.content))


def in_process_client(requester: Requester) -> tuple[MTurk, InProcess]:
    """Return a client of the requester, and the transport that answers it."""
    key = AccessKey.objects.create(requester=requester)
    boto = boto_client(ADDRESS, key.key_id, key.secret, tries=1)
    server = InProcess()
    boto.meta.events.register("before-send.mturk", server.send)
    return MTurk(boto), server


def operation_of(request: AWSPreparedRequest) -> str:
    return _text(request.headers["X-Amz-Target"]).rpartition(".")[2]


def params_of(request: AWSPreparedRequest) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(_body(request) or b"{}")
    return found


def _body(request: AWSPreparedRequest) -> bytes:
    body: Any = request.body or b""
    return body.encode() if isinstance(body, str) else bytes(body)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _environ(request: AWSPreparedRequest) -> dict[str, Any]:
    parts = urlsplit(request.url)
    environ: dict[str, Any] = {
        "REQUEST_METHOD": request.method,
        "PATH_INFO": parts.path,
        "QUERY_STRING": parts.query,
        "SERVER_NAME": "localhost",
        "SERVER_PORT": "80",
        "SERVER_PROTOCOL": "HTTP/1.1",
        "REMOTE_ADDR": "127.0.0.1",
        "HTTP_HOST": parts.netloc,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": parts.scheme,
        "wsgi.input": BytesIO(_body(request)),
        "wsgi.errors": BytesIO(),
        "wsgi.multiprocess": False,
        "wsgi.multithread": False,
        "wsgi.run_once": False,
    }
    for name, value in request.headers.items():
        key = name.upper().replace("-", "_")
        environ[key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}"] = _text(value)
    return environ
