"""Our check of signatures against botocore's own signer."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from marketplace.api.errors import FrontError
from marketplace.api.sigv4 import SignedRequest, canonical_path, canonical_query, verify
from tests.marketplace.api.signer import KEY_ID, SECRET, sign

NOW = datetime(2026, 11, 16, 3, 0, 0, 250_000, tzinfo=UTC)
TARGET = {"X-Amz-Target": "MTurkRequesterServiceV20170117.GetAccountBalance"}
URL = "http://localhost:8000/marketplace/api/"
MISMATCH = (
    "The request signature we calculated does not match the signature you provided. Check your "
    "AWS Secret Access Key and signing method. Consult the service documentation for details."
)


def secret_of(key_id: str) -> str | None:
    return SECRET if key_id == KEY_ID else None


def arrived(url: str, headers: dict[str, str], body: bytes, method: str = "POST") -> SignedRequest:
    """A request as a server sees it, with header values as WSGI gives them."""
    parts = urlsplit(url)
    seen = {name.lower(): value.encode().decode("latin-1") for name, value in headers.items()}
    return SignedRequest(method, parts.path, parts.query, seen, body)


def request(
    *, at: datetime = NOW, without: str = "", body: bytes = b"{}", **changes: Any
) -> SignedRequest:
    """A good request by botocore; `changes` go to the signer, header `without` is lost after."""
    options: dict[str, Any] = {"url": URL, "headers": TARGET, **changes}
    headers = sign(now=at, body=body, **options)
    kept = {name: value for name, value in headers.items() if name.lower() != without}
    return arrived(options["url"], kept, body, options.get("method", "POST"))


def altered(original: SignedRequest, **headers: str) -> SignedRequest:
    changed = {name.replace("_", "-"): value for name, value in headers.items()}
    return SignedRequest(
        original.method,
        original.path,
        original.query,
        {**original.headers, **changed},
        original.body,
    )


def refusal(signed: SignedRequest, now: datetime = NOW) -> tuple[str, str]:
    with pytest.raises(FrontError) as caught:
        verify(signed, secret_of=secret_of, now=now)
    return caught.value.kind, caught.value.message


def test_a_request_signed_by_botocore_is_accepted() -> None:
    assert verify(request(), secret_of=secret_of, now=NOW) == KEY_ID


@pytest.mark.parametrize("region", ["us-east-1", "eu-west-3", "anywhere"])
def test_any_region_will_do(region: str) -> None:
    signed = request(scope=("mturk-requester", region))
    assert verify(signed, secret_of=secret_of, now=NOW) == KEY_ID


def test_the_date_header_of_http_will_do() -> None:
    signed = request(headers={**TARGET, "Date": "now"})
    assert "x-amz-date" not in signed.headers
    assert verify(signed, secret_of=secret_of, now=NOW) == KEY_ID


def test_the_same_request_again_is_accepted() -> None:
    signed = request()
    for _ in range(2):
        assert verify(signed, secret_of=secret_of, now=NOW) == KEY_ID


token_text = st.text("abcdefghijklmnopqrstuvwxyz0123456789-", min_size=1, max_size=12)
# Visible characters and single blanks between; white space beyond ASCII is read differently by
# botocore and by others.
value_text = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0x24F, exclude_categories=["Cc", "Zs"])
    | st.just(" "),
    max_size=20,
)
segment = st.text(max_size=6).map(lambda text: quote(text.encode("utf-8", "replace"), safe=""))
segments = st.lists(segment | st.sampled_from([".", "..", ""]), max_size=5)
queries = st.lists(
    st.tuples(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5),
        st.text(st.characters(exclude_categories=["Cs"]), max_size=5),
    ),
    max_size=4,
)


@given(
    body=st.binary(max_size=200),
    headers=st.dictionaries(token_text.map("x-".__add__), value_text, max_size=4),
    path=segments,
    query=queries,
    method=st.sampled_from(["POST", "GET", "PUT"]),
    seconds=st.integers(-900, 899),
)
def test_agrees_with_botocore_on_any_request(
    body: bytes,
    headers: dict[str, str],
    path: list[str],
    query: list[tuple[str, str]],
    method: str,
    seconds: int,
) -> None:
    url = "http://localhost:8000/" + "/".join(path)
    if query:
        url += "?" + urlencode(query, quote_via=quote, safe="~")
    signed = request(
        url=url,
        headers={**headers, **TARGET},
        body=body,
        method=method,
        at=NOW + timedelta(seconds=seconds),
    )
    assert verify(signed, secret_of=secret_of, now=NOW) == KEY_ID


@given(body=st.binary(max_size=50), other=st.binary(max_size=50))
def test_another_body_does_not_pass(body: bytes, other: bytes) -> None:
    good = request(body=body)
    swapped = SignedRequest(good.method, good.path, good.query, good.headers, other)
    if body == other:
        assert verify(swapped, secret_of=secret_of, now=NOW) == KEY_ID
    else:
        assert refusal(swapped) == ("InvalidSignatureException", MISMATCH)


def test_the_header_with_the_bodys_hash_is_not_believed() -> None:
    unsigned = request(headers={**TARGET, "X-Amz-Content-SHA256": "UNSIGNED-PAYLOAD"})
    assert refusal(unsigned) == ("InvalidSignatureException", MISMATCH)


@pytest.mark.parametrize(
    "change",
    [
        {"x_amz_target": "MTurkRequesterServiceV20170117.DeleteHIT"},
        {"host": "elsewhere.example.org"},
        {"x_amz_date": "20261116T030001Z"},
    ],
)
def test_another_header_does_not_pass(change: dict[str, str]) -> None:
    assert refusal(altered(request(), **change)) == ("InvalidSignatureException", MISMATCH)


def test_another_path_query_or_method_does_not_pass() -> None:
    good = request()
    for method, path, query in [
        ("PUT", good.path, good.query),
        (good.method, "/other/", good.query),
        (good.method, good.path, "a=1"),
    ]:
        changed = SignedRequest(method, path, query, good.headers, good.body)
        assert refusal(changed) == ("InvalidSignatureException", MISMATCH)


def test_a_signed_header_that_is_lost_does_not_pass() -> None:
    lost = request(headers={**TARGET, "X-Other": ""}, without="x-other")
    assert refusal(lost) == ("InvalidSignatureException", MISMATCH)


def test_a_wrong_secret() -> None:
    assert refusal(request(secret="another")) == ("InvalidSignatureException", MISMATCH)


def test_an_unknown_key() -> None:
    assert refusal(request(key_id="AKIANOBODY")) == (
        "UnrecognizedClientException",
        "The security token included in the request is invalid.",
    )


def test_a_session_token() -> None:
    assert refusal(request(token="temporary")) == (
        "UnrecognizedClientException",
        "The security token included in the request is invalid",
    )


@pytest.mark.parametrize("header", [None, "", "Basic eDp5", "Bearer x"])
def test_no_signature_at_all(header: str | None) -> None:
    plain = request(without="authorization")
    if header is not None:
        plain = altered(plain, authorization=header)
    assert refusal(plain) == (
        "MissingAuthenticationTokenException",
        "Request is missing Authentication Token",
    )


def test_parts_that_are_missing_are_all_named() -> None:
    bare = altered(request(without="x-amz-date"), authorization="AWS4-HMAC-SHA256 Other=1")
    assert refusal(bare) == (
        "IncompleteSignatureException",
        "Authorization header requires 'Credential' parameter. "
        "Authorization header requires 'Signature' parameter. "
        "Authorization header requires 'SignedHeaders' parameter. "
        "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. "
        "Authorization=AWS4-HMAC-SHA256 Other=1",
    )
    one = request()
    header = re.sub(r", Signature=\w+", "", one.headers["authorization"])
    assert refusal(altered(one, authorization=header)) == (
        "IncompleteSignatureException",
        f"Authorization header requires 'Signature' parameter. Authorization={header}",
    )


@pytest.mark.parametrize("date", ["201", "20261399T000000Z", "2026-11-16T03:00:00Z"])
def test_a_date_that_is_none(date: str) -> None:
    assert refusal(altered(request(), x_amz_date=date)) == (
        "IncompleteSignatureException",
        f"Date must be in ISO-8601 'basic format'. Got '{date}'. "
        "See http://en.wikipedia.org/wiki/ISO_8601",
    )


def test_another_algorithm() -> None:
    one = request()
    header = one.headers["authorization"].replace("AWS4-HMAC-SHA256", "AWS4-ECDSA-P256-SHA256")
    assert refusal(altered(one, authorization=header)) == (
        "IncompleteSignatureException",
        "Unsupported AWS 'algorithm': 'AWS4-ECDSA-P256-SHA256' (only AWS4-HMAC-SHA256 for now). ",
    )


def test_a_credential_of_four_parts() -> None:
    one = request()
    header = one.headers["authorization"].replace("/us-east-1", "")
    assert refusal(altered(one, authorization=header)) == (
        "IncompleteSignatureException",
        "Credential must have exactly 5 slash-delimited elements, e.g. "
        f"keyid/date/region/service/term, got '{KEY_ID}/20261116/mturk-requester/aws4_request'",
    )


def test_a_clock_that_is_slow_or_fast() -> None:
    slow = request(at=NOW - timedelta(minutes=15, seconds=1))
    assert refusal(slow) == (
        "InvalidSignatureException",
        "Signature expired: 20261116T024459Z is now earlier than 20261116T024500Z "
        "(20261116T030000Z - 15 min.)",
    )
    fast = request(at=NOW + timedelta(minutes=15, seconds=1))
    assert refusal(fast) == (
        "InvalidSignatureException",
        "Signature not yet current: 20261116T031501Z is still later than 20261116T031500Z "
        "(20261116T030000Z + 15 min.)",
    )


@pytest.mark.parametrize(
    ("left_out", "named"), [("host", "Host"), ("x-amz-target", "X-Amz-Target")]
)
def test_host_and_target_must_be_signed(left_out: str, named: str) -> None:
    one = request()
    before, names, after = re.split(
        r"(?<=SignedHeaders=)(.*)(?=, Sig)", one.headers["authorization"]
    )
    rest = ";".join(name for name in names.split(";") if name != left_out)
    assert refusal(altered(one, authorization=before + rest + after)) == (
        "InvalidSignatureException",
        f"'{named}' must be a 'SignedHeader' in the AWS Authorization.",
    )


def test_a_wrong_scope_is_told_in_full() -> None:
    one = request()
    header = re.sub(r"(?<=Credential=)[^,]*", "k/20130101//s3/aws5", one.headers["authorization"])
    assert refusal(altered(one, authorization=header)) == (
        "InvalidSignatureException",
        "Credential should be scoped to a valid region, not ''. "
        "Credential should be scoped to correct service: 'mturk-requester'. "
        "Credential should be scoped with a valid terminator: 'aws4_request', not 'aws5'. "
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from "
        "HTTP: '20130101' != '20261116', from '20261116T030000Z'.",
    )


def test_the_time_is_checked_before_the_key_and_the_key_before_the_signature() -> None:
    late = NOW + timedelta(hours=1)
    assert refusal(request(key_id="AKIANOBODY"), late)[0] == "InvalidSignatureException"
    assert refusal(request(key_id="AKIANOBODY", secret="x"))[0] == "UnrecognizedClientException"


@given(path=st.text("/.ab%", max_size=12))
def test_a_canonical_path_has_no_dots_and_no_double_slashes(path: str) -> None:
    canonical = canonical_path(path)
    assert canonical.startswith("/")
    assert "//" not in canonical
    assert not {".", ".."} & set(canonical.split("/"))


def test_the_order_of_a_query_does_not_matter() -> None:
    assert canonical_query("b=1&a=%20&a=!") == canonical_query("a=%21&b=1&a=%20")
