"""AWS Signature Version 4, checked in the order and words of AWS's JSON services.

The check does not remember signatures. A signature's time has whole seconds, so two equal calls
within one second rightly have equal signatures; a memory would refuse honest clients. AWS keeps
none either. A request that must not happen twice carries a UniqueRequestToken.
"""

import hashlib
import hmac
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, unquote_to_bytes

import msgspec

from marketplace.api.errors import FrontError

ALGORITHM = "AWS4-HMAC-SHA256"
SERVICE = "mturk-requester"
TERMINATOR = "aws4_request"
WINDOW = timedelta(minutes=15)

_BASIC_TIME = "%Y%m%dT%H%M%SZ"


class SignedRequest(msgspec.Struct, frozen=True):
    """A request as it was sent."""

    method: str
    # Path and query exactly as in the request line, still percent-encoded.
    path: str
    query: str
    # Names in lower case. Values as WSGI gives them: each character stands for a byte.
    headers: Mapping[str, str]
    body: bytes


class Authorization(msgspec.Struct, frozen=True):
    """The contents of the Authorization header."""

    key_id: str
    date: str
    region: str
    service: str
    terminator: str
    signed_headers: tuple[str, ...]
    signature: str
    # The signing time, in ISO 8601's basic format.
    time: str

    @property
    def scope(self) -> str:
        return f"{self.date}/{self.region}/{self.service}/{self.terminator}"


def verify(request: SignedRequest, *, secret_of: Callable[[str], str | None], now: datetime) -> str:
    """Return the access key id that signed the request; `secret_of` gives a valid key's secret.

    FrontError: the request is not signed, or not correctly.
    """
    authorization, signed_at = read_authorization(request.headers)
    _check_time(authorization.time, signed_at, now)
    _check_scope(authorization)
    secret = secret_of(authorization.key_id)
    if secret is None:
        raise FrontError(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    # If a signed header did not arrive, there is nothing to compare with.
    arrived = all(name in request.headers for name in authorization.signed_headers)
    if not arrived or not hmac.compare_digest(
        signature(request, authorization, secret).encode(), authorization.signature.encode()
    ):
        raise FrontError(
            "InvalidSignatureException",
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method. "
            "Consult the service documentation for details.",
        )
    if "x-amz-security-token" in request.headers:
        # Tokens belong to temporary keys, which this marketplace does not give out.
        raise FrontError(
            "UnrecognizedClientException", "The security token included in the request is invalid"
        )
    return authorization.key_id


def read_authorization(headers: Mapping[str, str]) -> tuple[Authorization, datetime]:
    """Return the Authorization header's parts, and the signing time."""
    header = headers.get("authorization", "").strip()
    if not header.startswith("AWS4-"):
        raise FrontError(
            "MissingAuthenticationTokenException", "Request is missing Authentication Token"
        )
    algorithm, _, rest = header.partition(" ")
    parts = {
        name.strip(): value.strip()
        for name, _, value in (part.partition("=") for part in rest.split(","))
    }
    time = headers.get("x-amz-date") or _basic(headers.get("date", ""))
    missing = [
        f"Authorization header requires '{name}' parameter. "
        for name in ("Credential", "Signature", "SignedHeaders")
        if not parts.get(name)
    ]
    if not time:
        missing.append(
            "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        )
    if missing:
        raise _incomplete("".join(missing) + f"Authorization={header}")
    signed_at = _read_time(time)
    if algorithm != ALGORITHM:
        raise _incomplete(
            f"Unsupported AWS 'algorithm': '{algorithm}' (only {ALGORITHM} for now). "
        )
    credential = parts["Credential"].split("/")
    if len(credential) != 5:
        raise _incomplete(
            "Credential must have exactly 5 slash-delimited elements, "
            f"e.g. keyid/date/region/service/term, got '{parts['Credential']}'"
        )
    key_id, date, region, service, terminator = credential
    authorization = Authorization(
        key_id=key_id,
        date=date,
        region=region,
        service=service,
        terminator=terminator,
        signed_headers=tuple(sorted({n.lower() for n in parts["SignedHeaders"].split(";") if n})),
        signature=parts["Signature"],
        time=time,
    )
    return authorization, signed_at


def signature(request: SignedRequest, authorization: Authorization, secret: str) -> str:
    """Return the signature of this request under the secret."""
    to_sign = "\n".join(
        [
            ALGORITHM,
            authorization.time,
            authorization.scope,
            hashlib.sha256(canonical_request(request, authorization.signed_headers)).hexdigest(),
        ]
    )
    key = f"AWS4{secret}".encode()
    for step in authorization.scope.split("/"):
        key = _keyed(key, step)
    return _keyed(key, to_sign).hex()


def canonical_request(request: SignedRequest, signed_headers: tuple[str, ...]) -> bytes:
    """Return the canonical form of a request, which both sides sign."""
    lines = [
        request.method,
        canonical_path(request.path),
        canonical_query(request.query),
        *(f"{name}:{_spaced_once(request.headers[name])}" for name in signed_headers),
        "",
        ";".join(signed_headers),
        # Hash the body that arrived; the x-amz-content-sha256 header proves nothing.
        hashlib.sha256(request.body).hexdigest(),
    ]
    return "\n".join(lines).encode("latin-1")


def canonical_path(path: str) -> str:
    """Resolve dots and repeated slashes, then encode the already encoded path once more.

    >>> canonical_path("/a/./b//../c%20d/")
    '/a/c%2520d/'
    """
    kept: list[str] = []
    for segment in path.split("/"):
        if segment == "..":
            del kept[-1:]
        elif segment not in {"", "."}:
            kept.append(segment)
    ending = "/" if kept and path.endswith("/") else ""
    return quote("/" + "/".join(kept) + ending, safe="/~")


def canonical_query(query: str) -> str:
    """Sort the parameters by name and value, each in its canonical encoding.

    >>> canonical_query("b=2&a=%7e&b=10&c")
    'a=~&b=10&b=2&c='
    """
    pairs = (part.partition("=") for part in query.split("&") if part)
    return "&".join(
        f"{name}={value}" for name, value in sorted((_encoded(n), _encoded(v)) for n, _, v in pairs)
    )


def _check_time(text: str, signed_at: datetime, now: datetime) -> None:
    earliest, latest = now - WINDOW, now + WINDOW
    minutes = int(WINDOW.total_seconds()) // 60
    # Signing times have whole seconds, so the window must not be narrower by a fraction of one.
    if signed_at < earliest.replace(microsecond=0):
        raise _invalid(
            f"Signature expired: {text} is now earlier than {_write_time(earliest)} "
            f"({_write_time(now)} - {minutes} min.)"
        )
    if signed_at > latest:
        raise _invalid(
            f"Signature not yet current: {text} is still later than {_write_time(latest)} "
            f"({_write_time(now)} + {minutes} min.)"
        )


def _check_scope(authorization: Authorization) -> None:
    # Without the host, somebody could replay a request to another server here. Without the target,
    # somebody could swap the operation.
    for name, written in (("host", "Host"), ("x-amz-target", "X-Amz-Target")):
        if name not in authorization.signed_headers:
            raise _invalid(f"'{written}' must be a 'SignedHeader' in the AWS Authorization.")
    wrong = ""
    if not authorization.region:
        # Clients send us-east-1 or any region they are configured with: there is only one here.
        wrong += f"Credential should be scoped to a valid region, not '{authorization.region}'. "
    if authorization.service != SERVICE:
        wrong += f"Credential should be scoped to correct service: '{SERVICE}'. "
    if authorization.terminator != TERMINATOR:
        wrong += (
            "Credential should be scoped with a valid terminator: "
            f"'{TERMINATOR}', not '{authorization.terminator}'. "
        )
    if authorization.date != authorization.time[:8]:
        wrong += (
            "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
            f"HTTP: '{authorization.date}' != '{authorization.time[:8]}', "
            f"from '{authorization.time}'."
        )
    if wrong:
        raise _invalid(wrong)


def _read_time(text: str) -> datetime:
    try:
        if re.fullmatch(r"[0-9]{8}T[0-9]{6}Z", text):
            return datetime.strptime(text, _BASIC_TIME).replace(tzinfo=UTC)
    except ValueError:
        pass  # digits that are not a date
    raise _incomplete(
        f"Date must be in ISO-8601 'basic format'. Got '{text}'. "
        "See http://en.wikipedia.org/wiki/ISO_8601"
    )


def _basic(date: str) -> str:
    """Return the basic form of an HTTP Date header; return anything else unchanged."""
    try:
        time = datetime.strptime(re.sub(r" [-+]0000$", " GMT", date), "%a, %d %b %Y %H:%M:%S GMT")
        return time.strftime(_BASIC_TIME)
    except ValueError:
        return date


def _write_time(time: datetime) -> str:
    return time.astimezone(UTC).strftime(_BASIC_TIME)


def _spaced_once(value: str) -> str:
    # Not str.split(): it would also split at bytes that are parts of UTF-8 characters.
    return re.sub(r"[ \t]+", " ", value.strip(" \t"))


def _encoded(text: str) -> str:
    return quote(unquote_to_bytes(text), safe="-_.~")


def _keyed(key: bytes, message: str) -> bytes:
    return hmac.new(key, message.encode("latin-1"), hashlib.sha256).digest()


def _incomplete(message: str) -> FrontError:
    return FrontError("IncompleteSignatureException", message)


def _invalid(message: str) -> FrontError:
    return FrontError("InvalidSignatureException", message)
